package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
	"github.com/denorm-go/denorm/integration/harness/parallel"
)

// The base of this library has F. Its driver is a line.
const (
	library  = "package denorm\n\nfunc F() {}\n"
	program  = "package main\n\nimport \"github.com/denorm-go/denorm\"\n\nfunc main() { denorm.F() }\n"
	required = "module github.com/denorm-go/denorm/integration\n\ngo 1.25\n\nrequire github.com/denorm-go/denorm v0.0.0\n\nreplace github.com/denorm-go/denorm => ../\n"
)

// repository makes a small one of this shape, with one commit, and enters its module integration.
func repository(t *testing.T, library string) {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	root := t.TempDir()
	t.Chdir(root)
	write(t, map[string]string{"go.mod": "module github.com/denorm-go/denorm\n\ngo 1.25\n", "denorm.go": library, "integration/go.mod": required, "integration/go.sum": ""})
	git(t, "init", "--quiet", "--initial-branch=main")
	git(t, "add", ".")
	git(t, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=base")
	t.Chdir("integration")
}

func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	text, err := output(exec.CommandContext(t.Context(), "git", args...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Only a driver that uses what the base does not have is a reason to go on without the base. The error has the
// compiler's words.
func TestBuild(t *testing.T) {
	for _, c := range []struct {
		name, library, driver, mod string
		noBase                     bool
		want                       string // in the error
	}{
		{"it fits", library, program, required, false, ""},
		{"a function is new", library, strings.Replace(program, "F()", "G()", 1), required, true, "undefined: denorm.G"},
		{"a package is new", library, "package main\n\nimport _ \"github.com/denorm-go/denorm/tables\"\n\nfunc main() {}\n", required, true, "denorm/tables"},
		{"the library does not compile", "package denorm\n\nfunc F() { x }\n", program, required, false, "undefined: x"},
		{"a module is missing", library, "package main\n\nimport _ \"example.org/x\"\n\nfunc main() {}\n", required, false, "example.org/x"},
		{"go.mod is wrong", library, program, required + "\nwrong\n", false, "wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repository(t, c.library)
			write(t, map[string]string{"cmd/bench/driver/main.go": c.driver, "go.mod": c.mod})
			_, err := build(t.Context(), t.TempDir(), "HEAD")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || errors.Is(err, errNoBase) != c.noBase {
				t.Errorf("error %v, want %q, no base: %v", err, c.want, c.noBase)
			}
		})
	}
}

// Two runs at the same time do not disturb each other. A run adds nothing to the checkout, so a killed run leaves
// nothing there.
func TestBuildsAtOnce(t *testing.T) {
	repository(t, library)
	write(t, map[string]string{"cmd/bench/driver/main.go": program})
	before := git(t, "status", "--porcelain", "--ignored", "--untracked-files=all")
	err := parallel.Do(2, 4, func(int) error {
		dir := filepath.Join(t.TempDir(), "with a space")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		base, head, err := built(t.Context(), dir, "HEAD")
		if err != nil {
			return err
		}
		return errors.Join(exec.CommandContext(t.Context(), base).Run(), exec.CommandContext(t.Context(), head).Run())
	})
	if err != nil {
		t.Error(err)
	}
	if after := git(t, "status", "--porcelain", "--ignored", "--untracked-files=all") + git(t, "worktree", "list"); !strings.HasPrefix(after, before) || strings.Contains(after, "detached") {
		t.Errorf("the checkout has changed: %s", after)
	}
}

// A clone without history has no base. The driver of the working tree is built all the same.
func TestNoHistory(t *testing.T) {
	repository(t, library)
	write(t, map[string]string{"cmd/bench/driver/main.go": program})
	git(t, "add", ".")
	git(t, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=driver")
	shallow := filepath.Join(t.TempDir(), "clone")
	git(t, "clone", "--quiet", "--depth=1", "file://"+filepath.Dir(must(os.Getwd())), shallow)
	t.Chdir(filepath.Join(shallow, "integration"))
	if base, head, err := built(t.Context(), t.TempDir(), ""); !errors.Is(err, errNoBase) || base != "" || head == "" {
		t.Errorf("base %q, head %q, error %v", base, head, err)
	}
	if _, _, err := built(t.Context(), t.TempDir(), "nowhere"); err == nil || errors.Is(err, errNoBase) {
		t.Errorf("a base that does not exist: error %v", err)
	}
}

func must(path string, err error) string {
	if err != nil {
		panic(err)
	}
	return path
}

// A driver that does not answer is killed.
func TestDriverHangs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "driver")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 3600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := startDriver(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.patience = 100 * time.Millisecond
	if _, err := p.turn(t.Context(), turn.Order{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a turn: %v", err)
	}
	if err := p.stop(); err == nil {
		t.Error("a driver that was killed ended well")
	}
}

// An operation that allocates as often, but twice as much, allocates more.
func TestMore(t *testing.T) {
	t.Parallel()
	was := turn.Allocated{Count: 115, Bytes: 13056}
	for _, c := range []struct {
		now  turn.Allocated
		want bool
	}{
		{was, false},
		{turn.Allocated{Count: 115.1, Bytes: 13060}, false},
		{turn.Allocated{Count: 116, Bytes: 13072}, true},
		{turn.Allocated{Count: 115, Bytes: 2 * 13056}, true},
		{turn.Allocated{Count: 114, Bytes: 13040}, false},
	} {
		if got := more(c.now, was); got != c.want {
			t.Errorf("%v: %v", c.now, got)
		}
	}
}

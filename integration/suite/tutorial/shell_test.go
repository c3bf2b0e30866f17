//go:build faults

package tutorial_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is one shell in an empty folder, in which a reader types.
type shell struct {
	t   *testing.T
	dir string
	in  io.Writer
	out *bufio.Reader
}

func newShell(t *testing.T) *shell {
	t.Helper()
	// More than enough, as a command that hangs would hang the test.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	t.Cleanup(cancel)
	out, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	sh := exec.CommandContext(ctx, "sh")
	sh.Dir, sh.Stdout, sh.Stderr = t.TempDir(), write, write
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ends with what it has started
	sh.Cancel = func() error { return syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) }
	known, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(known))                                        // those of this machine, then from where it has them
	sh.Env = append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOFLAGS=-trimpath", // so that the next run need not compile again
		"GOPROXY=file://"+filepath.Join(modules[0], "cache", "download")+","+modules[1],
		"PATH="+installCqlsh(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	in, err := sh.StdinPipe()
	if err == nil {
		err = sh.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = sh.Cancel()
		_ = sh.Wait()
		_ = out.Close()
	})
	return &shell{t: t, dir: sh.Dir, in: in, out: bufio.NewReader(out)}
}

const prompt = "-- done, exit code "

// run gives a command and returns what it has printed.
func (s *shell) run(command string) (printed string, code int) {
	s.t.Helper()
	s.t.Log("$ " + command)
	began := time.Now()
	typed := "{ " + command + "\n} </dev/null; code=$?; echo; echo '" + prompt + "'$code; (exit $code)\n"
	if _, err := io.WriteString(s.in, typed); err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s: %v\n%s", command, err, &b)
		}
		if end, ok := strings.CutPrefix(line, prompt); ok {
			code, err := strconv.Atoi(strings.TrimSpace(end))
			if err != nil {
				s.t.Fatal(err)
			}
			s.t.Logf("%s(%.1f s)", &b, time.Since(began).Seconds())
			return strings.TrimRight(b.String(), "\n"), code
		}
		b.WriteString(line)
	}
}

// path is that of a file of the module. The reader is in its folder.
func (s *shell) path(name string) string { return filepath.Join(s.dir, "shop", name) }

func (s *shell) write(name, text string) {
	s.t.Helper()
	path := s.path(name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// edit makes a change that is given as lines to remove, to add and to keep.
func (s *shell) edit(name, diff string) {
	s.t.Helper()
	var from, to string
	for line := range strings.Lines(diff) {
		if line[0] != '+' {
			from += line[1:]
		}
		if line[0] != '-' {
			to += line[1:]
		}
	}
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	if strings.Count(string(text), from) != 1 {
		s.t.Fatalf("%s does not have once:\n%s", name, from)
	}
	s.write(name, strings.Replace(string(text), from, to, 1))
}

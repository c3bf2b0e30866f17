package install_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const root = "../../.."

// released is the module as a version that a stranger can ask for.
var released = module.Version{Path: "github.com/denorm-go/denorm", Version: "v0.1.0-test.1"}

var tag = flag.String("release", "", "install this tag of the repository in place of the working tree")

func TestMain(m *testing.M) {
	flag.Parse()
	if *tag != "" {
		released.Version = *tag
	}
	m.Run()
}

// inside are the modules of this repository that nobody installs, by folder, and why.
var inside = map[string]string{
	"examples/kafka":                      "an example to copy; its replace directives mean nothing in another module",
	"examples/temporal":                   "as examples/kafka",
	"integration":                         "tests, and commands that start nodes for them",
	"integration/harness/jaeger/server":   "builds the Jaeger of those tests",
	"integration/harness/temporal/server": "builds the Temporal of tests",
	"internal/tools":                      "linters and scripts of this repository",
	"internal/tools/driverbugs":           "reproductions of bugs of drivers",
}

// others are the modules that users get besides the root, by folder. Each is tagged with the root, as
// reconcile/temporal/v0.1.0, and then requires that version of it; in the repository it requires v0.0.0, which a
// replace directive finds.
var others = []string{"reconcile/temporal"}

// TestModules holds that a new module is either installed by the tests below, with tags of its own, or named above.
func TestModules(t *testing.T) {
	t.Parallel()
	var found []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata" || entry.Name() == "bin") {
			return filepath.SkipDir
		}
		if err == nil && entry.Name() == "go.mod" && filepath.Dir(path) != filepath.Clean(root) {
			found = append(found, filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), filepath.Clean(root)+"/")))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	want := append(slices.Collect(maps.Keys(inside)), others...)
	if slices.Sort(want); !slices.Equal(found, want) {
		t.Errorf("modules below the root are %q, want %q: whatever users may get needs tags and a test here", found, want)
	}
}

// publish makes a file proxy of the working tree or the tag, as `GOPROXY` serves a version that is tagged, and a user
// of it with an empty module cache. What the library depends on comes from the module cache of this machine, else from
// its own proxy.
func publish(t *testing.T) (goTool func(dir string, args ...string) string) {
	t.Helper()
	ctx := t.Context()
	proxy := filepath.Join(t.TempDir(), "proxy")
	write(t, filepath.Join(proxy, released.Path, "@v"), map[string]string{
		released.Version + ".info": `{"Version":"` + released.Version + `"}`,
		"list":                     released.Version + "\n",
		released.Version + ".mod":  read(t, filepath.Join(root, "go.mod")),
	})
	out, err := os.Create(filepath.Join(proxy, released.Path, "@v", released.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if *tag != "" {
		repository, err := filepath.Abs(root)
		if err == nil {
			err = zip.CreateFromVCS(out, released, repository, *tag, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	} else if err := zip.Create(out, released, files(t, root)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for _, folder := range others {
		publishOther(t, proxy, folder)
	}
	env := strings.Fields(command(ctx, t, ".", nil, "env", "GOMODCACHE", "GOPROXY"))
	user := append(os.Environ(),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(env[0], "cache", "download")+","+env[1],
		"GOSUMDB=off", // nobody else has seen this version
		"GOMODCACHE="+filepath.Join(t.TempDir(), "modules"), "GOFLAGS=-modcacherw", "GOWORK=off", "GOBIN="+filepath.Join(proxy, "bin"))
	return func(dir string, args ...string) string {
		t.Helper()
		t.Logf("go %s", strings.Join(args, " "))
		return command(ctx, t, dir, user, args...)
	}
}

// publishOther adds a module below the root to a proxy.
func publishOther(t *testing.T, proxy, folder string) {
	t.Helper()
	m := module.Version{Path: released.Path + "/" + folder, Version: released.Version}
	from := filepath.Join(root, folder)
	mod := strings.Replace(read(t, filepath.Join(from, "go.mod")), released.Path+" v0.0.0", released.Path+" "+released.Version, 1)
	var archive bytes.Buffer
	if *tag != "" {
		repository, err := filepath.Abs(root)
		if err == nil {
			err = zip.CreateFromVCS(&archive, m, repository, *tag, folder)
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		write(t, copied, map[string]string{"go.mod": mod})
		if err := zip.Create(&archive, m, files(t, copied)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(proxy, m.Path, "@v"), map[string]string{
		m.Version + ".info": `{"Version":"` + m.Version + `"}`, "list": m.Version + "\n", m.Version + ".mod": mod, m.Version + ".zip": archive.String(),
	})
}

// TestInstallTemporal builds a worker of reconcile/temporal in a service, without what commands need.
func TestInstallTemporal(t *testing.T) {
	t.Parallel()
	user, service := publish(t), t.TempDir()
	write(t, service, map[string]string{"main.go": `package main

import (
	"go.temporal.io/sdk/worker"

	"github.com/denorm-go/denorm/reconcile/temporal"
	"github.com/denorm-go/denorm/session"
)

func main() {}

var _ = func(w worker.Worker, s *session.Session) error { return temporal.Register(w, s, nil) }
`})
	user(service, "mod", "init", "example.com/shop")
	user(service, "get", released.Path+"/reconcile/temporal@"+released.Version)
	user(service, "mod", "tidy")
	user(service, "vet", "./...")
	if have := user(service, "list", "-deps", "."); strings.Contains(have, "spf13") {
		t.Errorf("what commands need is part of a worker:\n%s", have)
	}
}

// TestInstall installs the command as somebody does who has nothing but its name.
func TestInstall(t *testing.T) {
	t.Parallel()
	user := publish(t)
	user(t.TempDir(), "install", released.Path+"/cmd/denorm@"+released.Version)
	denorm := filepath.Join(strings.TrimSpace(user(t.TempDir(), "env", "GOBIN")), "denorm")
	version, err := exec.CommandContext(t.Context(), denorm, "--version").CombinedOutput()
	if got := string(version); err != nil || got != "denorm version "+released.Version+"\n" {
		t.Errorf("denorm --version: %v\n%s", err, got)
	}
	found, err := exec.CommandContext(t.Context(), denorm, "lint", root+"/cmd/denorm/command/testdata/clean.cql").CombinedOutput()
	if err != nil {
		t.Errorf("denorm lint: %v\n%s", err, found)
	}
}

// TestMount builds the README's commands into a service's own binary, in a module of its own.
func TestMount(t *testing.T) {
	t.Parallel()
	user, service := publish(t), t.TempDir()
	write(t, service, map[string]string{"main.go": `package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

type user struct {
	ID, Name string
}

var users = tables.Must(tables.New[user]("user", tables.Table{Name: "users", PartKey: []string{"id"}}))

func main() {
	root := &cobra.Command{Use: "shop"}
	root.AddCommand(command.New(command.Declared(schema.Must(schema.Declare(schema.Sets(users))))))
	os.Exit(command.ExitCode(root.Execute()))
}
`})
	user(service, "mod", "init", "example.com/shop")
	user(service, "get", released.String())
	user(service, "mod", "tidy")
	user(service, "build", "-o", "shop", ".")
	out, err := exec.CommandContext(t.Context(), filepath.Join(service, "shop"), "denorm", "ddl").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "CREATE TABLE users (") {
		t.Errorf("shop denorm ddl: %v\n%s", err, out)
	}
}

// TestServiceIsBuiltWithoutTheCommand holds that what only commands and tests import is in no service, nor in its
// go.mod.
func TestServiceIsBuiltWithoutTheCommand(t *testing.T) {
	t.Parallel()
	user, service := publish(t), t.TempDir()
	write(t, service, map[string]string{"main.go": `package main

import (
	_ "github.com/denorm-go/denorm/reader"
	_ "github.com/denorm-go/denorm/schema"
	_ "github.com/denorm-go/denorm/tracing"
	_ "github.com/denorm-go/denorm/writer"
)

func main() {}
`})
	user(service, "mod", "init", "example.com/shop")
	user(service, "get", released.String())
	user(service, "mod", "tidy")
	user(service, "vet", "./...")
	have := user(service, "list", "-deps", "./...") + read(t, filepath.Join(service, "go.mod"))
	for _, name := range []string{"spf13", "golang.org/x/term", "rapid", "goleak", "go-cassandra-native-protocol", "otel/sdk"} {
		if strings.Contains(have, name) {
			t.Errorf("%s is part of a service that uses the library:\n%s", name, have)
		}
	}
	t.Logf("go.mod of a service:\n%s", read(t, filepath.Join(service, "go.mod")))
}

// TestCassandratestAlone runs the test of docs/ref/cassandratest.md in a module that has nothing else of the library.
func TestCassandratestAlone(t *testing.T) {
	t.Parallel()
	user, service := publish(t), t.TempDir()
	write(t, service, map[string]string{"users_test.go": read(t, filepath.Join(root, "cassandratest/example/users_test.go"))})
	user(service, "mod", "init", "example.com/users")
	user(service, "get", released.String())
	user(service, "get", "-t", ".") // and not mod tidy, which gets what gocql's own tests need, too
	user(service, "test", "./...")
	allowed := []string{
		"example.com/users", "[example.com/users.test]", released.Path + "/cassandratest", released.Path + "/internal/", "github.com/gocql/gocql",
		"github.com/datastax/go-cassandra-native-protocol/", "github.com/golang/snappy", "github.com/hailocab/go-hostpool", "gopkg.in/inf.v0",
	}
	for name := range strings.FieldsSeq(user(service, "list", "-deps", "-test", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./...")) {
		if !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("a test that only uses cassandratest is built with %s", name)
		}
	}
}

// files are those of the module in a folder: not those of modules in it, nor what is built.
func files(t *testing.T, root string) []zip.File {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var all []zip.File
	err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, module := os.Stat(filepath.Join(path, "go.mod"))
			if name != "." && (module == nil || name == "bin" || name == ".git") {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.Type().IsRegular() {
			all = append(all, file{filepath.ToSlash(name), path})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// file implements zip.File.
type file struct{ name, path string }

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.path) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.path) }

func command(ctx context.Context, t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env = dir, env
	var failed strings.Builder
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, &failed)
	}
	return string(out)
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

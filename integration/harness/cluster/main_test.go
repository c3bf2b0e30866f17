package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// roleEnv makes the test binary play a user or a guard of a harness instead of running tests.
const roleEnv = "CLUSTER_TEST_ROLE"

func TestMain(m *testing.M) {
	// A developer's own settings would send the tests to a real cluster, or ask for another version than that of the fake
	// nodes.
	for _, name := range []string{ExternalEnv, ModeEnv, TestHostsEnv, VersionEnv} {
		_ = os.Unsetenv(name)
	}
	role := os.Getenv(roleEnv)
	if role == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

// play is the life of a user that holds a cluster until its standard input ends, or of a guard.
func play(role string) error {
	home, err := Home()
	if err != nil {
		return err
	}
	h := fakeHarness(home)
	switch role {
	case "guard":
		return h.Guard(context.Background())
	case "user", "parent":
		lease, err := h.Join(context.Background(), 1)
		if err != nil {
			return err
		}
		if role == "parent" { // it has a child that inherits the lease and lives until its own standard input ends
			child := exec.Command("cat")
			child.Stdin, child.ExtraFiles = os.Stdin, lease.Inherit()
			if err := child.Start(); err != nil {
				return err
			}
		}
		fmt.Println("joined")
		if role == "parent" {
			select {}
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		return lease.Close(context.Background())
	case "starter":
		h.backend = hangingBackend{h.backend}
		_, err := h.Join(context.Background(), 1)
		return err
	default:
		return errors.New("no such role")
	}
}

// actor is a process that plays a role.
type actor struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// cast starts a role and waits until it says that it has come to its point.
func cast(t *testing.T, home, role, until string) *actor {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role, HomeEnv+"="+home)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &actor{cmd: cmd, stdin: stdin}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if until != "" {
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil || strings.TrimSpace(line) != until {
			t.Fatalf("%s said %q, %v; want %q", role, line, err, until)
		}
	}
	return a
}

// end lets the role come to its end and waits for it.
func (a *actor) end(t *testing.T) {
	t.Helper()
	_ = a.stdin.Close()
	if err := a.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// kill is kill -9.
func (a *actor) kill(t *testing.T) {
	t.Helper()
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = a.cmd.Process.Wait()
}

// fakeBackend notes what it is asked to do in a file, for it works in several processes at once.
type fakeBackend struct {
	home string
	fail error // what start returns
	ill  error // what check returns
}

func fakeHarness(home string) *Harness {
	return &Harness{
		home: home, log: &progress{out: io.Discard}, backend: &fakeBackend{home: home},
		guard: func(string) error { return nil },
	}
}

func (b *fakeBackend) choose(context.Context) (Mode, error) { return Local, nil }

func (b *fakeBackend) start(_ context.Context, s *state) error {
	b.note("start %d", s.Nodes)
	s.Hosts = loopbacks(s.Nodes)
	time.Sleep(20 * time.Millisecond) // long enough for two starts at once to be seen
	return b.fail
}

func (b *fakeBackend) check(context.Context, *state) error { return b.ill }

func (b *fakeBackend) stop(context.Context, *state) error {
	b.note("stop")
	return nil
}

func (b *fakeBackend) kill(_ context.Context, _ *state, number int) error {
	b.note("kill node %d", number)
	return nil
}

func (b *fakeBackend) restart(_ context.Context, _ *state, number int) error {
	b.note("start node %d", number)
	return nil
}

func (b *fakeBackend) note(format string, args ...any) {
	file, err := os.OpenFile(filepath.Join(b.home, "events"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintf(file, format+"\n", args...)
	_ = file.Close()
}

// events returns what the fake backend was asked to do.
func events(t *testing.T, home string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, "events"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(strings.Split(strings.TrimSpace(string(data)), "\n"), ", ")
}

// wantEvents waits for the backend to have been asked exactly this.
func wantEvents(t *testing.T, home, want string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for events(t, home) != want {
		if time.Now().After(deadline) {
			t.Fatalf("backend was asked %q, want %q", events(t, home), want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// hangingBackend starts something and never gets it ready.
type hangingBackend struct{ backend }

func (b hangingBackend) start(ctx context.Context, s *state) error {
	if err := b.backend.start(ctx, s); err != nil {
		return err
	}
	fmt.Println("starting")
	<-ctx.Done()
	time.Sleep(time.Hour)
	return nil
}

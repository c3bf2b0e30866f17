package jaeger

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/program"
	"go.uber.org/goleak"
)

// roleEnv makes the test binary play one that starts a server and does not stop it.
const roleEnv = "JAEGER_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	p, err := program.Start("it", "/bin/sh", []string{"-c", "echo $$ >&2; sleep 1000 & wait"}, environment())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for text := ""; !strings.HasSuffix(text, "\n"); time.Sleep(time.Millisecond) {
		text = read(p.Log)
	}
	fmt.Println(strings.TrimSpace(read(p.Log)))
	select {}
}

func read(f *os.File) string {
	text := make([]byte, 1000)
	n, _ := f.ReadAt(text, 0)
	return string(text[:n])
}

// alive reports whether a process that is not our child runs.
func alive(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// A server ends with the process that started it, even if that is killed and can do nothing about it.
func TestNothingIsLeftBehindByAKill(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=starter")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(line)
	if !alive(pid) {
		t.Fatalf("process %q did not start", pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %s is left behind", pid)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"one that runs": "sleep 1000 & wait", "one that has ended": "exit 3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := program.Start("it", "/bin/sh", []string{"-c", script}, environment())
			if err != nil {
				t.Fatal(err)
			}
			if script == "exit 3" {
				<-p.Ended
				if code := p.Cmd.ProcessState.ExitCode(); code != 3 {
					t.Errorf("exit code %d", code)
				}
			}
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A program that does not come up says why, and is not waited for.
func TestStartThatFails(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no more disk\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := start(t.Context(), program, 0, 0)
	if err == nil || !strings.Contains(err.Error(), "no more disk") {
		t.Errorf("%v does not say why", err)
	}
}

func TestFreePort(t *testing.T) {
	t.Parallel()
	held, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() //nolint:errcheck // nothing was written
	port := held.Addr().(*net.TCPAddr).Port
	got, err := program.FreePort(t.Context(), port)
	if err != nil || got == held.Addr().String() || !strings.HasPrefix(got, "127.0.0.1:") {
		t.Errorf("%s, %v in place of %s", got, err, held.Addr())
	}
}

func TestFromEnv(t *testing.T) {
	t.Setenv(URLEnv, "")
	t.Setenv(OTLPEnv, "http://collector:4317")
	if s := FromEnv(); s != nil {
		t.Errorf("%+v without %s", s, URLEnv)
	}
	t.Setenv(URLEnv, "http://127.0.0.1:16686/")
	if s := FromEnv(); s == nil || s.URL != "http://127.0.0.1:16686" || s.OTLP != "http://collector:4317" {
		t.Errorf("%+v", s)
	}
	if err := FromEnv().Close(); err != nil {
		t.Errorf("one that is not ours is not stopped: %v", err)
	}
	t.Setenv(OTLPEnv, "")
	if s := FromEnv(); s.OTLP != "http://127.0.0.1:4317" {
		t.Errorf("%+v", s)
	}
}

// A build that fails leaves nothing that would be taken for the program, and says what the matter was.
func TestBuildThatFails(t *testing.T) {
	t.Parallel()
	module, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module empty\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := allInOne.Build(t.Context(), module, filepath.Join(dir, "all-in-one"), t.Output())
	if err == nil || !strings.Contains(err.Error(), allInOne.Package) {
		t.Errorf("%v does not say what is missing", err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%v is left", files)
	}
}

func TestFindModule(t *testing.T) {
	module, err := allInOne.Module()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(module, "go.sum")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if _, err := allInOne.Module(); err == nil || !strings.Contains(err.Error(), URLEnv) {
		t.Errorf("%v does not say what to do", err)
	}
	t.Setenv(cluster.HomeEnv, t.TempDir())
	if _, err := Start(t.Context(), 0, 0, t.Output()); err == nil {
		t.Error("built outside of the repository")
	}
}

// Both of two servers that were started at the same moment found the same ports free, and the one that did not get them
// took the other's answers for its own's.
func TestTwoServersWantTheSamePorts(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	servers, errs := make([]*Server, 2), make([]error, 2)
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() { servers[i], errs[i] = Start(t.Context(), 0, port, t.Output()) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if servers[0].URL == servers[1].URL {
		t.Errorf("both have %s", servers[0].URL)
	}
	for _, s := range servers {
		if err := errors.Join(s.ready(t.Context()), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// The real server starts alongside another one that has the ports, answers, and is gone when it is stopped.
func TestRealServer(t *testing.T) {
	t.Parallel()
	first, err := Start(t.Context(), 0, 0, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	var port int
	_, _ = fmt.Sscanf(first.URL, "http://127.0.0.1:%d", &port)
	second, err := Start(t.Context(), port, port, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if first.URL == second.URL || second.OTLP == second.URL || first.OTLP == second.OTLP {
		t.Errorf("%+v and %+v", first, second)
	}
	if err := first.ready(t.Context()); err != nil {
		t.Error(err)
	}
	for _, s := range []*Server{first, second} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.ready(t.Context()); err == nil {
			t.Errorf("%s still answers", s.URL)
		}
	}
}

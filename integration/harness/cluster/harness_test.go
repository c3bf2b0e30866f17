package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func join(t *testing.T, h *Harness, nodes int) *Lease {
	t.Helper()
	lease, err := h.Join(t.Context(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func leave(t *testing.T, lease *Lease) {
	t.Helper()
	if err := lease.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func wantNoCluster(t *testing.T, h *Harness) {
	t.Helper()
	if s, err := loadState(h.home); s != nil || err != nil {
		t.Fatalf("state = %+v, %v; want none", s, err)
	}
}

func TestLastUserStopsTheCluster(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	first, second := join(t, h, 1), join(t, h, 1)
	leave(t, first)
	wantEvents(t, h.home, "start 1")
	leave(t, second)
	wantEvents(t, h.home, "start 1, stop")
	wantNoCluster(t, h)
}

func TestManyUsersAtOnceShareOneCluster(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	var users sync.WaitGroup
	together := make(chan struct{})
	for range 8 {
		users.Add(1)
		go func() {
			defer users.Done()
			lease, err := h.Join(context.Background(), 3)
			if err != nil {
				t.Error(err)
				return
			}
			<-together
			if err := lease.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
	}
	time.Sleep(500 * time.Millisecond)
	wantEvents(t, h.home, "start 3")
	close(together)
	users.Wait()
	wantEvents(t, h.home, "start 3, stop")
}

func TestUpStaysUntilDown(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	hosts, err := h.Up(t.Context(), 3)
	if err != nil || strings.Join(hosts, ",") != "127.0.0.1,127.0.0.2,127.0.0.3" {
		t.Fatalf("Up = %v, %v", hosts, err)
	}
	leave(t, join(t, h, 1)) // fewer nodes than there are will do
	wantEvents(t, h.home, "start 3")
	if err := h.Down(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, h.home, "start 3, stop")
	wantNoCluster(t, h)
}

func TestDownWaitsForUsers(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	if _, err := h.Up(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	lease := join(t, h, 1)
	if err := h.Down(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, h.home, "start 1")
	leave(t, lease)
	wantEvents(t, h.home, "start 1, stop")
}

func TestDownForceDoesNotWait(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	lease := join(t, h, 1)
	if err := h.Down(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, h.home, "start 1, stop")
	leave(t, lease) // finds nothing to stop
	wantEvents(t, h.home, "start 1, stop")
}

// A command that outlives down -force holds its lease still. It must not keep others from starting a cluster.
func TestForcedDownMakesRoom(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	first := join(t, h, 1)
	if err := h.Down(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	second := join(t, h, 3)
	leave(t, first)
	wantEvents(t, h.home, "start 1, stop, start 3")
	leave(t, second)
	wantEvents(t, h.home, "start 1, stop, start 3, stop")
}

func TestClusterStaysIfNoOtherCanBeStarted(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	if _, err := h.Up(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	h.backend = aimlessBackend{h.backend}
	if _, err := h.Join(t.Context(), 3); err == nil || err.Error() != "no engine" {
		t.Fatalf("Join: %v", err)
	}
	wantEvents(t, h.home, "start 1")
}

// aimlessBackend finds no way to start a cluster.
type aimlessBackend struct{ backend }

func (aimlessBackend) choose(context.Context) (Mode, error) { return "", errors.New("no engine") }

// Docker compose has three nodes. A cluster stopped to make room for six, which then could not be started.
func TestComposeHasNoTwoDatacentres(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	h.backend = composeBackend{h.backend}
	const want = "three nodes: for 6 set"
	if _, err := h.Join(t.Context(), twoDatacentres); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("Join without a cluster: %v", err)
	}
	wantEvents(t, h.home, "")
	wantNoCluster(t, h)
	if _, err := h.Up(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Join(t.Context(), twoDatacentres); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("Join of a cluster of three: %v", err)
	}
	wantEvents(t, h.home, "start 3")
	if s, err := loadState(h.home); err != nil || s == nil || !s.Ready || !s.Keep || s.Nodes != 3 {
		t.Errorf("state = %+v, %v", s, err)
	}
}

// composeBackend starts containers.
type composeBackend struct{ backend }

func (composeBackend) choose(context.Context) (Mode, error) { return Compose, nil }

func TestMoreNodesAreWanted(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	lease := join(t, h, 1)
	_, err := h.Join(t.Context(), 3)
	if err == nil || !strings.Contains(err.Error(), "has 1 node(s), 3 are wanted") ||
		!strings.Contains(err.Error(), "down -force") {
		t.Fatalf("Join(3) of a used cluster of 1: %v", err)
	}
	leave(t, lease)
	wantEvents(t, h.home, "start 1, stop")

	if _, err := h.Up(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	leave(t, join(t, h, 3)) // nobody uses it: started again, and it still stays, as up wanted
	wantEvents(t, h.home, "start 1, stop, start 1, stop, start 3")
}

func TestIllClusterIsStartedAnewOnlyIfUnused(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	if _, err := h.Up(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ill := fakeHarness(h.home)
	ill.backend = &fakeBackend{home: h.home, ill: errors.New("node 1 does not run")}
	lease := join(t, h, 1)
	if _, err := ill.Join(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "node 1 does not run") {
		t.Fatalf("Join of an ill cluster in use: %v", err)
	}
	leave(t, lease)
	leave(t, join(t, ill, 1))
	wantEvents(t, h.home, "start 1, stop, start 1")
}

func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	h.backend = &fakeBackend{home: h.home, fail: errors.New("node 1 died")}
	if _, err := h.Join(t.Context(), 1); err == nil || err.Error() != "node 1 died" {
		t.Fatalf("Join: %v", err)
	}
	wantEvents(t, h.home, "start 1, stop")
	wantNoCluster(t, h)
	if used, err := h.used(t.Context()); used || err != nil {
		t.Fatalf("used = %t, %v after a failed start", used, err)
	}
}

func TestJoinGivesUpWaitingWithItsContext(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	l, err := h.transition(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := h.Join(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Join: %v", err)
	}
}

func TestUsersAreCountedOverProcesses(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	first, second := cast(t, home, "user", "joined"), cast(t, home, "user", "joined")
	first.end(t)
	wantEvents(t, home, "start 1")
	second.end(t)
	wantEvents(t, home, "start 1, stop")
}

// A runner was killed with SIGKILL and its cluster stayed up for days. Now the guard, who waits for the lock that the
// kernel gives back, stops it.
func TestGuardStopsTheClusterOfAKilledUser(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	user := cast(t, home, "user", "joined")
	first, second := cast(t, home, "guard", ""), cast(t, home, "guard", "") // one of them has nothing to do
	user.kill(t)
	first.end(t)
	second.end(t)
	wantEvents(t, home, "start 1, stop")
	wantNoCluster(t, fakeHarness(home))
}

func TestGuardStopsTheClusterOfAKilledStarter(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	starter := cast(t, home, "starter", "starting")
	guard := cast(t, home, "guard", "")
	time.Sleep(100 * time.Millisecond)
	starter.kill(t)
	guard.end(t)
	wantEvents(t, home, "start 1, stop")
	wantNoCluster(t, fakeHarness(home))
}

func TestNextUserClearsAwayWhatAKilledStarterLeft(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cast(t, home, "starter", "starting").kill(t)
	h := fakeHarness(home)
	leave(t, join(t, h, 1))
	wantEvents(t, home, "start 1, stop, start 1, stop")
}

func TestGuardLeavesAKeptClusterAlone(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	if _, err := h.Up(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := h.Guard(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, h.home, "start 1")
}

func TestChildOfAKilledUserKeepsTheCluster(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	parent := cast(t, home, "parent", "joined")
	guard := cast(t, home, "guard", "")
	parent.kill(t)
	time.Sleep(500 * time.Millisecond)
	wantEvents(t, home, "start 1")
	if err := parent.stdin.Close(); err != nil { // which ends the child
		t.Fatal(err)
	}
	guard.end(t)
	wantEvents(t, home, "start 1, stop")
}

func TestStateSurvivesOnlyWhole(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	want := &state{Mode: Local, Nodes: 3, Hosts: loopbacks(3), Ready: true}
	if err := want.save(home); err != nil {
		t.Fatal(err)
	}
	got, err := loadState(home)
	if err != nil || got.Nodes != 3 || !got.Ready || got.Mode != Local || len(got.Hosts) != 3 {
		t.Fatalf("state = %+v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(home, "state.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadState(home); err == nil || !strings.Contains(err.Error(), "state.json") {
		t.Fatalf("a broken state: %v", err)
	}
}

func TestExternalClusterIsNeitherStartedNorStopped(t *testing.T) {
	h := fakeHarness(t.TempDir())
	t.Setenv(ExternalEnv, "127.0.0.1:1") // nobody listens there
	_, err := h.Join(t.Context(), 1)
	if err == nil || !strings.Contains(err.Error(), ExternalEnv) || !strings.Contains(err.Error(), "unset") {
		t.Fatalf("Join: %v", err)
	}
	wantEvents(t, h.home, "")
}

func TestKillAndStart(t *testing.T) {
	t.Parallel()
	h := fakeHarness(t.TempDir())
	if err := h.KillNode(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "make up") {
		t.Errorf("KillNode without a cluster: %v", err)
	}
	lease := join(t, h, 3)
	for _, number := range []int{-1, 0, 4} {
		if err := h.KillNode(t.Context(), number); err == nil || !strings.Contains(err.Error(), "1 to 3") {
			t.Errorf("KillNode of node %d: %v", number, err)
		}
	}
	if err := errors.Join(h.KillNode(t.Context(), 2), h.StartNode(t.Context(), 2)); err != nil {
		t.Error(err)
	}
	leave(t, lease)
	wantEvents(t, h.home, "start 3, kill node 2, start node 2, stop")

	h.Volatile = true
	lease = join(t, h, 3)
	if err := h.KillNode(t.Context(), 2); !errors.Is(err, errVolatile) {
		t.Errorf("KillNode of a node that would forget its schema: %v", err)
	}
	leave(t, lease)
}

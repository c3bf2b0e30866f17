package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Harness brings the cluster of this user up and down. Any number of processes may do so at once: what changes the
// cluster is done under one exclusive lock, and who uses it holds a shared one.
type Harness struct {
	home    string
	log     *progress
	backend backend
	// Volatile makes local nodes that are started forget changes of the schema when they are killed. A change then takes a
	// quarter of the time, and the tests are full of them. Tests that stop nodes fail on such a cluster.
	Volatile bool
	// Heap is that of local nodes, such as 2G, which then collect garbage with G1 and use both compilers, as in
	// production. Empty: small and quick to start.
	Heap string
	// guard starts the guard in a process of its own, see [Harness.Guard].
	guard func(home string) error
}

// New returns the harness of this user. It tells out what it does while that takes time.
func New(out io.Writer) (*Harness, error) {
	home, err := Home()
	if err != nil {
		return nil, err
	}
	if err := makeHome(home); err != nil {
		return nil, err
	}
	log := &progress{out: out}
	return &Harness{home: home, log: log, backend: machine{home: home, log: log}, guard: spawnGuard}, nil
}

// Up brings up a cluster of at least this many nodes that stays until [Harness.Down], and returns its hosts.
func (h *Harness) Up(ctx context.Context, nodes int) ([]string, error) {
	lease, err := h.join(ctx, nodes, true)
	if err != nil {
		return nil, err
	}
	return lease.Hosts(), lease.Close(ctx)
}

// Join brings up a cluster of at least this many nodes, or joins the one that is up. The cluster stays at least until
// the lease is closed.
func (h *Harness) Join(ctx context.Context, nodes int) (*Lease, error) {
	return h.join(ctx, nodes, false)
}

func (h *Harness) join(ctx context.Context, nodes int, keep bool) (*Lease, error) {
	if nodes != 1 && nodes != 3 && nodes != twoDatacentres {
		return nil, fmt.Errorf("-nodes %d: want 1, 3 or 6", nodes)
	}
	hosts, err := external()
	if err != nil {
		return nil, err
	}
	if hosts != nil {
		return &Lease{hosts: hosts}, checkExternal(ctx, hosts, nodes)
	}
	lease, err := h.lease(ctx, nodes, keep)
	if err == nil {
		h.sayDifferences(lease.version)
	}
	return lease, err
}

func (h *Harness) lease(ctx context.Context, nodes int, keep bool) (*Lease, error) {
	users, err := openLock(h.path("users.lock"))
	if err != nil {
		return nil, err
	}
	var s *state
	err = h.withState(ctx, func(found *state) (err error) {
		s, err = h.provide(ctx, found, users, nodes, keep)
		return err
	})
	if err != nil {
		users.close()
		return nil, err
	}
	return &Lease{harness: h, users: users, hosts: s.Hosts, version: s.release().version}, nil
}

// provide makes sure that a cluster is up that will do, and holds the users' lock shared when it returns. It runs under
// the transition lock.
func (h *Harness) provide(ctx context.Context, s *state, users *lock, nodes int, keep bool) (*state, error) {
	unfit := h.unfit(ctx, s, nodes)
	if unfit == nil {
		s.Keep = s.Keep || keep
		return s, errors.Join(users.share(), s.save(h.home), h.guard(h.home))
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	// Decided before anything is stopped, as there may be no way to start another.
	mode, err := h.backend.choose(ctx)
	if err == nil && nodes == twoDatacentres && mode != Local {
		err = fmt.Errorf("%s has three nodes: for %d set %s=%s", composeName, nodes, ModeEnv, Local)
	}
	if err != nil {
		return nil, err
	}
	if s != nil {
		if err := h.replace(ctx, s, unfit); err != nil {
			return nil, err
		}
		keep = keep || s.Keep
	}
	if err := users.share(); err != nil {
		return nil, err
	}
	return h.start(ctx, &state{Mode: mode, Nodes: nodes, Volatile: h.Volatile, Heap: h.Heap, Started: time.Now()}, keep)
}

// replace makes room for a new cluster, unless somebody uses the one that is up.
func (h *Harness) replace(ctx context.Context, s *state, unfit error) error {
	used, err := h.used(ctx)
	if err != nil {
		return err
	}
	if used {
		return fmt.Errorf("%w, and another run uses it: wait until that has ended, "+
			"or stop it with go run ./cmd/cluster down -force", unfit)
	}
	h.log.say("%v: starting again", unfit)
	return h.remove(ctx, s)
}

// unfit returns why the cluster will not do, or nil.
func (h *Harness) unfit(ctx context.Context, s *state, nodes int) error {
	if s == nil {
		return errors.New("no cluster is up")
	}
	wanted, err := wantedMode()
	if err != nil {
		return err
	}
	if r, err := wantedRelease(); err != nil {
		return err
	} else if os.Getenv(VersionEnv) != "" && r.version != s.release().version {
		return fmt.Errorf("the nodes are of Cassandra %s, %s is wanted", s.release().version, r.version)
	}
	switch {
	case !s.Ready:
		return errors.New("the cluster was left behind while it started")
	case wanted != "" && wanted != s.Mode:
		return fmt.Errorf("the cluster is of mode %s, %s is wanted", s.Mode, wanted)
	case h.Heap != "" && h.Heap != s.Heap:
		return fmt.Errorf("the nodes have a heap of %q, %q is wanted", s.Heap, h.Heap)
	case s.Nodes < nodes, s.Nodes == twoDatacentres && nodes != twoDatacentres:
		return fmt.Errorf("the cluster has %d node(s), %d are wanted", s.Nodes, nodes)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := h.backend.check(ctx, s); err != nil {
		return fmt.Errorf("the cluster is not well (%w)", err)
	}
	return nil
}

// start starts a new cluster, and leaves nothing of it behind if that fails. It is kept only once it is ready: one
// whose starter was killed on the way is for the guard.
func (h *Harness) start(ctx context.Context, s *state, keep bool) (*state, error) {
	if err := s.save(h.home); err != nil {
		return nil, err
	}
	err := h.guard(h.home)
	if err == nil {
		err = h.backend.start(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(err, h.remove(context.WithoutCancel(ctx), s))
	}
	s.Ready, s.Keep = true, keep
	return s, s.save(h.home)
}

// remove stops the cluster and forgets it.
func (h *Harness) remove(ctx context.Context, s *state) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := h.backend.stop(ctx, s); err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	return os.RemoveAll(statePath(h.home)) // which may be gone
}

// Down stops the cluster. One that is still used stops when its last user has ended, unless force is set.
func (h *Harness) Down(ctx context.Context, force bool) error {
	return h.withState(ctx, func(s *state) error {
		if s == nil {
			h.log.say("no cluster is up")
			return nil
		}
		used, err := h.used(ctx)
		if err != nil {
			return err
		}
		if used && !force {
			s.Keep = false
			h.log.say("the cluster is in use and stops when its last user has ended (down -force stops it now)")
			return errors.Join(s.save(h.home), h.guard(h.home))
		}
		return h.stop(ctx, s, "stopping the cluster")
	})
}

// withState does something while nobody else changes the cluster. The state is nil if there is none.
func (h *Harness) withState(ctx context.Context, do func(s *state) error) error {
	transition, err := h.transition(ctx)
	if err != nil {
		return err
	}
	defer transition.close()
	s, err := loadState(h.home)
	if err != nil {
		return err
	}
	return do(s)
}

func (h *Harness) stop(ctx context.Context, s *state, what string) error {
	done := h.log.step("%s", what)
	if err := h.remove(ctx, s); err != nil {
		return err
	}
	done("stopped")
	return nil
}

// KillNode ends a node, counted from 1, as kill -9 does. It keeps its data.
func (h *Harness) KillNode(ctx context.Context, number int) error {
	return h.onNode(ctx, number, "killed", h.backend.kill)
}

// StartNode starts a node that was killed, with the data it had, and waits until it answers CQL.
func (h *Harness) StartNode(ctx context.Context, number int) error {
	return h.onNode(ctx, number, "ready", h.backend.restart)
}

func (h *Harness) onNode(ctx context.Context, number int, becomes string, do func(context.Context, *state, int) error) error {
	if hosts, err := external(); err != nil || hosts != nil {
		return errors.Join(err, fmt.Errorf("the nodes of %s are yours: stop and start them yourself", ExternalEnv))
	}
	return h.withState(ctx, func(s *state) error {
		switch {
		case s == nil || !s.Ready:
			return errors.New("no cluster is up: make up")
		case s.Volatile:
			return errVolatile
		case number < 1 || number > s.Nodes:
			return fmt.Errorf("node %d: the nodes are 1 to %d", number, s.Nodes)
		}
		if err := do(ctx, s, number); err != nil {
			return err
		}
		h.log.say("%v is %s", localNode{number: number}, becomes)
		return nil
	})
}

// stopUnused runs under the transition lock.
func (h *Harness) stopUnused(ctx context.Context) error {
	s, err := loadState(h.home)
	if err != nil || s == nil || s.Keep {
		return err
	}
	if used, err := h.used(ctx); err != nil || used {
		return err
	}
	return h.stop(ctx, s, "nobody uses the cluster any more: stopping it")
}

// used reports whether anybody uses the cluster. A guard that wakes up and others that ask this very question hold the
// users' lock for an instant too, so one look is not enough.
func (h *Harness) used(ctx context.Context) (bool, error) {
	patience, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
	defer cancel()
	users, err := acquireLock(patience, h.path("users.lock"), nil)
	if err == nil {
		users.close()
	} else if patience.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// transition takes the lock under which the cluster changes.
func (h *Harness) transition(ctx context.Context) (*lock, error) {
	return acquireLock(ctx, h.path("transition.lock"), func() { h.log.say("waiting for another process that starts or stops the cluster ...") })
}

func (h *Harness) path(name string) string { return filepath.Join(h.home, name) }

// Status describes the cluster in lines for a developer.
func (h *Harness) Status(ctx context.Context) (string, error) {
	hosts, err := external()
	if err != nil {
		return "", err
	}
	if hosts != nil {
		return fmt.Sprintf("%s: %s (from %s)\n", External, strings.Join(hosts, ","), ExternalEnv), checkExternal(ctx, hosts, 1)
	}
	s, err := loadState(h.home)
	if err != nil {
		return "", err
	}
	if s == nil {
		return "no cluster is up (state in " + h.home + ")\n", nil
	}
	used, err := h.used(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.Mode, strings.Join(s.Hosts, ","))
	fmt.Fprintf(&b, "started %s, ready %t, in use %t, stays up %t\n", s.Started.Format(time.DateTime), s.Ready, used, s.Keep)
	if s.Mode == Local {
		for _, n := range localNodes(h.home) {
			fmt.Fprintf(&b, "%s: %s, logs in %s\n", n, n.describe(ctx), filepath.Join(n.dir(), "log"))
		}
	}
	return b.String(), nil
}

// Lease is the right to use a cluster until it is closed.
type Lease struct {
	harness *Harness // nil for a cluster of one's own
	users   *lock
	hosts   []string
	version string // of the nodes, unless it is a cluster of one's own
	only    *lock  // of an [Extra], which one process has at a time; nil otherwise
}

// Hosts returns the cluster's hosts, as [TestHostsEnv] wants them.
func (l *Lease) Hosts() []string { return slices.Clone(l.hosts) }

// Inherit returns files for a child process to inherit, its ExtraFiles: while it has them open, the cluster is in use
// even if this process is killed. There are none for a cluster of one's own.
func (l *Lease) Inherit() []*os.File {
	if l.users == nil {
		return nil
	}
	return []*os.File{l.users.file}
}

// Close ends the use, also for those who inherited it and even if the context has ended. The last user stops the
// cluster, unless it was asked to stay.
func (l *Lease) Close(ctx context.Context) error {
	if l.only != nil {
		defer l.only.close()
	}
	if l.users == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Minute)
	defer cancel()
	transition, err := l.harness.transition(ctx) // first, or the guard would have to do what is done here
	if err == nil {
		defer transition.close()
	}
	err = errors.Join(err, l.users.unlock())
	l.users.close()
	if err != nil {
		return err
	}
	return l.harness.stopUnused(ctx)
}

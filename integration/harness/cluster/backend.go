package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// backend starts and stops what a state describes. Unit tests put another one in place.
type backend interface {
	// choose decides what kind of cluster a new one is.
	choose(ctx context.Context) (Mode, error)
	// start brings up s.Nodes nodes from nothing, sets s.Hosts and returns when they are ready. It saves in the state what
	// stop needs before there is something to stop.
	start(ctx context.Context, s *state) error
	// check waits a moment for all nodes to be ready.
	check(ctx context.Context, s *state) error
	// stop ends whatever start has begun and may be called twice.
	stop(ctx context.Context, s *state) error
	// kill ends a node, counted from 1, and keeps its data. restart starts it again and returns when it answers.
	kill(ctx context.Context, s *state, number int) error
	restart(ctx context.Context, s *state, number int) error
}

// machine is the real backend.
type machine struct {
	home string
	log  *progress
}

func (m machine) choose(ctx context.Context) (Mode, error) {
	mode, err := chooseMode(ctx, m.log)
	if err != nil || mode != Local {
		return mode, err
	}
	r, err := wantedRelease()
	if err != nil {
		return mode, err
	}
	_, err = r.findTools(ctx, m.home)
	if err != nil && os.Getenv(ModeEnv) == "" {
		err = fmt.Errorf("%w: no container engine, and %w", ErrNothingToRun, err)
	}
	return mode, err
}

func (m machine) start(ctx context.Context, s *state) error {
	if s.Mode == Compose {
		return startCompose(ctx, m.home, s, m.log)
	}
	t, err := prepareLocal(ctx, m.home, m.log)
	if err != nil {
		return err
	}
	nodes := numbered(s.Nodes, func(number int) localNode { return localNode{home: m.home, number: number} })
	return m.startLocal(ctx, s, t, nodes, Extra{}, func(ctx context.Context) error { return waitReady(ctx, s.Hosts, s.Nodes) })
}

func (m machine) check(ctx context.Context, s *state) error {
	if s.Mode == Local {
		for _, n := range localNodes(m.home) {
			if !n.alive(ctx) {
				return fmt.Errorf("%s does not run", n)
			}
		}
	}
	return waitReady(ctx, s.Hosts, s.Nodes)
}

func (m machine) stop(ctx context.Context, s *state) error {
	if s.Mode == Compose {
		return stopCompose(ctx, s)
	}
	return stopLocal(ctx, m.home)
}

func (m machine) kill(ctx context.Context, s *state, number int) error {
	if s.Mode == Compose {
		return composeNode(ctx, s, "kill", number)
	}
	return localNode{home: m.home, number: number}.kill(ctx)
}

func (m machine) restart(ctx context.Context, s *state, number int) error {
	if s.Mode == Compose {
		if err := composeNode(ctx, s, "start", number); err != nil {
			return err
		}
		return awaitReady(ctx, nil, []string{loopback(number)}, 1)
	}
	n := localNode{home: m.home, number: number}
	if err := n.restart(ctx, s); err != nil {
		return err
	}
	return awaitReady(ctx, []localNode{n}, []string{loopback(number)}, 1)
}

// Mode is where a cluster comes from.
type Mode string

// The modes, in the order in which they are tried.
const (
	External Mode = "external" // CASSANDRA_HOSTS, never started or stopped here
	Compose  Mode = "compose"  // services of docker-compose.yml
	Local    Mode = "jvm"      // processes of this machine
)

// ModeEnv names the environment variable that picks compose or jvm where both would do.
const ModeEnv = "DENORM_MODE"

// ErrNothingToRun is part of the error of [Harness.Join] on a machine that has nothing to run Cassandra with: no engine
// for containers, no JDK or no Maven, and no right to install them. Where the environment picks the mode it is not.
var ErrNothingToRun = errors.New("nothing to run Cassandra with")

// wantedMode returns the mode that the environment picks, or none.
func wantedMode() (Mode, error) {
	switch mode := Mode(os.Getenv(ModeEnv)); mode {
	case "", Compose, Local:
		return mode, nil
	default:
		return "", fmt.Errorf("%s=%s: want %s or %s", ModeEnv, mode, Compose, Local)
	}
}

// chooseMode decides how a new cluster is started.
func chooseMode(ctx context.Context, log *progress) (Mode, error) {
	wanted, err := wantedMode()
	if err != nil || wanted == Local {
		return wanted, err
	}
	why := engineMissing(ctx)
	switch {
	case why == nil:
		return Compose, nil
	case wanted == Compose:
		return "", fmt.Errorf("%s=%s: %w: start the engine, or set %[1]s=%[4]s", ModeEnv, wanted, why, Local)
	default:
		if _, err := exec.LookPath("docker"); err == nil {
			log.say("%v; using local processes", why)
		}
		return Local, nil
	}
}

// engineMissing returns why docker compose cannot be used, or nil.
func engineMissing(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return fmt.Errorf("no docker: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := command(ctx, "docker", "info", "--format", "{{.ServerVersion}}").Run(); err != nil {
		return fmt.Errorf("docker is installed but no engine answers (docker info: %w)", err)
	}
	if err := command(ctx, "docker", "compose", "version").Run(); err != nil {
		return fmt.Errorf("docker has no compose plug-in (docker compose version: %w)", err)
	}
	return nil
}

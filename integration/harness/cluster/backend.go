package cluster

import (
	"context"
	"fmt"
	"os"
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
	return startLocal(ctx, m.home, s, m.log)
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

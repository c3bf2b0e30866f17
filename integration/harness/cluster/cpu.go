package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	ps "github.com/shirou/gopsutil/v4/process"
)

// CPU is how much CPU time the nodes of a local cluster have used since they started, in user and kernel mode.
func CPU(ctx context.Context) (used time.Duration, err error) {
	h, err := New(io.Discard)
	if err != nil {
		return 0, err
	}
	s, err := loadState(h.home)
	switch {
	case err != nil:
		return 0, err
	case s == nil || s.Mode != Local:
		return 0, errors.New("what the servers use is known of nodes that are processes of this machine: " + ModeEnv + "=" + string(Local))
	}
	for i := range s.Nodes {
		n := localNode{home: h.home, number: i + 1}
		p, err := n.process()
		if err != nil {
			return 0, err
		}
		if !p.alive(ctx) {
			return 0, fmt.Errorf("%s: %w", n, errGone)
		}
		node, err := ps.NewProcessWithContext(ctx, int32(p.PID))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", n, err)
		}
		times, err := node.TimesWithContext(ctx)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", n, err)
		}
		used += time.Duration((times.User + times.System) * float64(time.Second))
	}
	return used, nil
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// CPU is how much CPU time the nodes of a local cluster have used since they started, in user and kernel mode, in steps of 10 ms. It is
// known on Linux alone.
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
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/stat")
		if err != nil {
			return 0, fmt.Errorf("%s: %w", n, err)
		}
		cpu, err := parseCPU(string(stat))
		if err != nil {
			return 0, err
		}
		used += cpu
	}
	return used, nil
}

// parseCPU reads utime and stime from a line of /proc/PID/stat, in ticks of which Linux has 100 a second.
func parseCPU(line string) (time.Duration, error) {
	const user, system = 14 - 3, 15 - 3 // counted from the state letter, which is the third
	fields, err := StatFields(line, system)
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("not a process status: %q", line)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

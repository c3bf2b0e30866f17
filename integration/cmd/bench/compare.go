package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// No block of turns without nodes begins after compareAlone, none with nodes after compareWith.
const (
	compareAlone = 100 * time.Second
	compareWith  = 200 * time.Second
)

// drivers are processes, one for each path.
type drivers []*process

func startDrivers(ctx context.Context, paths, hosts []string) (list drivers, err error) {
	for _, path := range paths {
		p, err := startDriver(ctx, path, hosts)
		if err != nil {
			return nil, errors.Join(err, list.stop())
		}
		list = append(list, p)
	}
	return list, nil
}

func (d drivers) stop() (err error) {
	for _, p := range d {
		err = errors.Join(err, p.stop())
	}
	return err
}

// built builds both drivers in a folder: of the working tree, and of a commit. It returns the driver of the working tree
// also with errNoBase.
func built(ctx context.Context, dir, commit string) (base, head string, err error) {
	if head, err = build(ctx, dir, ""); err != nil {
		return "", "", err
	}
	if commit, err = chooseBase(ctx, commit); err != nil {
		return "", head, err
	}
	progress("the working tree compared with %s", commit)
	base, err = build(ctx, dir, commit)
	return base, head, err
}

// The order of goroutines changes a count by less than half. Bytes differed by less than 0.001 % between 8 runs of one
// driver.
const (
	half     = 0.5
	fewBytes = 0.01 // of the bytes
)

// more says whether a allocates more than b.
func more(a, b turn.Allocated) bool { return a.Count > b.Count+half || a.Bytes > b.Bytes*(1+fewBytes) }

// exactly counts what an operation allocates with the driver at a path, by name.
func exactly(ctx context.Context, path string, names []string) (counts map[string]turn.Allocated, err error) {
	list, err := startDrivers(ctx, []string{path}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, list.stop()) }()
	counts = map[string]turn.Allocated{}
	for _, name := range names {
		r, err := list[0].turn(ctx, turn.Order{Name: name, Exactly: true})
		if err != nil {
			return nil, err
		}
		counts[name] = r.Exactly
	}
	return counts, nil
}

// alone measures without nodes. Each block has new drivers, in new files: two processes of one program differ, for
// instance in the layout of memory, and the intervals contain that.
func alone(ctx context.Context, limit time.Duration, names, paths []string, counts map[string]turn.Allocated) (heats []*heat, err error) {
	var list drivers
	defer func() { err = errors.Join(err, list.stop()) }()
	for _, name := range names {
		h := heatOf(name, paths, &list)
		h.order = turn.Order{N: max(100, int(garbage/max(1, counts[name].Bytes))), AtATime: 4}
		heats = append(heats, h)
	}
	renew := func() error {
		stopped := list.stop()
		list = nil
		copies, err := copied(ctx, paths)
		if err == nil {
			list, err = startDrivers(ctx, copies, nil)
		}
		return errors.Join(stopped, err)
	}
	return heats, ruler{limit: limit, rounds: 3, warm: 2, renew: renew, enough: 0.03}.run(ctx, heats...)
}

// copied gives copies of the files. What was read of a file stays where it is in memory.
func copied(ctx context.Context, paths []string) (copies []string, err error) {
	for i, path := range paths {
		to := fmt.Sprintf("%s-%d", path, i)
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if _, err := output(exec.CommandContext(ctx, "cp", path, to)); err != nil {
			return nil, err
		}
		copies = append(copies, to)
	}
	return copies, nil
}

// measured has the drivers at the paths do turns of what is named, with nodes.
func measured(ctx context.Context, r ruler, names, paths, hosts []string) (heats []*heat, err error) {
	list, err := startDrivers(ctx, paths, hosts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, list.stop()) }()
	for _, name := range names {
		heats = append(heats, heatOf(name, paths, &list))
	}
	return heats, r.run(ctx, heats...)
}

// heatOf has the drivers that a list has at the time meet each other.
func heatOf(name string, paths []string, list *drivers) *heat {
	h := &heat{}
	for i := range paths {
		h.list = append(h.list, contender{name, func(ctx context.Context, o turn.Order) (turn.Result, error) { return (*list)[i].turn(ctx, o) }})
	}
	return h
}

var errSlower = errors.New("not as fast as the base, or not measured well enough to say so")

// compareCommits compares the working tree with another commit. It measures the client CPU without nodes, where it is
// not lost among theirs, and latencies with nodes.
func compareCommits(ctx context.Context, dir, commit string, hosts []string) error {
	names := turn.Compared
	base, head, err := built(ctx, dir, commit)
	if err != nil {
		return err
	}
	before, err := exactly(ctx, base, names)
	if err != nil {
		return err
	}
	now, err := exactly(ctx, head, names)
	if err != nil {
		return err
	}
	three := []string{base, head, head}
	without, err := alone(ctx, compareAlone, names, three, before)
	if err != nil {
		return err
	}
	heats, err := measured(ctx, ruler{limit: compareWith, order: oneByOne}, names, three, hosts)
	if err != nil {
		return err
	}
	good := true
	fmt.Print("| | | ratio to the base, 95 % interval | null, 99.5 % interval | at most | |\n| --- | --- | --- | --- | --- | --- |\n")
	for i, name := range names {
		for _, m := range []metric{clientCPU, p50, slowest} {
			h := heats[i]
			if m.alone {
				h = without[i]
			}
			r, null := h.versus(1, m), compare(h.series(2, m), h.series(1, m), sure)
			verdict, most := "", ""
			switch {
			case !m.shown(r, null):
				verdict = "not shown"
			case m.most > 0 && r.high <= m.most:
				verdict = holds
			case m.most > 0:
				verdict = "does not hold"
			}
			if m.most > 0 {
				most, good = fmt.Sprintf("%.2f", m.most), good && verdict == holds
			}
			fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", name, m.name, r, null, most, verdict)
		}
		verdict := holds
		if more(now[name], before[name]) {
			verdict, good = "does not hold", false
		}
		fmt.Printf("| %s | allocations | %s, was %s | | as before | %s |\n", name, now[name], before[name], verdict)
	}
	fmt.Printf("\n%d blocks without nodes, %d with. %s\n", len(without[0].results[0])/2/without[0].rounds, len(heats[0].results[0])/2/heats[0].rounds, pauses(heats...))
	if !good {
		return errSlower
	}
	return nil
}

const holds = "holds"

// sure is the confidence of the nulls: a run fails unless all ten contain 1, so each may miss it in 0.5 % of runs only.
const sure = 0.995

// garbage is what a turn without nodes allocates, in bytes: enough that all turns collect it about as often.
const garbage = 8 << 20

// withoutNodes are turns of a page, in one process, that take some milliseconds.
var withoutNodes = turn.Order{N: 100, AtATime: 4}

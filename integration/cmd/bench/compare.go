package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// comparison is of the working tree with another commit.
type comparison struct {
	base, only string
	blocks     int
	limit      time.Duration
}

func (c *comparison) flags(f *flag.FlagSet) {
	f.StringVar(&c.base, "base", "", "commit to compare with; empty: where the branch left origin/main, or the commit before")
	f.StringVar(&c.only, "only", "", "compare only this")
	f.IntVar(&c.blocks, "blocks", c.blocks, "at most so many blocks")
	f.DurationVar(&c.limit, "for", c.limit, "for about so long")
}

// sides starts drivers of the base and of the working tree, the latter as often as wanted, and hands them to do.
func sides(ctx context.Context, paths, hosts []string, do func(list []*process) error) (err error) {
	var list []*process
	for _, path := range paths {
		p, err := startDriver(ctx, path, hosts)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.stop()) }()
		list = append(list, p)
	}
	return do(list)
}

// built builds both drivers. Where that of the base cannot be built, its path is empty and err is errMisfit.
func (c *comparison) built(ctx context.Context) (base, head string, err error) {
	commit, err := chooseBase(ctx, c.base)
	if err != nil {
		return "", "", err
	}
	progress("the working tree compared with %s", commit)
	if head, err = build(ctx, ""); err != nil {
		return "", "", err
	}
	base, err = build(ctx, commit)
	return base, head, err
}

// names are what is compared, out of list.
func (c *comparison) names(list []string) ([]string, error) {
	if c.only == "" {
		return list, nil
	}
	if !slices.Contains(list, c.only) {
		return nil, fmt.Errorf("-only: not one of %q", list)
	}
	return []string{c.only}, nil
}

// half an allocation more or less is the order of goroutines, and no other code.
const half = 0.5

// exactly counts the allocations of an operation with the driver at a path, by name.
func exactly(ctx context.Context, path string, names []string) (map[string]float64, error) {
	counts := map[string]float64{}
	return counts, sides(ctx, []string{path}, nil, func(list []*process) error {
		for _, name := range names {
			r, err := list[0].of(name).turn(ctx, turn.Order{Exactly: true})
			if err != nil {
				return err
			}
			counts[name] = r.Exactly
		}
		return nil
	})
}

// measured has the drivers at the paths do turns of what is named.
func measured(ctx context.Context, r ruler, names, paths, hosts []string) ([]*heat, error) {
	heats := make([]*heat, len(names))
	return heats, sides(ctx, paths, hosts, func(list []*process) error {
		for i, name := range names {
			heats[i] = &heat{}
			for _, p := range list {
				heats[i].list = append(heats[i].list, p.of(name))
			}
		}
		return r.run(ctx, heats...)
	})
}

var errSlower = errors.New("not as fast as the base, or not measured well enough to say so")

// run measures the client CPU without nodes, where it is not lost among theirs, and latencies with nodes.
func (c *comparison) run(ctx context.Context, hosts []string) error {
	names, err := c.names(turn.Compared)
	if err != nil {
		return err
	}
	base, head, err := c.built(ctx)
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
	alone, err := measured(ctx, ruler{blocks: c.blocks, limit: c.limit / 3, order: withoutNodes}, names, three, nil)
	if err != nil {
		return err
	}
	heats, err := measured(ctx, ruler{blocks: c.blocks, limit: c.limit * 2 / 3, order: oneByOne}, names, three, hosts)
	if err != nil {
		return err
	}
	good := true
	fmt.Print("| | | ratio to the base | null | at most | |\n| --- | --- | --- | --- | --- | --- |\n")
	for i, name := range names {
		for _, m := range []metric{clientCPU, p50, p99} {
			h := heats[i]
			if m.alone {
				h = alone[i]
			}
			r, null := h.versus(1, 0, m), h.versus(2, 1, m)
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
		if now[name] > before[name]+half {
			verdict, good = "does not hold", false
		}
		fmt.Printf("| %s | allocations | %.1f, was %.1f | | as before | %s |\n", name, now[name], before[name], verdict)
	}
	fmt.Printf("\n%d blocks without nodes, %d with. %s\n", len(alone[0].results[0])/2, len(heats[0].results[0])/2, pauses(heats...))
	if !good {
		return errSlower
	}
	return nil
}

const holds = "holds"

// withoutNodes are turns that take some milliseconds.
var withoutNodes = turn.Order{N: 100, AtATime: 4}

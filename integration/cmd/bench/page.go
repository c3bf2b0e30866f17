package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// page is a page of docs/figures about contenders that are compared.
type page struct {
	ruler
	file, target string
	metrics      []metric
	alone        bool // client CPU and allocations are measured without nodes
	sections     []section
	contenders   []turn.Contender
	more         func(context.Context, *turn.Place) (string, error) // after the tables; nil: nothing
}

// section is a table. Its null compares the base with the same contender under another name, base + again.
type section struct {
	title string
	base  string
	names []string
	order turn.Order // of a turn with nodes; zero: as the page says
}

const again = ", again"

// run measures the sections in turn, and writes the page into the folder.
func (p *page) run(ctx context.Context, place *turn.Place, hosts []string, dir string) error {
	place.Servers = func(ctx context.Context) (time.Duration, error) { return cluster.CPU(ctx, hosts) }
	var alone []*heat
	heats, r := p.heats(place), p.ruler
	if p.alone {
		r.limit -= r.limit / 3
		var err error
		if alone, err = p.withoutNodes(ctx); err != nil {
			return err
		}
	}
	if err := r.run(ctx, heats...); err != nil {
		return err
	}
	text, err := p.report(place, alone, heats)
	if err != nil {
		return err
	}
	if p.more != nil {
		more, err := p.more(ctx, place)
		if err != nil {
			return err
		}
		text += more
	}
	text += "\n" + written(p.target)
	fmt.Println(text)
	if dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, p.file), []byte(text), 0o644)
}

// heats are the sections, with contenders of a place.
func (p *page) heats(place *turn.Place) (heats []*heat) {
	stage := &turn.Stage{Place: place, Contenders: slices.Clone(p.contenders)}
	for _, s := range p.sections {
		null := p.contenders[slices.IndexFunc(p.contenders, func(c turn.Contender) bool { return c.Name == s.base })]
		null.Name += again
		stage.Contenders = append(stage.Contenders, null)
		h := &heat{order: s.order}
		for _, name := range append([]string{s.base, s.base + again}, s.names...) {
			h.list = append(h.list, contender{name, stage.Turn})
		}
		heats = append(heats, h)
	}
	return heats
}

// withoutNodes measures the client alone.
func (p *page) withoutNodes(ctx context.Context) ([]*heat, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	place, err := turn.Open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	heats := p.heats(place)
	for _, h := range heats {
		h.order = turn.Order{}
	}
	return heats, ruler{limit: p.limit / 3, order: withoutNodes}.run(ctx, heats...)
}

//go:embed pages
var texts embed.FS

var beginnings = template.Must(template.ParseFS(texts, "pages/*"))

func (p *page) report(place *turn.Place, alone, heats []*heat) (string, error) {
	var b strings.Builder
	of := map[string]int{
		"Nodes": place.Hosts, "Cores": runtime.NumCPU(), "Replicas": place.Replicas, "Blocks": len(heats[0].results[0]) / 2,
	}
	if p.alone {
		of["Alone"] = len(alone[0].results[0]) / 2
	}
	if err := beginnings.ExecuteTemplate(&b, p.file+".tmpl", of); err != nil {
		return "", err
	}
	for i, s := range p.sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\nA turn has %d operations. %s\n", s.title, p.table(i, alone, heats), heats[i].results[0][0].N, pauses(heats[i]))
	}
	return b.String(), nil
}

func (p *page) table(section int, alone, heats []*heat) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, m := range p.metrics {
		b.WriteString(" " + m.name + " |")
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(p.metrics)+1) + "\n")
	for i, c := range heats[section].list {
		b.WriteString("| " + c.name + " |")
		for _, m := range p.metrics {
			h := heats[section]
			if m.alone && alone != nil {
				h = alone[section]
			}
			cell := m.cell(h.versus(i, m), h.versus(1, m))
			if r := h.versus(i, m); i > 0 && cell == notShown {
				progress("not shown: %s, %s: %.2f (%.2f to %.2f)", c.name, m.name, r.is, r.low, r.high)
			}
			if i == 0 {
				series := slices.Sorted(slices.Values(h.series(0, m)))
				cell = strings.TrimSpace(fmt.Sprintf("%.*f %s", m.decimals, stat.Quantile(0.5, stat.LinInterp, series, nil), m.unit))
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// written ends a file.
func written(target string) string {
	return fmt.Sprintf("Written by `make %s` on %s, %s %s/%s.\n", target, time.Now().UTC().Format(time.DateOnly), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

var (
	errHosts = errors.New(cluster.TestHostsEnv + " is not set: make help says how to run this")
	errUsage = errors.New("no such benchmark: go doc ./cmd/bench lists them")
)

// Latencies are measured one operation at a time, client CPU without nodes.
var (
	oneByOne = turn.Order{N: 40, AtATime: 1}
	figures  = []metric{clientCPU, allocations, serversCPU, p50, slowest, requests}
)

var pages = map[string]*page{
	"create": {
		ruler: ruler{limit: 8 * time.Minute, order: oneByOne}, file: "benchmark.md", target: "bench", alone: true, metrics: figures, contenders: turn.Contenders,
		sections: []section{
			{title: "createOrder", base: "fan-out by hand", names: []string{
				"createOrder", "createOrder, Group", "createOrder, Logged", "createOrder, traced", "one INSERT by hand", "unlogged batch by hand", "logged batch by hand",
				"INSERT with two materialized views",
			}},
			{title: "The newest ten rows of ten buckets", base: "ten reads by hand, sorted", names: []string{
				"newest ten of ten buckets", "ten reads by hand, not merged", "one IN of ten buckets by hand",
			}},
		},
	},
	"changes": {
		ruler: ruler{limit: 8 * time.Minute, order: oneByOne}, file: "changes.md", target: "bench", alone: true, metrics: figures, contenders: turn.Contenders,
		sections: []section{
			{title: "Insert", base: "insert by hand", names: []string{
				"insert", "insert, Group", "insert, OneOf", "insert if not exists by hand", "insert, Versioned", "insert, Versioned, Unique",
			}},
			{title: "Update", base: "update by hand", names: []string{"update", "update, Group", "update, OneOf", "update, OneOf, Concurrent", "update, OneOf, Concurrent, Group"}},
			{title: "Move", base: "move by hand, logged batch", names: []string{"move, SingleWriter", "move, OneOf", "move, OneOf, Concurrent, Group"}},
			{title: "Under a condition", base: "compare-and-set by hand", names: []string{"update, Versioned", "move by hand, compare-and-set", "move, Versioned", "update"}},
			{title: "Under a condition, 16 at a time", base: "compare-and-set by hand", names: []string{"update, Versioned"}, order: turn.Order{N: 320, AtATime: 16}},
			{title: "Under a condition, 64 at a time", base: "compare-and-set by hand", names: []string{"update, Versioned"}, order: turn.Order{N: 640, AtATime: 64}},
		},
	},
	"tombstones": tombstonePage(),
}

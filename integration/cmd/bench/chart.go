package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// chart is a picture for docs/why/costs.md of two lines of a page of docs/figures: by hand, and with this library.
type chart struct {
	file    string
	Title   string
	page    string // in docs/figures
	section string
	Hand    string // the first line of the section
	Denorm  string
}

var charts = []chart{
	{"create.svg", "Create in three tables", "benchmark.md", "createOrder", "fan-out by hand", "createOrder"},
	{"move.svg", "Move to another status: OneOf", "changes.md", "Move", "move by hand, logged batch", "move, OneOf"},
	{
		"condition.svg", "Update under a condition: Versioned", "changes.md", "Under a condition", "compare-and-set by hand",
		"update, Versioned",
	},
}

// drawCharts draws all charts from the pages of a folder into it.
func drawCharts(dir string) error {
	for _, c := range charts {
		page, err := os.ReadFile(filepath.Join(dir, c.page))
		if err != nil {
			return err
		}
		svg, err := c.draw(string(page))
		if err != nil {
			return fmt.Errorf("%s: %w", c.page, err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pair is a metric of both lines.
type pair struct {
	metric string
	hand   string // a figure with its unit
	ratio
	shown bool // the ratio is known
}

var (
	setupOf = regexp.MustCompile(`(\d+) Cassandra nodes and the client share a machine with (\d+) cores`)
	dateOf  = regexp.MustCompile("Written by `make [a-z]+` on ([0-9-]+)")
)

// pairs reads the two lines of the section.
func (c chart) pairs(page string) (list []pair, err error) {
	_, section, found := strings.Cut(page, "\n## "+c.section+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	row := func(name string) []string {
		_, rest, ok := strings.Cut(section, "\n"+strings.TrimSpace("| "+name)+" |")
		rest, _, _ = strings.Cut(rest, "|\n")
		found = found && ok
		cells := strings.Split(rest, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		return cells
	}
	metrics, hand, denorm := row(""), row(c.Hand), row(c.Denorm)
	if !found || len(hand) != len(metrics) || len(denorm) != len(metrics) {
		return nil, fmt.Errorf("section %q: lines %q and %q were not found", c.section, c.Hand, c.Denorm)
	}
	for i, metric := range metrics {
		p := pair{metric: metric, hand: hand[i]}
		if p.shown = denorm[i] != notShown; p.shown {
			if _, err := fmt.Sscanf(denorm[i], "**%f** (%f to %f)", &p.is, &p.low, &p.high); err != nil {
				return nil, fmt.Errorf("section %q: %s is %q", c.section, metric, denorm[i])
			}
		}
		list = append(list, p)
	}
	return list, nil
}

//go:embed chart.svg.tmpl
var drawn string

var drawing = template.Must(template.New("chart").Funcs(template.FuncMap{
	"add": func(a, b int) int { return a + b },
}).Parse(drawn))

// bar is a bar as long as its ratio to by hand.
type bar struct {
	Top          int
	Metric, Hand string
	Ratio        string
	One, Is      float64 // how long ratios are
	Low, High    float64
}

// X is where a bar of this length ends.
func (bar) X(length float64) string { return fmt.Sprintf("%.1f", 110+length) }

// After is where a text behind it begins.
func (bar) After(length float64) string { return fmt.Sprintf("%.0f", 110+length+8) }

// draw draws bars that are as long as their ratio to by hand. A metric without a ratio is named below.
func (c chart) draw(page string) (string, error) {
	pairs, err := c.pairs(page)
	if err != nil {
		return "", err
	}
	setup, date := setupOf.FindStringSubmatch(page), dateOf.FindStringSubmatch(page)
	if setup == nil || date == nil {
		return "", errors.New("no setup or no date")
	}
	longest, hidden := 1.0, []string(nil)
	for _, p := range pairs {
		if p.shown {
			longest = max(longest, p.high)
		} else {
			hidden = append(hidden, p.metric)
		}
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return !p.shown })
	if len(pairs) == 0 {
		return "", fmt.Errorf("section %q: no ratio of %q is shown", c.section, c.Denorm)
	}
	one := 420 / longest
	var bars []bar
	for i, p := range pairs {
		bars = append(bars, bar{
			78 + 47*i, p.metric, p.hand, fmt.Sprintf("%.2f × (%.2f to %.2f)", p.is, p.low, p.high),
			one, one * p.is, one * p.low, one * p.high,
		})
	}
	bottom := 90 + 47*len(bars)
	if len(hidden) > 0 {
		bottom += 20
	}
	var b strings.Builder
	err = drawing.Execute(&b, struct {
		chart
		Bars                       []bar
		Hidden, Date, Nodes, Cores string
		Bottom                     int
	}{c, bars, strings.Join(hidden, ", "), date[1], setup[1], setup[2], bottom})
	return b.String(), err
}

package main

import (
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// chart is a picture for docs/why/costs.md of two lines of a page of docs/figures: by hand, and with this library.
type chart struct {
	file    string
	title   string
	page    string // in docs/figures
	section string
	hand    string // the first line of the section
	denorm  string
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
	cellOf  = regexp.MustCompile(`^\*\*([\d.]+)\*\* \(([\d.]+) to ([\d.]+)\)$`)
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
	metrics, hand, denorm := row(""), row(c.hand), row(c.denorm)
	if !found || len(hand) != len(metrics) || len(denorm) != len(metrics) {
		return nil, fmt.Errorf("section %q: lines %q and %q were not found", c.section, c.hand, c.denorm)
	}
	for i, metric := range metrics {
		p := pair{metric: metric, hand: hand[i]}
		if m := cellOf.FindStringSubmatch(denorm[i]); m != nil {
			p.shown = true
			for j, to := range []*float64{&p.is, &p.low, &p.high} {
				if *to, err = strconv.ParseFloat(m[j+1], 64); err != nil {
					return nil, err
				}
			}
		} else if denorm[i] != notShown {
			return nil, fmt.Errorf("section %q: %s is %q", c.section, metric, denorm[i])
		}
		list = append(list, p)
	}
	return list, nil
}

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
	const (
		left, unit0, width  = 110, 56, 720
		bar, between, above = 16, 14, 78
	)
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
		return "", fmt.Errorf("section %q: no ratio of %q is shown", c.section, c.denorm)
	}
	scale := (width - left - 190) / longest
	var b strings.Builder
	text := func(x, y float64, class, text string) {
		fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\">%s</text>\n", x, y, class, html.EscapeString(text))
	}
	rect := func(class string, y, width float64) {
		fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>\n", class, left, y, width, bar)
	}
	text(12, 26, "title", c.title)
	text(12, 46, "label", "Ratio to by hand, with the 95 % interval. Shorter is better.")
	fmt.Fprintf(&b, "<rect class=\"hand\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>\n", left, unit0)
	text(left+18, unit0+11, "", c.hand)
	fmt.Fprintf(&b, "<rect class=\"denorm\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>\n", left+270, unit0)
	text(left+288, unit0+11, "", "denorm: "+c.denorm)
	y := float64(above)
	for _, p := range pairs {
		text(12, y+bar+4, "", p.metric)
		rect("hand", y, scale)
		text(left+scale+8, y+bar-4, "label", "1 = "+p.hand)
		y += bar + 1
		rect("denorm", y, scale*p.is)
		fmt.Fprintf(&b, "<path class=\"interval\" d=\"M%.1f %.1f H%.1f\"/>\n", left+scale*p.low, y+bar/2, left+scale*p.high)
		text(left+scale*p.high+8, y+bar-4, "value", fmt.Sprintf("%.2f × (%.2f to %.2f)", p.is, p.low, p.high))
		y += bar + between
	}
	y += 12
	if len(hidden) > 0 {
		text(12, y, "label", "Not shown, as the interval is too wide: "+strings.Join(hidden, ", ")+".")
		y += 20
	}
	text(12, y, "label", fmt.Sprintf("%s. %s nodes and the client share %s cores. Client CPU and allocations without nodes.",
		date[1], setup[1], setup[2]))
	y += 16
	head := fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %[1]d %.0[2]f\" role=\"img\">",
		width, y)
	return head + "\n" + chartStyle + "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" + b.String() + "</svg>\n", nil
}

const chartStyle = `<style>
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .label { fill: #59636e; }
  .value { font-weight: 600; }
  .page { fill: #ffffff; }
  .hand { fill: #afb8c1; }
  .denorm { fill: #0969da; }
  .interval { stroke: #1f2328; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .label { fill: #9198a1; }
    .page { fill: #0d1117; }
    .hand { fill: #656c76; }
    .denorm { fill: #58a6ff; }
    .interval { stroke: #e6edf3; }
  }
</style>
`

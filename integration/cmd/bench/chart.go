package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

var (
	setupOf = regexp.MustCompile(`(\d+) Cassandra nodes and the client share a machine with (\d+) cores`)
	dateOf  = regexp.MustCompile("Written by `make [a-z]+` on ([0-9-]+)")
)

//go:embed chart.svg.tmpl
var drawn string

var drawing = template.Must(template.New("chart").Funcs(template.FuncMap{
	"add": func(a, b int) int { return a + b },
	"at":  func(begin, one, ratio float64) float64 { return begin + one*ratio },
}).Parse(drawn))

// bar is a metric of both lines, the second of which is a ratio.
type bar struct {
	Top           int
	Metric        string
	Hand          string // a figure with its unit
	Is, Low, High float64
}

// picture is what the template draws: bars that are as long as their ratio to by hand. A metric without a ratio is named
// below.
type picture struct {
	chart
	Bars                       []bar
	Hidden, Date, Nodes, Cores string
	One                        float64 // how long a ratio of one is
	Bottom                     int
}

// row finds a line of the section. Its cells begin with the name.
func row(section, name string) []string {
	_, rest, _ := strings.Cut(section, "\n"+strings.TrimSpace("| "+name)+" |")
	rest, _, _ = strings.Cut(rest, "|\n")
	cells := strings.Split(rest, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func (c chart) draw(page string) (string, error) {
	setup, date := setupOf.FindStringSubmatch(page), dateOf.FindStringSubmatch(page)
	if setup == nil || date == nil {
		return "", errors.New("no setup or no date")
	}
	_, section, _ := strings.Cut(page, "\n## "+c.section+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	metrics, hand, denorm := row(section, ""), row(section, c.Hand), row(section, c.Denorm)
	if len(hand) != len(metrics) || len(denorm) != len(metrics) {
		return "", fmt.Errorf("section %q: lines %q and %q were not found", c.section, c.Hand, c.Denorm)
	}
	p := picture{chart: c, Date: date[1], Nodes: setup[1], Cores: setup[2], Bottom: 90}
	var hidden []string
	longest := 1.0
	for i, metric := range metrics {
		if denorm[i] == notShown {
			hidden = append(hidden, metric)
			continue
		}
		b := bar{Top: 78 + 47*len(p.Bars), Metric: metric, Hand: hand[i]}
		if _, err := fmt.Sscanf(denorm[i], "**%f** (%f to %f)", &b.Is, &b.Low, &b.High); err != nil {
			return "", fmt.Errorf("section %q: %s is %q", c.section, metric, denorm[i])
		}
		p.Bars, longest = append(p.Bars, b), max(longest, b.High)
	}
	p.Hidden, p.One = strings.Join(hidden, ", "), 420/longest
	p.Bottom += 47 * len(p.Bars)
	if len(hidden) > 0 {
		p.Bottom += 20
	}
	var b strings.Builder
	err := drawing.Execute(&b, p)
	return b.String(), err
}

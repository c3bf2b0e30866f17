package hot

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/writer"
)

// Row is a load in a [Sheet].
type Row struct {
	Load     string
	Figures  Figures
	Findings *history.Report
	Remark   string
}

// String is one line.
func (r Row) String() string {
	f := r.Figures
	s := fmt.Sprintf("%s: %d writes acknowledged in %.1f s, %.0f a second, longest %s ms; %d unknown, %s resumed, %d not applied, "+
		"%s overtaken; %s", r.Load, f.Acknowledged, f.Took.Seconds(), f.rate(), f.longest(), f.Unknown, figure(f.Resumed),
		f.NotApplied, figure(f.Overtaken), r.Findings.Summary())
	if r.Remark != "" {
		s += "; " + r.Remark
	}
	return s
}

func (f Figures) rate() float64 { return float64(f.Acknowledged) / max(f.Took.Seconds(), 1e-3) }

// longest is in milliseconds.
func (f Figures) longest() string {
	if f.Longest == 0 {
		return figure(NotMeasured)
	}
	return fmt.Sprintf("%.0f", f.Longest.Seconds()*1000)
}

func figure(n int) string {
	if n == NotMeasured {
		return "–"
	}
	return strconv.Itoa(n)
}

// Outcomes counts outcomes.
type Outcomes map[writer.Outcome]int

// String is like "16 unknown, 1 not applied".
func (o Outcomes) String() string {
	var counts []string
	for _, outcome := range slices.Sorted(maps.Keys(o)) {
		counts = append(counts, fmt.Sprintf("%d %v", o[outcome], outcome))
	}
	return strings.Join(counts, ", ")
}

// Sheet collects the figures of several loads. It is safe for concurrent use.
type Sheet struct {
	mu   sync.Mutex
	rows []Row
}

// Add adds a load.
func (s *Sheet) Add(r Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, r)
}

// String is a table in Markdown, or empty if there were no loads.
func (s *Sheet) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		return ""
	}
	head := []string{"load", "s", "acknowledged", "a second", "longest ms", "unknown", "resumed", "not applied", "overtaken"}
	for _, k := range history.Kinds {
		head = append(head, string(k))
	}
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	b.WriteString("|---" + strings.Repeat("|---:", len(head)-1) + "|\n")
	var remarks []string
	for _, r := range s.rows {
		f := r.Figures
		cells := []string{
			r.Load, fmt.Sprintf("%.1f", f.Took.Seconds()), strconv.Itoa(f.Acknowledged), fmt.Sprintf("%.0f", f.rate()),
			f.longest(), strconv.Itoa(f.Unknown), figure(f.Resumed), strconv.Itoa(f.NotApplied),
			figure(f.Overtaken),
		}
		for _, k := range history.Kinds {
			cells = append(cells, strconv.Itoa(r.Findings.Count(k)))
		}
		line(cells)
		if r.Remark != "" {
			remarks = append(remarks, r.Load+": "+r.Remark+".")
		}
	}
	for _, remark := range remarks {
		b.WriteString("\n" + remark + "\n")
	}
	return b.String()
}

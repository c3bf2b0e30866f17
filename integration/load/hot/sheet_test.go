package hot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/writer"
)

// What nobody has measured is not told as a zero, and remarks are for people.
func TestSheet(t *testing.T) {
	t.Parallel()
	var s hot.Sheet
	if table := s.String(); table != "" {
		t.Errorf("without loads: %q", table)
	}
	s.Add(hot.Row{Load: "here", Findings: new(history.Report), Figures: hot.Figures{
		Took: 2 * time.Second, Acknowledged: 100, Resumed: 3, Overtaken: 7, Longest: 23419 * time.Millisecond,
	}})
	elsewhere := hot.Row{
		Load: "elsewhere", Findings: new(history.Report), Remark: "told: " + hot.Outcomes{writer.NotApplied: 1, writer.Unknown: 15}.String(),
		Figures: hot.Figures{Took: time.Second, Acknowledged: 5, Unknown: 16, Resumed: hot.NotMeasured, Overtaken: hot.NotMeasured},
	}
	s.Add(elsewhere)
	for _, want := range []string{
		"| here | 2.0 | 100 | 50 | 23419 | 0 | 3 | 0 | 7 | 0 |",
		"| elsewhere | 1.0 | 5 | 5 | – | 16 | – | 0 | – | 0 |",
		"\nelsewhere: told: 15 unknown, 1 not applied.\n",
	} {
		if table := s.String(); !strings.Contains(table, want) {
			t.Errorf("want %q in\n%s", want, table)
		}
	}
	if line := elsewhere.String(); !strings.Contains(line, "longest – ms; 16 unknown, – resumed, 0 not applied, – overtaken;") {
		t.Error(line)
	}
}

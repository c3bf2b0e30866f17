package estimate

import (
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/schema"
)

// named are the times that a column of a partition key stands for by its name.
var named = []struct {
	word   string
	window time.Duration
}{
	{"minute", time.Minute},
	{"hour", time.Hour},
	{"day", schema.Day},
	{"date", schema.Day},
	{"week", 7 * schema.Day},
	{"month", schema.Month},
	{"quarter", schema.Year / 4},
	{"year", schema.Year},
}

// window is the time that a partition of the table covers, as far as bucket functions, types and names of its key columns tell: a date is
// a day, a column called month is a month. 0 if nothing ends a partition.
func window(t *schema.Table) time.Duration {
	window := time.Duration(0)
	for _, c := range t.Of(schema.PartitionKey) {
		function, of, _ := strings.Cut(c.Derived, "(") // hour(ts), every(168h0m0s, ts)
		if width, _, _ := strings.Cut(of, ","); function == "every" {
			if d, err := time.ParseDuration(width); err == nil && (window == 0 || d < window) {
				window = d
			}
			continue
		}
		for _, n := range named {
			if function == n.word || c.Type != "uuid" && slices.Contains(strings.Split(c.Name, "_"), n.word) || c.Type == "date" && n.word == "day" {
				if window == 0 || n.window < window {
					window = n.window
				}
			}
		}
	}
	return window
}

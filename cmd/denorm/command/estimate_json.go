package command

import (
	"io"
	"time"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/schema"
)

// outlookJSON is the JSON output of estimate. Times are in seconds; null is never, or not within a hundred years.
type outlookJSON struct {
	Tables  []plannedJSON `json:"tables"`
	Unknown []tableIDJSON `json:"unknown"` // tables without a volume
	Strays  []string      `json:"strays"`  // volumes of tables that there are not, as text
	Unread  int           `json:"unread"`  // statements that were not understood
}

type tableIDJSON struct {
	Keyspace string `json:"keyspace,omitempty"`
	Table    string `json:"table"`
}

type plannedJSON struct {
	tableIDJSON
	Key             string            `json:"primaryKey"`
	Single          bool              `json:"singleRow"` // a partition is one row
	Source          string            `json:"source"`    // stated, measured, or none for one row
	Rows            float64           `json:"rows"`      // of the average partition, in all or in the time of per
	Per             *int64            `json:"per"`
	Largest         float64           `json:"largest"`
	Growth          float64           `json:"growth"`
	Keep            *int64            `json:"keep"` // time of a bucket, or TTL
	Row             estimate.Size     `json:"row"`
	AssumedWidth    []string          `json:"assumedWidth"`
	AssumedElements []string          `json:"assumedElements"`
	Sizes           []agedJSON        `json:"sizes"` // of the largest partition
	Limits          map[string]*int64 `json:"limits"`
}

type agedJSON struct {
	After int64 `json:"after"`
	estimate.Size
}

// seconds is a time, or nil for none.
func seconds(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	n := int64(d / time.Second)
	return &n
}

// writeOutlookJSON writes for programs.
func writeOutlookJSON(out io.Writer, o *outlook) error {
	report := outlookJSON{Tables: []plannedJSON{}, Unknown: []tableIDJSON{}, Strays: append([]string{}, o.strays...), Unread: o.unread}
	for i := range o.tables {
		report.Tables = append(report.Tables, o.tables[i].json())
	}
	report.Unknown = append(report.Unknown, each.Of(o.unknown, func(id schema.ID) tableIDJSON { return tableIDJSON{id.Keyspace, id.Name} })...)
	return writeIndented(out, report)
}

func (p *planned) json() plannedJSON {
	out := plannedJSON{
		tableIDJSON: tableIDJSON{p.table.Keyspace, p.table.Name}, Key: p.table.Key(), Single: single(p.table), Source: "none",
		Rows: p.volume.Rows, Per: seconds(p.volume.Per), Largest: max(1, p.volume.Largest), Growth: p.volume.Growth, Keep: seconds(p.e.Keep()),
		Row: p.e.Row(), AssumedWidth: []string{}, AssumedElements: []string{}, Sizes: []agedJSON{}, Limits: make(map[string]*int64),
	}
	if p.known {
		out.Source = "stated"
		if p.volume.Measured {
			out.Source = "measured"
		}
	}
	widths, elements := p.guessed()
	out.AssumedWidth, out.AssumedElements = append(out.AssumedWidth, widths...), append(out.AssumedElements, elements...)
	for _, l := range limits {
		out.Limits[l.name] = nil
	}
	for _, m := range meets(p.e) {
		n := int64(m.age / time.Second)
		out.Limits[limits[m.limit].name] = &n
	}
	for _, a := range p.ages() {
		out.Sizes = append(out.Sizes, agedJSON{int64(a.age / time.Second), p.e.At(a.age)})
	}
	return out
}

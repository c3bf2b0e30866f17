package command

import (
	"io"
	"time"

	"github.com/denorm-go/denorm/internal/estimate"
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
	Row             sizeJSON          `json:"row"`
	AssumedWidth    []string          `json:"assumedWidth"`
	AssumedElements []string          `json:"assumedElements"`
	Sizes           []agedJSON        `json:"sizes"` // of the largest partition
	Limits          map[string]*int64 `json:"limits"`
	Splits          []splitJSON       `json:"splits"`
}

type sizeJSON struct {
	Rows  float64 `json:"rows"`
	Cells float64 `json:"cells"`
	Bytes float64 `json:"bytes"`
}

type agedJSON struct {
	After int64 `json:"after"`
	sizeJSON
}

type splitJSON struct {
	By           string            `json:"by"` // time, hash, time and hash, column or table
	Column       string            `json:"column,omitempty"`
	Unit         string            `json:"unit,omitempty"`
	Parts        int               `json:"parts,omitempty"` // hash buckets, or values of the column
	PartitionKey []string          `json:"partitionKey"`
	Key          string            `json:"primaryKey"`
	Moved        []string          `json:"moved,omitempty"`    // columns that go to another table
	Other        string            `json:"otherKey,omitempty"` // primary key of that one
	Bounded      bool              `json:"bounded"`            // whether partitions are known to stop growing
	After5Years  sizeJSON          `json:"after5Years"`        // the largest partition
	Limits       map[string]*int64 `json:"limits"`
	Note         string            `json:"note"`
}

// seconds is a time, or nil for none.
func seconds(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	n := int64(d / time.Second)
	return &n
}

// limitsJSON says for each limit when it is met.
func limitsJSON(e *estimate.Estimate) map[string]*int64 {
	out := make(map[string]*int64)
	for _, l := range limits {
		out[l.name] = nil
	}
	for _, m := range meets(e) {
		n := int64(m.age / time.Second)
		out[limits[m.limit].name] = &n
	}
	return out
}

// writeOutlookJSON writes for programs.
func writeOutlookJSON(out io.Writer, o *outlook) error {
	report := outlookJSON{Tables: []plannedJSON{}, Unknown: []tableIDJSON{}, Strays: append([]string{}, o.strays...), Unread: o.unread}
	for i := range o.tables {
		report.Tables = append(report.Tables, o.tables[i].json())
	}
	for _, id := range o.unknown {
		report.Unknown = append(report.Unknown, tableIDJSON{id.Keyspace, id.Name})
	}
	return writeIndented(out, report)
}

func (p *planned) json() plannedJSON {
	out := plannedJSON{
		tableIDJSON: tableIDJSON{p.table.Keyspace, p.table.Name}, Key: p.table.Key(), Single: single(p.table), Source: "none",
		Rows: p.volume.Rows, Per: seconds(p.volume.Per), Largest: max(1, p.volume.Largest), Growth: p.volume.Growth, Keep: seconds(p.e.Keep()),
		Row: sizeJSON(p.e.Row()), AssumedWidth: []string{}, AssumedElements: []string{}, Sizes: []agedJSON{}, Limits: limitsJSON(p.e), Splits: []splitJSON{},
	}
	if p.known {
		out.Source = "stated"
		if p.volume.Measured {
			out.Source = "measured"
		}
	}
	widths, elements := p.guessed()
	out.AssumedWidth, out.AssumedElements = append(out.AssumedWidth, widths...), append(out.AssumedElements, elements...)
	for _, a := range p.ages() {
		out.Sizes = append(out.Sizes, agedJSON{int64(a.age / time.Second), sizeJSON(p.e.At(a.age))})
	}
	for _, s := range p.splits() {
		out.Splits = append(out.Splits, splitJSON{
			By: s.by, Column: s.of, Unit: s.unit, Parts: s.parts, PartitionKey: s.part, Key: s.key, Moved: s.moved, Other: s.other,
			Bounded: ends(p.volume, s.after) && !p.volume.Measured, After5Years: sizeJSON(s.after.At(foresight)), Limits: limitsJSON(s.after), Note: s.cost,
		})
	}
	return out
}

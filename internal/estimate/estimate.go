package estimate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/schema"
)

// Limits of one partition. At the first two, reads, compaction and repair begin to hurt; at the third they do hurt. The
// last is Cassandra's own limit.
const (
	GoodRows  = 100_000
	GoodBytes = 10_000_000
	BadBytes  = 100_000_000
	MaxCells  = 2_000_000_000
)

// Size is the size of a partition. Its numbers are expectations, so they need not be whole.
type Size struct {
	Rows  float64 `json:"rows"`
	Cells float64 `json:"cells"`
	Bytes float64 `json:"bytes"`
}

// Estimate is an estimate of the partitions of a table. It is immutable.
type Estimate struct {
	table  *schema.Table
	volume schema.Volume
	keep   time.Duration // how long a row counts: the time of a bucket or the TTL; 0 is forever

	row, partition Size // of a row, and of what a partition has once
}

// Keep returns how long a row counts in the size of its partition: the time of the partition's bucket or the TTL of the
// table, whichever is less. It is 0 if rows stay forever.
func (e *Estimate) Keep() time.Duration { return e.keep }

// New makes an estimate from the stated volume of a table of the schema.
func New(s *schema.Schema, v schema.Volume) (*Estimate, error) {
	t := s.Table(v.Table)
	if t == nil {
		return nil, fmt.Errorf("estimate: there is no table %s", v.Table)
	}
	for _, columns := range []map[string]float64{v.Width, v.Elements, v.Filled} {
		for name := range columns {
			if t.Column(name) == nil {
				return nil, fmt.Errorf("estimate: table %s has no column %s", v.Table, name)
			}
		}
	}
	if v.Largest == 0 {
		v.Largest = 1
	}
	e := &Estimate{table: t, volume: v, keep: v.Window}
	if e.keep == 0 {
		e.keep = window(t)
	}
	if ttl := t.TTL(); ttl > 0 && (e.keep == 0 || ttl < e.keep) {
		e.keep = ttl
	}
	e.measure(&widths{schema: s, keyspace: t.Keyspace, volume: &e.volume, types: make(map[string]float64)})
	e.row, e.partition = e.row.finite(), e.partition.finite()
	return e, nil
}

// measure follows the layout of Cassandra's data files, format nb, which 4.0 to 5.0 write.
func (e *Estimate) measure(w *widths) {
	const (
		timestamp = 5 // of a row, relative to the oldest of its file
		expiry    = 5 // the same of a TTL and its end
		deletion  = 12
	)
	var key, clustering float64
	part := e.table.Of(schema.PartitionKey)
	for _, c := range part {
		key += w.bytes(c.Name, c.Type)
		if len(part) > 1 {
			key += 3 // length and end of a component
		}
	}
	e.partition.Bytes = 2 + key + deletion + 1 // with the mark of its end
	for _, c := range e.table.Of(schema.Clustering) {
		clustering += w.stored(c.Name, c.Type)
	}
	if clustering > 0 {
		clustering++ // which of them are empty
	}
	missing := false
	body := float64(timestamp)
	if e.table.TTL() > 0 {
		body += expiry
	}
	for _, c := range e.table.Of(schema.Regular) {
		cells, bytes := w.cells(c)
		e.row.Cells += cells
		body += bytes
		missing = missing || w.filled(c.Name) < 1
	}
	if missing {
		body++ // which columns are there
	}
	e.row.Rows = 1
	e.row.Cells = max(e.row.Cells, 1) // the row itself
	e.row.Bytes = 1 + clustering + body + 2*vint(body)
	static := e.table.Of(schema.Static)
	if len(static) == 0 {
		return
	}
	body = timestamp
	for _, c := range static {
		cells, bytes := w.cells(c)
		e.partition.Cells += cells
		body += bytes
	}
	e.partition.Bytes += 2 + body + 2*vint(body)
}

// Row returns the size of one row.
func (e *Estimate) Row() Size { return e.row }

// Of returns the size of a partition with the given number of rows.
func (e *Estimate) Of(rows float64) Size {
	return Size{rows, e.partition.Cells + rows*e.row.Cells, e.partition.Bytes + rows*e.row.Bytes}.finite()
}

// finite is a size without numbers that are too large for a float64.
func (s Size) finite() Size {
	return Size{min(s.Rows, math.MaxFloat64), min(s.Cells, math.MaxFloat64), min(s.Bytes, math.MaxFloat64)}
}

// At returns the size of the largest partition after the table has been written to for age.
func (e *Estimate) At(age time.Duration) Size { return e.Of(e.rows(age) * e.volume.Largest) }

// Mean returns the size of the average partition at that age.
func (e *Estimate) Mean(age time.Duration) Size { return e.Of(e.rows(age)) }

// rows is how many the average partition has at an age: what has come since, less what has left or went to other
// buckets.
func (e *Estimate) rows(age time.Duration) float64 {
	if e.volume.Per == 0 {
		return e.volume.Rows
	}
	from := time.Duration(0)
	if e.keep > 0 && age > e.keep {
		from = age - e.keep
	}
	return e.came(from, age)
}

// came is how many rows came from one age to another, at a rate that grows every moment.
func (e *Estimate) came(from, to time.Duration) float64 {
	rate := e.volume.Rows / e.volume.Per.Seconds()
	k := math.Log1p(e.volume.Growth) / schema.Year.Seconds()
	if k == 0 || rate == 0 {
		return rate * (to - from).Seconds()
	}
	return rate * math.Exp(k*from.Seconds()) * math.Expm1(k*(to-from).Seconds()) / k
}

// horizon is how far [Estimate.When] looks.
const horizon = 100 * schema.Year

// When returns the age at which the largest partition reaches a limit, for example func(s Size) bool { return s.Cells
// >= MaxCells }. ok is false if it does not within a hundred years.
func (e *Estimate) When(reached func(Size) bool) (age time.Duration, ok bool) {
	if !reached(e.At(horizon)) {
		return 0, false
	}
	low, high := time.Duration(0), horizon
	for high-low > time.Minute {
		if middle := low + (high-low)/2; reached(e.At(middle)) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}

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

// window is the time that a partition of the table covers, as far as bucket functions, types and names of its key
// columns tell: a date is a day, a column called month is a month. 0 if nothing ends a partition.
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
			if function == n.word || c.Type != "uuid" && slices.Contains(strings.Split(c.Name, "_"), n.word) ||
				c.Type == "date" && n.word == "day" {
				if window == 0 || n.window < window {
					window = n.window
				}
			}
		}
	}
	return window
}

// Age writes how long something takes, for people.
func Age(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"years", schema.Year}, {"months", schema.Month}, {"days", schema.Day}, {"hours", time.Hour}} {
		if d < 2*u.unit {
			continue
		}
		n := float64(d) / float64(u.unit)
		if u.unit != schema.Year && n >= 10 {
			n = math.Round(n)
		}
		return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") + " " + u.name
	}
	if d < 2*time.Minute {
		return "a minute"
	}
	return fmt.Sprintf("%.0f minutes", d.Minutes())
}

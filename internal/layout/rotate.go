package layout

import (
	"strings"
	"time"
)

// Rotated is the name of the table for rows of time ms.
func (t *Table) Rotated(ms int64) string {
	return t.Name + "_" + t.Rotation.Versions[0].Bucket.suffix(ms)
}

// suffix is what the name of a rotating table ends with.
func (b Bucket) suffix(ms int64) string {
	return time.UnixMilli(b.Start(b.Number(ms))).UTC().Format(b.SuffixLayout())
}

// SuffixLayout is how package time writes [Bucket.suffix].
func (b Bucket) SuffixLayout() string {
	if b.Kind == EveryBucket { // whole days
		b.Kind = DayBucket
	}
	return strings.ReplaceAll(b.Layout(), "-", "_")
}

// Named says whether name is the name of the table, or of one of those that it becomes.
func (t *Table) Named(name string) bool {
	r, rotates := t.Rotates()
	if !rotates {
		return t.Name == name
	}
	_, ok := r.Of(name)
	return ok
}

// Rotates says how the table rotates, and whether it does.
func (t *Table) Rotates() (Rotation, bool) {
	if t.Rotation == nil {
		return Rotation{}, false
	}
	return Rotation{t.Name, t.Rotation.Versions[0].Bucket}, true
}

// Rotation says how a table rotates: which tables there are, and which rows they have.
type Rotation struct {
	name   string
	bucket Bucket
}

// String is the time bucket function, for example month(event_time).
func (r Rotation) String() string { return r.bucket.String() }

// At is the table for rows of time t, with the first time of its rows and the first of the next table's.
func (r Rotation) At(t time.Time) (name string, from, to time.Time) {
	n := r.bucket.Number(t.UnixMilli())
	from, to = time.UnixMilli(r.bucket.Start(n)).UTC(), time.UnixMilli(r.bucket.Start(n+1)).UTC()
	return r.name + "_" + r.bucket.suffix(t.UnixMilli()), from, to
}

// Of is the reverse of At: the time from which on the table of this name has rows, and false if it is not one of the
// rotation's.
func (r Rotation) Of(name string) (from time.Time, ok bool) {
	from, err := time.Parse(r.bucket.SuffixLayout(), strings.TrimPrefix(name, r.name+"_"))
	if at, _, _ := r.At(from); err != nil || at != name { // of another table, between two periods, or spelt otherwise
		return time.Time{}, false
	}
	return from, true
}

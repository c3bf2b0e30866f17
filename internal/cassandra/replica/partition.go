package replica

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
)

// Partition is a partition of a table, or what a statement writes to one. Rows that are in it are never changed, so
// that partitions can share them.
type Partition struct {
	Deletion int64   // the timestamp of its tombstone, merge.NoTimestamp if there is none
	Ranges   []Range // range tombstones, in no order
	Static   *Row    // nil without
	Rows     []*Row  // in clustering order
	// Stamp is equal in two partitions of the same key only if they are equal. A mutation has one of its own.
	Stamp uint64
}

// Stamp makes a stamp of a number that no other has. Stamps add up as mutations are merged, so they have to be
// scattered: of numbers in a row 1 and 4 are as much as 2 and 3.
func Stamp(number uint64) uint64 {
	// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
	number *= 0x9e3779b97f4a7c15
	number = (number ^ number>>30) * 0xbf58476d1ce4e5b9
	number = (number ^ number>>27) * 0x94d049bb133111eb
	return number ^ number>>31
}

// Range is a tombstone of the rows between two bounds. A bound that is empty does not bound.
type Range struct {
	From, To  Bound
	Timestamp int64
}

// Bound is a prefix of the clustering columns.
type Bound struct {
	Prefix    [][]byte
	Inclusive bool
}

// Compare is the clustering order of a table, of prefixes too: a prefix is equal to what it is a prefix of.
type Compare func(a, b [][]byte) int

// NewPartition is an empty partition.
func NewPartition() *Partition { return &Partition{Deletion: merge.NoTimestamp} }

// Covers says whether the row key is between the bounds.
func (r Range) Covers(key [][]byte, compare Compare) bool {
	if c := compare(r.From.Prefix, key); c > 0 || c == 0 && !r.From.Inclusive {
		return false
	}
	c := compare(r.To.Prefix, key)
	return c > 0 || c == 0 && r.To.Inclusive
}

// Empty says whether no row can be between the bounds.
func (r Range) Empty(compare Compare) bool {
	c := compare(r.From.Prefix, r.To.Prefix)
	if c != 0 {
		return c > 0
	}
	switch from, to := len(r.From.Prefix), len(r.To.Prefix); {
	case from < to:
		return !r.From.Inclusive
	case from > to:
		return !r.To.Inclusive
	}
	return !r.From.Inclusive || !r.To.Inclusive
}

// deletion is the largest tombstone around a row.
func (p *Partition) deletion(key [][]byte, compare Compare) int64 {
	deletion := p.Deletion
	for _, r := range p.Ranges {
		if r.Timestamp > deletion && r.Covers(key, compare) {
			deletion = r.Timestamp
		}
	}
	return deletion
}

// Find is where a row of the key is, or belongs.
func (p *Partition) Find(key [][]byte, compare Compare) (int, bool) {
	return slices.BinarySearchFunc(p.Rows, key, func(r *Row, key [][]byte) int { return compare(r.Key, key) })
}

// Merge takes over what another partition has. The other is not changed.
func (p *Partition) Merge(other *Partition, compare Compare) {
	p.Stamp += other.Stamp
	sweep := other.Deletion > p.Deletion || len(other.Ranges) > 0
	p.Deletion = max(p.Deletion, other.Deletion)
	for _, r := range other.Ranges {
		p.cover(r, compare)
	}
	switch {
	case other.Static == nil:
	case p.Static == nil:
		p.Static = other.Static.pruned(p.Deletion)
	default:
		p.Static = p.Static.merged(other.Static, p.Deletion)
	}
	for _, row := range other.Rows {
		deletion := p.deletion(row.Key, compare)
		switch i, found := p.Find(row.Key, compare); {
		case found:
			p.Rows[i] = p.Rows[i].merged(row, deletion)
		default:
			p.Rows = slices.Insert(p.Rows, i, row.pruned(deletion))
		}
	}
	if sweep {
		p.sweep(compare)
	}
}

// cover adds a range tombstone, unless there is a larger one of the same bounds.
func (p *Partition) cover(r Range, compare Compare) {
	same := func(a, b Bound) bool {
		return a.Inclusive == b.Inclusive && len(a.Prefix) == len(b.Prefix) && compare(a.Prefix, b.Prefix) == 0
	}
	for i, old := range p.Ranges {
		if same(old.From, r.From) && same(old.To, r.To) {
			p.Ranges = slices.Clone(p.Ranges)
			p.Ranges[i].Timestamp = max(old.Timestamp, r.Timestamp)
			return
		}
	}
	p.Ranges = append(p.Ranges, r)
}

// sweep drops what the tombstones of the partition cover.
func (p *Partition) sweep(compare Compare) {
	if p.Static != nil {
		p.Static = p.Static.pruned(p.Deletion)
	}
	rows := make([]*Row, 0, len(p.Rows))
	for _, row := range p.Rows {
		if row = row.pruned(p.deletion(row.Key, compare)); !row.empty() {
			rows = append(rows, row)
		}
	}
	p.Rows = rows
	p.Ranges = slices.DeleteFunc(slices.Clone(p.Ranges), func(r Range) bool { return r.Timestamp <= p.Deletion })
}

// Clone is a copy that can be merged into.
func (p *Partition) Clone() *Partition {
	out := *p
	out.Rows, out.Ranges = slices.Clone(p.Rows), slices.Clone(p.Ranges)
	return &out
}

// Slice is the partition with none but the rows of the given key, of which there is at most one.
func (p *Partition) Slice(key [][]byte, compare Compare) *Partition {
	out := *p
	out.Rows = nil
	if i, found := p.Find(key, compare); found {
		out.Rows = p.Rows[i : i+1 : i+1]
	}
	out.Ranges = slices.Clone(p.Ranges)
	return &out
}

package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// digest compares tables by reading each of them once. A base row gives a record for each row that query tables should
// have, a row of a query table one for itself; entities with a record that has no equal counterpart are looked at. It
// agrees with [repair.Look]: there a row is a finding if the base row has no such row, if they differ in a column, or
// if it is newer. 128 bits of SHA-256 stand for the columns. Where rows were written between the two reads, there is a
// look too many.
type digest struct {
	j      *job
	spool  *spool
	seed   maphash.Seed
	sides  map[*table]*side
	tables []*table // that are compared with the base table
	newer  bool     // a row that is newer than the base row is a finding

	mu     sync.Mutex
	unread map[*table][]segment
}

// side is how rows of a table become records.
type side struct {
	base    bool
	entity  tablerow.Pairing // how the base key is found
	records []sideRecord
}

type sideRecord struct {
	query         int // of digest.tables
	key, compared tablerow.Pairing
}

func newDigest(j *job, dir string) *digest {
	base := j.base()
	d := &digest{
		j: j, spool: newSpool(dir, spoolChunk), seed: maphash.MakeSeed(), sides: make(map[*table]*side), newer: !base.Patchable(),
		tables: j.compared()[1:], unread: make(map[*table][]segment),
	}
	all := &side{base: true, entity: tablerow.Pair(base.Layout, base.Layout)}
	d.sides[base] = all
	for i, q := range d.tables {
		to := tablerow.Pair(base.Layout, q.Layout)
		all.records = append(all.records, sideRecord{i, to, to})
		back := tablerow.Pair(q.Layout, base.Layout)
		d.sides[q] = &side{entity: back, records: []sideRecord{{i, tablerow.Pair(q.Layout, q.Layout), back}}}
	}
	return d
}

// page reads a page and notes its rows.
func (d *digest) page(
	ctx context.Context, t *table, in segment, size int, from mark,
) (seen tablerow.Survey, next mark, err error) {
	next, err = d.j.visit(ctx, t, in, size, from, func(iter *gocql.Iter) (last []byte, err error) {
		seen, last, err = d.add(iter, t)
		return last, err
	})
	return seen, next, err
}

// add notes the rows of a page.
func (d *digest) add(iter *gocql.Iter, t *table) (seen tablerow.Survey, last []byte, err error) {
	s, now := d.sides[t], time.Now()
	var r record
	var entity, id, key, compared, out []byte
	last, err = eachRow(iter, t, func(values [][]byte) error {
		t.surveyor.Count(&seen, values, now)
		if err := tablerow.Normalize(t.Layout, values); err != nil {
			return err
		}
		var there bool
		if entity, there = s.entity.Key(entity[:0], values); !there {
			at, _ := t.times(values, now)
			if !s.base {
				key, _ = s.records[0].key.Key(key[:0], values)
			}
			d.j.leadsNowhere(nil, t, string(key), at)
			return nil
		}
		d.j.flawed(t.flaw(values))
		id = d.j.base().AppendID(id[:0], entity)
		r.hash, r.base, r.entity = maphash.Bytes(d.seed, id), s.base, entity
		r.at, r.ends = t.times(values, now)
		for i := range s.records {
			to := &s.records[i]
			if key, there = to.key.Key(key[:0], values); !there {
				continue
			}
			compared = to.compared.Compared(compared[:0], values)
			sum := sha256.Sum256(compared)
			r.query, r.key = to.query, key
			copy(r.values[:], sum[:])
			out = r.append(out[:0])
			if err := d.spool.add(r.hash, out); err != nil {
				return err
			}
		}
		return nil
	})
	return seen, last, err
}

// fails notes a range that was not read.
func (d *digest) fails(t *table, in segment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unread[t] = append(d.unread[t], in)
}

// join has all entities looked at whose records are not equal.
func (d *digest) join(ctx context.Context) error {
	type entry struct {
		hash uint64
		at   int
	}
	var entries []entry
	var group []record
	var last record // of a base row
	return d.spool.each(spoolWhole, func(records []byte) error {
		entries = entries[:0]
		for rest := records; len(rest) > 0; {
			var r record
			at := len(records) - len(rest)
			r, rest = parseRecord(rest)
			entries = append(entries, entry{r.hash, at})
		}
		parse := func(e entry) record { r, _ := parseRecord(records[e.at:]); return r }
		slices.SortFunc(entries, func(a, b entry) int {
			if c := cmp.Compare(a.hash, b.hash); c != 0 {
				return c
			}
			x, y := parse(a), parse(b)
			return x.compare(&y)
		})
		for i, e := range entries {
			r := parse(e)
			if r.base {
				d.namesakes(ctx, &last, &r)
				last = r
			}
			if i > 0 && r.compare(&group[0]) != 0 {
				d.compare(ctx, group)
				group = group[:0]
			}
			group = append(group, r)
		}
		if len(group) > 0 {
			d.compare(ctx, group)
		}
		group, last = group[:0], record{}
		return ctx.Err()
	})
}

// namesakes has two entities looked at if their base rows have the same ID.
func (d *digest) namesakes(ctx context.Context, a, b *record) {
	base := d.j.base()
	if len(a.entity) == 0 || a.hash != b.hash || bytes.Equal(a.entity, b.entity) {
		return
	}
	if !bytes.Equal(base.AppendID(nil, a.entity), base.AppendID(nil, b.entity)) {
		return
	}
	d.j.queue.add(ctx, string(a.entity), place{base, string(b.entity)}, nil)
	d.j.queue.add(ctx, string(b.entity), place{base, string(a.entity)}, nil)
}

// compare has an entity looked at if the records of one row are not equal.
func (d *digest) compare(ctx context.Context, group []record) {
	soon := time.Now().Add(d.j.settle)
	there, expected, same := false, false, true
	rowAt, baseAt := int64(math.MinInt64), int64(math.MaxInt64) // of the newest, and of the oldest: a row may have been read twice
	for i := range group {
		r := &group[i]
		if !r.ends.IsZero() && !r.ends.After(soon) {
			if r.base {
				d.j.leftOut(d.j.base())
			}
			return // see job.ending
		}
		if r.base && d.j.unversioned(r.at) {
			d.j.leftOut(d.j.base())
			return
		}
		if r.base {
			expected, baseAt = true, min(baseAt, r.at)
		} else {
			there, rowAt = true, max(rowAt, r.at)
		}
		same = same && r.values == group[0].values
	}
	r, table := &group[0], d.tables[group[0].query]
	newer := d.newer && !table.Unique() // a claim is as old as its transaction
	switch {
	case there && expected && same && (!newer || rowAt <= baseAt):
		return
	case !there && d.wasUnread(table, r.key), !expected && d.wasUnread(d.j.base(), r.entity):
		return
	}
	d.j.queue.add(ctx, string(r.entity), place{table, string(r.key)}, nil)
}

// wasUnread says whether the range of the row with a key was not read, so that it is unknown whether it exists.
func (d *digest) wasUnread(t *table, key []byte) bool {
	if len(d.unread[t]) == 0 {
		return false
	}
	_, partition := tablerow.Arguments(t.Layout, string(key))
	token := murmur3.Token(partition)
	return slices.ContainsFunc(d.unread[t], func(s segment) bool { return s.low < token && token <= s.high })
}

// compare orders records by the row that they are of, those of one entity together.
func (r *record) compare(other *record) int {
	return cmp.Or(cmp.Compare(r.hash, other.hash), bytes.Compare(r.entity, other.entity), r.query-other.query, bytes.Compare(r.key, other.key))
}

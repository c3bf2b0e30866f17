package replica

import (
	"slices"
	"strings"
)

// Store is what a node has stored. It is not safe for concurrent use.
type Store struct{ tables map[ID]*table }

type table struct {
	partitions map[string]*Partition
	keys       []string // ordered; nil if they must be ordered again
}

// ID is that of a table.
type ID = [16]byte

// NewStore is an empty store.
func NewStore() *Store { return &Store{tables: make(map[ID]*table)} }

// Apply merges a mutation into the partition with the key of a table.
func (s *Store) Apply(name ID, key string, m *Partition, compare Compare) {
	t := s.tables[name]
	if t == nil {
		t = &table{partitions: make(map[string]*Partition)}
		s.tables[name] = t
	}
	p := t.partitions[key]
	if p == nil {
		p = NewPartition()
		t.partitions[key] = p
		t.keys = nil
	}
	p.Merge(m, compare)
}

// Partition is the partition with the key, nil if there is none. It must not be changed.
func (s *Store) Partition(name ID, key string) *Partition {
	t := s.tables[name]
	if t == nil {
		return nil
	}
	return t.partitions[key]
}

// Keys are the keys of all partitions of a table that were ever written to, ordered as bytes.
func (s *Store) Keys(name ID) []string {
	t := s.tables[name]
	if t == nil {
		return nil
	}
	if t.keys == nil {
		t.keys = make([]string, 0, len(t.partitions))
		for k := range t.partitions {
			t.keys = append(t.keys, k)
		}
		slices.SortFunc(t.keys, strings.Compare)
	}
	return t.keys
}

// Drop forgets a table.
func (s *Store) Drop(name ID) { delete(s.tables, name) }

// DropColumn forgets a column of a table.
func (s *Store) DropColumn(name ID, column string) {
	t := s.tables[name]
	if t == nil {
		return
	}
	without := func(r *Row) *Row {
		out := *r
		out.Cells = slices.DeleteFunc(slices.Clone(r.Cells), func(c Cell) bool { return c.Column == column })
		return &out
	}
	for _, p := range t.partitions {
		if p.Static != nil {
			p.Static = without(p.Static)
		}
		for i, r := range p.Rows {
			p.Rows[i] = without(r)
		}
	}
}

// Put stores a partition in place of what there is.
func (s *Store) Put(name ID, key string, p *Partition) {
	t := s.tables[name]
	if t == nil || t.partitions[key] == nil {
		s.Apply(name, key, NewPartition(), nil)
		t = s.tables[name]
	}
	t.partitions[key] = p
}

package reader

import (
	"bytes"
	"errors"
)

// merger returns the rows of a group in order. It is a heap of the streams that have rows, the one with the next row on
// top.
type merger[T any] struct {
	read *read[T]
	heap []*stream[T]
	last [][]byte // the key given last by the stream at hand, to see that streams are in order
}

// errDisorder says that a partition's rows came in another order than they are merged in.
var errDisorder = errors.New("rows came in another order than the declared clustering key: compare the live table " +
	"with the declaration")

// newMerger waits for the first page of every stream.
func newMerger[T any](r *read[T], streams []*stream[T]) (*merger[T], error) {
	m := &merger[T]{read: r}
	for _, s := range streams {
		ok, err := m.turn(s)
		if err != nil {
			return nil, err
		}
		if ok {
			m.heap = append(m.heap, s)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

// turn gives the stream its next page with rows, and says whether there was one.
func (m *merger[T]) turn(s *stream[T]) (bool, error) {
	m.last = m.last[:0]
	if p := s.page; p != nil {
		if p.last {
			return false, nil
		}
		m.last = append(m.last, p.key(len(p.rows)-1, m.read.plan.kept)...) // the bytes outlive the page
		s.page = nil
		s.give(p)
	}
	p, err := s.wait()
	if err != nil {
		return false, err
	}
	s.page, s.pos = p, 0
	if len(p.rows) == 0 { // only a last page has none
		return false, nil
	}
	if len(m.last) > 0 && !m.rises(m.last, m.key(s)) {
		return false, s.fail(errDisorder, 0)
	}
	return true, nil
}

// wait waits for a page.
func (s *stream[T]) wait() (*page[T], error) {
	select {
	case p := <-s.pages:
		return p, p.err
	case <-s.read.ctx.Done():
		return nil, s.fail(s.read.ctx.Err(), 0)
	}
}

// key is that of the next row of a stream.
func (m *merger[T]) key(s *stream[T]) [][]byte { return s.page.key(s.pos, m.read.plan.kept) }

// next gives the stream that has the next row, at its position, and nil at the end of the group. The row is good until
// advance.
func (m *merger[T]) next() *stream[T] {
	if len(m.heap) == 0 {
		return nil
	}
	return m.heap[0]
}

// advance goes on after the row that next gave.
func (m *merger[T]) advance() error {
	s := m.heap[0]
	s.pos++
	if s.pos < len(s.page.rows) {
		if !m.rises(s.page.key(s.pos-1, m.read.plan.kept), m.key(s)) {
			return s.fail(errDisorder, 0)
		}
		m.down(0)
		return nil
	}
	more, err := m.turn(s)
	if err != nil {
		return err
	}
	if !more {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down(0)
	return nil
}

// rises says whether a partition's next key follows on its last one.
func (m *merger[T]) rises(last, next [][]byte) bool { return m.read.plan.compare(last, next) < 0 }

// down restores the heap below i.
func (m *merger[T]) down(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(m.heap) && m.less(m.heap[child], m.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// less orders rows by key, and rows of equal keys by partition.
func (m *merger[T]) less(a, b *stream[T]) bool {
	if c := m.read.plan.compare(m.key(a), m.key(b)); c != 0 {
		return c < 0
	}
	return bytes.Compare(a.partition.id, b.partition.id) < 0
}

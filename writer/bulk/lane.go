package bulk

import (
	"fmt"
)

// lane is the items of a lane that are not saved.
type lane struct {
	name  string
	begun bool
	last  int64 // that was read
	open  []*mark
	upTo  int64 // all are acknowledged
	moved bool  // since it was saved
	held  bool  // by an item that failed
	stays bool  // at what is saved: an item has failed whose position is not above those before it
}

// mark is an item's place in its lane.
type mark struct {
	position int64
	done     bool
}

// read notes an item. After an item that failed nothing has to be kept.
func (l *lane) read(position int64) (*mark, error) {
	if l.begun && position <= l.last {
		l.stays, l.moved = true, false
		return nil, fmt.Errorf("position %d of lane %q comes after %d: with Checkpoint positions rise", position, l.name,
			l.last)
	}
	l.begun, l.last = true, position
	if l.held {
		return nil, nil //nolint:nilnil // there is no mark
	}
	m := &mark{position: position}
	l.open = append(l.open, m)
	return m, nil
}

// end notes what became of an item.
func (l *lane) end(m *mark, err error) {
	switch {
	case err != nil:
		l.held = true
	case m != nil:
		m.done = true
	}
	for len(l.open) > 0 && l.open[0].done {
		l.upTo, l.moved = l.open[0].position, !l.stays
		l.open[0], l.open = nil, l.open[1:]
	}
}

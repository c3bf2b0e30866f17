package bulk

import (
	"cmp"
	"slices"
)

// ordering holds back items that come after others of their entity, or of a key of a Unique table that both take or
// give up: at most one of those is ready or in flight. An item that fails parks the items after it.
type ordering struct {
	lines  map[orderKey]line
	parked map[orderKey]error // of which a change has failed
	kept   int                // bytes of the rows of those changes
	count  int                // of all items
}

// orderKey names an entity, which has the name of its set and no keyspace, or a key of a Unique table.
type orderKey struct{ keyspace, table, key string }

// line is the items of one key.
type line struct {
	first *entry
	after []*entry
}

// What is remembered of entities that failed. All of it is needed until the end of the run, so that no later change is
// written before them.
const (
	mostParked      = 10_000
	mostParkedBytes = 64 << 20
)

// enter adds an item, and says whether it comes after no other. A cause is the error of an earlier item, which parks
// this one.
func (o *ordering) enter(e *entry) (first bool, cause error) {
	for _, k := range e.order {
		if cause, ok := o.parked[k]; ok {
			o.remember(e, cause)
			return false, cause
		}
	}
	o.count++
	e.number = o.count
	for _, k := range e.order {
		l, busy := o.lines[k]
		if !busy {
			o.lines[k] = line{first: e}
			continue
		}
		l.after = append(l.after, e)
		o.lines[k] = l
		e.behind++
	}
	return e.behind == 0, nil
}

// remember parks the keys of an item.
func (o *ordering) remember(e *entry, cause error) {
	for _, k := range e.order {
		if _, ok := o.parked[k]; !ok {
			o.parked[k] = cause
		}
	}
}

// full says that no more can be remembered.
func (o *ordering) full() bool { return len(o.parked) >= mostParked || o.kept >= mostParkedBytes }

// leave ends an item that was acknowledged, and calls ready for those that no longer come after another.
func (o *ordering) leave(e *entry, ready func(*entry)) {
	for _, k := range e.order {
		l := o.lines[k]
		if len(l.after) == 0 {
			delete(o.lines, k)
			continue
		}
		next := l.after[0]
		l.after[0] = nil
		o.lines[k] = line{next, l.after[1:]}
		if next.behind--; next.behind == 0 {
			ready(next)
		}
	}
}

// fail ends an item that failed, and returns those that it parks, in the order of the source: what comes after it, what
// comes after that, and so on.
func (o *ordering) fail(e *entry, cause error) []*entry {
	o.kept += e.held
	all := []*entry{e}
	for n := 0; n < len(all); n++ {
		o.remember(all[n], cause)
		for _, k := range all[n].order {
			for _, p := range o.cut(k, all[n]) {
				if !p.out {
					p.out = true
					all = append(all, p)
				}
			}
		}
	}
	return bySource(all[1:])
}

// cut removes an item from a line, with those after it, and returns the latter.
func (o *ordering) cut(k orderKey, e *entry) []*entry {
	l, ok := o.lines[k]
	if ok && l.first == e {
		delete(o.lines, k)
		return l.after
	}
	at := slices.Index(l.after, e)
	if at < 0 {
		return nil // it was cut off before
	}
	o.lines[k] = line{l.first, l.after[:at:at]}
	return l.after[at+1:]
}

// rest returns all items that come after others, and forgets them.
func (o *ordering) rest() (all []*entry) {
	for _, l := range o.lines {
		for _, e := range l.after {
			if !e.out {
				e.out = true
				all = append(all, e)
			}
		}
	}
	clear(o.lines)
	return all
}

func bySource(items []*entry) []*entry {
	slices.SortFunc(items, func(a, b *entry) int { return cmp.Compare(a.number, b.number) })
	return items
}

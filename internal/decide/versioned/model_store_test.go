package versioned_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// store is an entity as a process sees it.
type store struct {
	p *process
	e int
}

func (p *process) store(e int) versioned.Store {
	s := &store{p, e}
	if p.w.plan.store != nil {
		return p.w.plan.store(s)
	}
	return s
}

func (s *store) Read(context.Context) (versioned.Row, error) {
	var out versioned.Row
	w := s.p.w
	err := s.p.request(w.describe(func() string { return fmt.Sprintf("read %d", s.e) }), func() {
		out = w.read(s.e)
		w.logf("row %d is %s at %s, done %s", s.e, w.rows[s.e].columns, out.Version, out.Done)
	})
	if err != nil {
		return versioned.Row{}, err
	}
	return out, nil
}

func (w *world) read(e int) versioned.Row {
	r := w.seen(&w.rows[e])
	out := versioned.Row{
		Version: r.current(w.now), Present: r.columns != nil, Pending: r.pending, Done: w.done(r),
		Recent: maps.Clone(r.recent),
	}
	if r.forgets != 0 && w.now >= r.forgets {
		out.Recent = nil
	}
	if r.columns != nil {
		out.Columns = r.columns
	}
	if out.Pending != nil && out.Version == (gocql.UUID{}) {
		w.coverage.expired = true
	}
	if w.plan.recent != nil {
		out.Recent = w.plan.recent(out.Recent)
	}
	return out
}

func (s *store) Swap(_ context.Context, swap versioned.Swap) (versioned.Reply, error) {
	var reply versioned.Reply
	w := s.p.w
	err := s.p.request(w.describe(func() string {
		after, _ := swap.After.(*columns)
		return fmt.Sprintf("swap %d from %s to %s %s", s.e, short(swap.Before), short(swap.Version), after)
	}), func() {
		reply = w.swap(s.e, swap)
		w.logf("applied %t, row at %s", reply.Applied, reply.Version)
	})
	if err != nil {
		return versioned.Reply{}, err
	}
	return reply, nil
}

// ApplyToQueryTables is one request per row, each with a fate of its own.
func (s *store) ApplyToQueryTables(_ context.Context, r versioned.Row, version gocql.UUID, places []byte) error {
	w, at := s.p.w, entity.Timestamp(version)
	c, _ := r.Columns.(*columns)
	var first error
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	for t := range w.tables {
		var own uint8
		if c != nil {
			own = c.places[t]
		}
		if own != 0 {
			note(s.p.request(w.describe(func() string {
				return fmt.Sprintf("put %d into %d: %s at %s", s.e, t, c, short(version))
			}),
				func() { w.put(t, s.e, c, at) }))
		}
		if len(places) > 0 && places[t] != own && places[t] != 0 {
			place := places[t]
			note(s.p.request(w.describe(func() string {
				return fmt.Sprintf("remove %d from %d under %d at %s", s.e, t, place, short(version))
			}), func() { w.remove(t, s.e, place, at) }))
		}
	}
	return first
}

func (s *store) Finish(_ context.Context, version gocql.UUID) error {
	return s.mark("finish", version, version)
}

// mark writes the column done, perhaps on a few replicas only.
func (s *store) mark(name string, version, value gocql.UUID) error {
	w := s.p.w
	partial := !s.p.calm && w.chance(w.chaos.partial)
	err := s.p.request(w.describe(func() string { return fmt.Sprintf("%s %d at %s", name, s.e, short(version)) }), func() {
		r := &w.rows[s.e]
		c := &r.done
		if partial {
			c = &r.partial
		}
		if at := entity.Timestamp(version); at > c.at {
			*c = cell{value, at}
		}
	})
	if partial && err == nil {
		err = errLost
	}
	return err
}

func (s *store) Forget(_ context.Context, p entity.Pending) error {
	if err := s.mark("forget", p.Version, gocql.UUID{}); err != nil {
		return err
	}
	w := s.p.w
	return s.p.request(w.describe(func() string { return fmt.Sprintf("drop %d: %s", s.e, short(p.Version)) }), func() {
		r := &w.rows[s.e]
		same := r.pending != nil && r.pending.Version == p.Version && bytes.Equal(r.pending.Keys, p.Keys)
		if same || w.plan.dropAny {
			r.pending = nil
		}
	})
}

func (s *store) Try(ctx context.Context, attempt func(context.Context) error) (retry.Outcome, error) {
	return s.p.try(ctx, attempt)
}

// key is a unique key on behalf of an entity.
type key struct {
	p *process
	e int
	u int // the table
	k uint8
}

func (p *process) key(e, u int, k uint8) versioned.Key {
	out := &key{p, e, u, k}
	if p.w.plan.key != nil {
		return p.w.plan.key(out)
	}
	return out
}

var owners = [entities]string{"a", "b"}

func owner(e int) string { return owners[e] }

func (k *key) Self() string { return owner(k.e) }

func (k *key) OfID() bool { return k.u == 0 }

func (k *key) Read(context.Context) (versioned.Claim, error) {
	var out versioned.Claim
	w := k.p.w
	err := k.p.request(w.describe(func() string { return fmt.Sprintf("read key %d/%d", k.u, k.k) }), func() {
		out = w.claims[k.u][k.k]
		w.logf("key %d/%d is %q's, token %s", k.u, k.k, out.Owner, out.Token)
	})
	return out, err
}

func (k *key) Take(_ context.Context, token gocql.UUID) (versioned.Claim, error) {
	var applied bool
	var now versioned.Claim
	w := k.p.w
	err := k.p.request(w.describe(func() string {
		return fmt.Sprintf("take key %d/%d for %s, token %s", k.u, k.k, k.Self(), short(token))
	}), func() {
		now = w.claims[k.u][k.k]
		if applied = now.Owner == ""; applied {
			w.setClaim(k.u, k.k, versioned.Claim{Owner: k.Self(), Token: token})
		}
		w.logf("applied %t, key %d/%d was %q's, token %s", applied, k.u, k.k, now.Owner, now.Token)
		now = w.claims[k.u][k.k]
	})
	if err != nil {
		return versioned.Claim{}, err
	}
	return now, nil
}

func (k *key) Replace(_ context.Context, seen, token gocql.UUID) (gocql.UUID, error) {
	var applied bool
	var now versioned.Claim
	w := k.p.w
	err := k.p.request(w.describe(func() string {
		return fmt.Sprintf("replace key %d/%d for %s, token %s for %s", k.u, k.k, k.Self(), short(token), short(seen))
	}), func() {
		now = w.claims[k.u][k.k]
		if applied = now.Owner != "" && now.Token == seen; applied {
			if now.Owner != k.Self() {
				w.coverage.evicted = true
			}
			w.setClaim(k.u, k.k, versioned.Claim{Owner: k.Self(), Token: token})
		}
		w.logf("applied %t, key %d/%d was %q's, token %s", applied, k.u, k.k, now.Owner, now.Token)
		now = w.claims[k.u][k.k]
	})
	if err != nil {
		return gocql.UUID{}, err
	}
	return now.Token, nil
}

func (k *key) Free(_ context.Context, token gocql.UUID) error {
	w := k.p.w
	return k.p.request(w.describe(func() string {
		return fmt.Sprintf("free key %d/%d for %s, token %s", k.u, k.k, k.Self(), short(token))
	}), func() {
		if w.claims[k.u][k.k].Token == token {
			w.setClaim(k.u, k.k, versioned.Claim{})
		}
	})
}

func (w *world) setClaim(u int, k uint8, c versioned.Claim) {
	w.claims[u][k] = c
	w.judgeClaims()
}

func (k *key) Base(of string) versioned.Store {
	for e := range entities {
		if owner(e) == of {
			if k.p.w.plan.base != nil {
				return k.p.w.plan.base(k.p.store(e))
			}
			return k.p.store(e)
		}
	}
	panic("no such entity")
}

func (k *key) String() string { return "key" }

func (k *key) Held(row versioned.Row) bool {
	c, _ := row.Columns.(*columns)
	return c != nil && c.keys[k.u] == k.k
}

// describe is the name of a request, if anybody will read it.
func (w *world) describe(name func() string) string {
	if w.history == nil {
		return ""
	}
	return name()
}

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// item is the row of all contenders.
type item struct {
	ItemID    gocql.UUID
	Status    string
	Email     string
	Note      string
	UpdatedAt int64
	Version   gocql.UUID
}

func items(prefix string, rules ...tables.Option) *tables.Set[item] {
	return tables.Must(tables.New[item](prefix, append([]tables.Option{
		tables.Table{Name: prefix + "_by_id", PartKey: []string{"item_id"}},
		tables.Table{Name: prefix + "_by_status", PartKey: []string{"status"}, SortKey: []string{"item_id"}},
	}, rules...)...))
}

var (
	plain     = items("plain")
	single    = items("single", tables.SingleWriter("status"))
	oneOf     = items("one_of", tables.OneOf("status", "open", "paid", "shipped", "cancelled"), tables.Stamp("updated_at"))
	inGroups  = []writer.Option{writer.Concurrent(), writer.Group(4 << 10)}
	versioned = items("versioned", tables.Versioned("version"))
	unique    = items("unique_items", tables.Versioned("version"), tables.Table{Name: "unique_items_by_email", PartKey: []string{"email"}, Unique: true})
)

// changeBench changes items in sets of different rules. No two writes meet: this is the price of the rule, not of contention.
type changeBench struct {
	rounds, writes int
	writer         *writer.Writer
}

func (b *changeBench) flags(f *flag.FlagSet) {
	f.IntVar(&b.rounds, "rounds", 9, "how many rounds")
	f.IntVar(&b.writes, "writes", 200, "writes of each contender a round")
}

func (b *changeBench) schema() *schema.Schema {
	return schema.Must(schema.Declare(schema.Sets(plain, single, oneOf, versioned, unique)))
}

func (b *changeBench) run(ctx context.Context, p *place) (_ map[string]string, err error) {
	if b.writer, err = writer.New(p.admin); err != nil {
		return nil, err
	}
	list := b.contenders()
	for round := range b.rounds + 1 {
		progress("round %d of %d", round, b.rounds)
		for _, i := range rand.Perm(len(list)) {
			c := list[i]
			alone, err := c.load(ctx, 1, b.writes/2)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", c.verb, c.rule, err)
			}
			many, err := c.load(ctx, clients, b.writes)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", c.verb, c.rule, err)
			}
			if round > 0 { // the first prepares statements and warms the servers
				c.alone.add(alone)
				c.many.add(many)
			}
		}
	}
	return map[string]string{"changes.md": b.report(list, p.hosts)}, nil
}

// clients write at the same time in the second figure.
const clients = 8

// changer is one way to change an entity.
type changer struct {
	verb, rule, sent string
	// prepare makes a change of a new entity ready, and do carries it out.
	prepare     func(context.Context) (do func(context.Context) error, err error)
	alone, many figure // p50 in milliseconds
}

// load gives the median latency in milliseconds.
func (c *changer) load(ctx context.Context, clients, writes int) (float64, error) {
	ready := make([]func(context.Context) error, writes)
	if err := share(clients*2, writes, func(i int) (err error) {
		ready[i], err = c.prepare(ctx)
		return err
	}); err != nil {
		return 0, err
	}
	latencies := make([]time.Duration, writes)
	err := share(clients, writes, func(i int) error {
		start := time.Now()
		defer func() { latencies[i] = time.Since(start) }()
		return ready[i](ctx)
	})
	return p50(latencies), err
}

func newItem() item {
	id := gocql.MustRandomUUID()
	return item{ItemID: id, Status: "open", Email: id.String() + "@example.org", Note: "a note of some length"}
}

// inserts makes a contender that inserts, and moves one that updates what it has inserted before, changed by edit.
func (b *changeBench) inserts(rule, sent string, s *tables.Set[item], options ...writer.Option) *changer {
	w := b.writer.With(options...)
	return &changer{verb: "insert", rule: rule, sent: sent, prepare: func(context.Context) (func(context.Context) error, error) {
		row := newItem()
		return func(ctx context.Context) error {
			_, err := w.Write(ctx, "createItem", s.Insert(row))
			return err
		}, nil
	}}
}

func (b *changeBench) updates(
	verb, rule, sent string, s *tables.Set[item], edit func(*item), options ...writer.Option,
) *changer {
	w := b.writer.With(options...)
	return &changer{verb: verb, rule: rule, sent: sent, prepare: func(ctx context.Context) (func(context.Context) error, error) {
		before := newItem()
		result, err := b.writer.Write(ctx, "createItem", s.Insert(before))
		if err != nil {
			return nil, err
		}
		if err := b.writer.Wait(ctx); err != nil { // the change comes later than what its insert left
			return nil, err
		}
		s.SetStamp(&before, result.Timestamp)
		s.Internal().SetVersion(&before, result.Version)
		after := before
		edit(&after)
		return func(ctx context.Context) error {
			_, err := w.Write(ctx, "changeItem", s.Update(before, after))
			return err
		}, nil
	}}
}

func (b *changeBench) contenders() []*changer {
	note := func(i *item) { i.Note = "another note of some length" }
	move := func(i *item) { i.Status = "paid" }
	return []*changer{
		b.inserts("plain", "fan-out of 2", plain),
		b.inserts("plain, Group", "group of 2", plain, inGroups...),
		b.inserts("OneOf", "fan-out of 2", oneOf),
		b.inserts("Versioned", "transaction, fan-out of 1, removal of its entry in the background", versioned),
		b.inserts("Versioned, Unique", "the same after a transaction that claims the key", unique),
		b.updates("update", "plain", "fan-out of 2", plain, note),
		b.updates("update", "plain, Group", "group of 2", plain, note, inGroups...),
		b.updates("update", "OneOf", "logged batch of 5: the sweep", oneOf, note),
		b.updates("update", "OneOf, Concurrent", "fan-out of 5", oneOf, note, writer.Concurrent()),
		b.updates("update", "OneOf, Concurrent, Group", "group of 5", oneOf, note, inGroups...),
		b.updates("update", "Versioned", "transaction, fan-out of 1, removal of its entry in the background", versioned, note),
		b.updates("move", "SingleWriter", "logged batch of 3", single, move),
		b.updates("move", "OneOf", "logged batch of 5", oneOf, move),
		b.updates("move", "OneOf, Concurrent, Group", "group of 5", oneOf, move, inGroups...),
		b.updates("move", "Versioned", "transaction, fan-out of 2, removal of its entry in the background", versioned, move),
	}
}

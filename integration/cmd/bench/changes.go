package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

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
	return itemsBy([]string{"status"}, prefix, rules...)
}

// itemsBy are items whose query table is by these columns.
func itemsBy(key []string, prefix string, rules ...tables.Option) *tables.Set[item] {
	return tables.Must(tables.New[item](prefix, append([]tables.Option{
		tables.Table{Name: prefix + "_by_id", PartKey: []string{"item_id"}},
		tables.Table{Name: prefix + "_by_status", PartKey: key, SortKey: []string{"item_id"}},
	}, rules...)...))
}

var (
	plain     = items("plain")
	hand      = items("hand") // the tables of what is written by hand
	single    = items("single", tables.SingleWriter("status"))
	oneOf     = items("one_of", tables.OneOf("status", "open", "paid", "shipped", "cancelled"), tables.Stamp("updated_at"))
	inGroups  = []writer.Option{writer.Concurrent(), writer.Group(4 << 10)}
	versioned = items("versioned", tables.Versioned("version"))
	unique    = items("unique_items", tables.Versioned("version"), tables.Table{Name: "unique_items_by_email", PartKey: []string{"email"}, Unique: true})
)

// changeBench changes items in sets of different rules, and by hand. No two writes meet: this is the price of the rule, not of contention.
type changeBench struct {
	contest
	writer *writer.Writer
}

func (b *changeBench) flags(f *flag.FlagSet) {
	b.contest = contest{rounds: 5, turns: 1, alone: 100, many: 300}
	b.contest.flags(f)
}

func (b *changeBench) schema() *schema.Schema {
	return schema.Must(schema.Declare(schema.Sets(plain, hand, single, oneOf, versioned, unique)))
}

func (b *changeBench) run(ctx context.Context, p *place) (_ map[string]string, err error) {
	if b.writer, err = writer.New(p.admin); err != nil {
		return nil, err
	}
	var paxos string
	if err := p.admin.Reads().Query(`SELECT value FROM system_views.settings WHERE name = 'paxos_variant'`).
		Consistency(gocql.One).WithContext(ctx).Scan(&paxos); err != nil {
		return nil, err
	}
	sections := b.sections(changeByHand{p.admin.Writes()})
	if err := b.compete(ctx, p, sections); err != nil {
		return nil, err
	}
	name, other := "changes", "[With v2](changes-paxos-v2.md)."
	if paxos != "v1" {
		name, other = "changes-paxos-"+paxos, "[With v1](changes.md), Cassandra's default."
	}
	text, files := answer(name, sections)
	files[name+".md"] = fmt.Sprintf(`# What a change costs, by the rules of its set

An entity in two tables, by id and by status.

%s
No two changes meet, and each comes when that of its insert is done. These nodes have `+"`paxos_variant: %s`"+`. %s

%s%s`, b.method(p), paxos, other, text, written("bench"))
	return files, nil
}

func newItem() item {
	id := gocql.MustRandomUUID()
	return item{ItemID: id, Status: "open", Email: id.String() + "@example.org", Note: "a note of some length"}
}

// inserts makes a contender that inserts, and updates one that changes by edit what it has inserted before.
func (b *changeBench) inserts(name string, s *tables.Set[item], options ...writer.Option) *contender {
	w := b.writer.With(options...)
	return &contender{name: name, settle: b.writer.Wait, prepare: func(context.Context) (write, error) {
		row := newItem()
		return func(ctx context.Context) error {
			_, err := w.Write(ctx, "createItem", s.Insert(row))
			return err
		}, nil
	}}
}

func (b *changeBench) updates(name string, s *tables.Set[item], edit func(*item), options ...writer.Option) *contender {
	w := b.writer.With(options...)
	return &contender{name: name, settle: b.writer.Wait, prepare: func(ctx context.Context) (write, error) {
		before := newItem()
		result, err := b.writer.Write(ctx, "createItem", s.Insert(before))
		if err != nil {
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

// sections have the contenders by what they do.
func (b *changeBench) sections(x changeByHand) []section {
	note := func(i *item) { i.Note = "another note of some length" }
	move := func(i *item) { i.Status = "paid" }
	return []section{
		changes("insert", "an insert", "inserts", []string{"insert by hand", "insert, plain"},
			x.inserts("insert by hand", false),
			b.inserts("insert, plain", plain),
			b.inserts("insert, plain, Group", plain, inGroups...),
			b.inserts("insert, OneOf", oneOf),
			x.inserts("insert if not exists by hand", true),
			b.inserts("insert, Versioned", versioned),
			b.inserts("insert, Versioned, Unique", unique)),
		changes("update", "an update", "updates", []string{"update by hand", "update, plain"},
			x.updates("update by hand", note, x.fanOut),
			b.updates("update, plain", plain, note),
			b.updates("update, plain, Group", plain, note, inGroups...),
			b.updates("update, OneOf", oneOf, note),
			b.updates("update, OneOf, Concurrent", oneOf, note, writer.Concurrent()),
			b.updates("update, OneOf, Concurrent, Group", oneOf, note, inGroups...)),
		changes("move", "a move", "moves", []string{"move by hand, logged batch", "move, SingleWriter"},
			x.updates("move by hand, logged batch", move, x.batch(gocql.LoggedBatch)),
			x.updates("move by hand, unlogged batch", move, x.batch(gocql.UnloggedBatch)),
			b.updates("move, SingleWriter", single, move),
			b.updates("move, OneOf", oneOf, move),
			b.updates("move, OneOf, Concurrent, Group", oneOf, move, inGroups...)),
		changes("versioned", "a versioned change", "versioned changes", []string{"plain update", "compare-and-set by hand"},
			b.updates("plain update", plain, note),
			x.updates("compare-and-set by hand", note, x.compareAndSet),
			b.updates("Versioned update", versioned, note),
			x.updates("compare-and-set by hand, move", move, x.compareAndSet),
			b.updates("Versioned move", versioned, move)),
	}
}

// changes are contenders that are asked what they cost, and how long they take.
func changes(file, one, several string, bases []string, list ...*contender) section {
	return section{list: list, bases: bases, questions: []question{
		{"What does " + one + " cost?", file + "-cost", slices.Concat(serversCPU, clientCPU, requests, allocations)},
		{"How long does " + one + " take?", file + "-latency", latencies()},
		{"How many " + several + " a second?", file + "-throughput", perSecond},
	}}
}

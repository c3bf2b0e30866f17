package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
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

func set(prefix string, rules ...tables.Option) *tables.Set[item] {
	return tables.Must(tables.New[item](prefix, append([]tables.Option{
		tables.Table{Name: prefix + "_by_id", PartKey: []string{"item_id"}},
		tables.Table{Name: prefix + "_by_status", PartKey: []string{"status"}, SortKey: []string{"item_id"}},
	}, rules...)...))
}

var (
	plain     = set("plain")
	single    = set("single", tables.SingleWriter("status"))
	oneOf     = set("one_of", tables.OneOf("status", "open", "paid", "shipped", "cancelled"), tables.Stamp("updated_at"))
	versioned = set("versioned", tables.Versioned("version"))
	unique    = set("unique_items", tables.Versioned("version"), tables.Table{Name: "unique_items_by_email", PartKey: []string{"email"}, Unique: true})
)

// place is a keyspace of the run's own, dropped when it ends.
type place struct {
	sessions []*session.Session // the first is that of the keyspace's creation
	keyspace string
	writer   *writer.Writer
}

func open(ctx context.Context, hosts []string) (*place, error) {
	p := &place{keyspace: fmt.Sprintf("changes_%d_%d", os.Getpid(), time.Now().Unix())}
	connect := func(keyspace string) (*session.Session, error) {
		c := gocql.NewCluster(hosts...)
		c.Keyspace = keyspace
		s, err := session.Open(c, session.Adjust(func(c *gocql.ClusterConfig) { c.Timeout = 30 * time.Second }))
		if err == nil {
			p.sessions = append(p.sessions, s)
		}
		return s, err
	}
	admin, err := connect("")
	if err != nil {
		return nil, err
	}
	if err := admin.Reads().Query(fmt.Sprintf(`CREATE KEYSPACE %s WITH replication =
		{'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`, p.keyspace, len(hosts))).WithContext(ctx).Exec(); err != nil {
		p.close()
		return nil, err
	}
	s, err := connect(p.keyspace)
	if err == nil {
		err = schema.Ensure(ctx, s, schema.Must(schema.Declare(schema.Sets(plain, single, oneOf, versioned, unique))))
	}
	if err == nil {
		p.writer, err = writer.New(s)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func newItem() item {
	id := gocql.MustRandomUUID()
	return item{ItemID: id, Status: "open", Email: id.String() + "@example.org", Note: "a note of some length"}
}

// inserts makes a contender that inserts, and moves one that updates what it has inserted before, changed by edit.
func (p *place) inserts(rule, sent string, s *tables.Set[item]) *contender {
	return &contender{verb: "insert", rule: rule, sent: sent, prepare: func(context.Context) (func(context.Context) error, error) {
		row := newItem()
		return func(ctx context.Context) error {
			_, err := p.writer.Write(ctx, "createItem", s.Insert(row))
			return err
		}, nil
	}}
}

func (p *place) updates(verb, rule, sent string, s *tables.Set[item], edit func(*item)) *contender {
	return &contender{verb: verb, rule: rule, sent: sent, prepare: func(ctx context.Context) (func(context.Context) error, error) {
		before := newItem()
		result, err := p.writer.Write(ctx, "createItem", s.Insert(before))
		if err != nil {
			return nil, err
		}
		s.SetStamp(&before, result.Timestamp)
		s.Internal().SetVersion(&before, result.Version)
		after := before
		edit(&after)
		return func(ctx context.Context) error {
			_, err := p.writer.Write(ctx, "changeItem", s.Update(before, after))
			return err
		}, nil
	}}
}

func (p *place) contenders() []*contender {
	note := func(i *item) { i.Note = "another note of some length" }
	move := func(i *item) { i.Status = "paid" }
	return []*contender{
		p.inserts("plain", "fan-out of 2", plain),
		p.inserts("OneOf", "fan-out of 2", oneOf),
		p.inserts("Versioned", "transaction, fan-out of 1, removal of the mark", versioned),
		p.inserts("Versioned, Unique", "the same after a transaction that claims the key", unique),
		p.updates("update", "plain", "fan-out of 2", plain, note),
		p.updates("update", "OneOf", "logged batch of 5: the sweep", oneOf, note),
		p.updates("update", "Versioned", "transaction, fan-out of 1, removal of the mark", versioned, note),
		p.updates("move", "SingleWriter", "logged batch of 3", single, move),
		p.updates("move", "OneOf", "logged batch of 5", oneOf, move),
		p.updates("move", "Versioned", "transaction, fan-out of 2, removal of the mark", versioned, move),
	}
}

func (p *place) close() {
	if err := p.sessions[0].Reads().Query(`DROP KEYSPACE IF EXISTS ` + p.keyspace).Exec(); err != nil {
		fmt.Fprintln(os.Stderr, "changes: drop keyspace:", err)
	}
	for _, s := range p.sessions {
		s.Close()
	}
}

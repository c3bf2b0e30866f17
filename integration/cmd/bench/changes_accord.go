package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// owned are items whose query table is by address and status: no two items share a partition, for which transactions would wait.
func owned(prefix string, rules ...tables.Option) *tables.Set[item] {
	return itemsBy([]string{"email", "status"}, prefix, rules...)
}

func ofEmail(prefix string) tables.Option {
	return tables.Table{Name: prefix + "_of_email", PartKey: []string{"email"}, Unique: true}
}

var (
	version = tables.Versioned("version")

	ownedPlain         = owned("owned")
	ownedSingle        = owned("owned_single", tables.SingleWriter("status"))
	ownedOneOf         = owned("owned_one_of", tables.OneOf("status", "open", "paid"), tables.Stamp("updated_at"))
	ownedVersioned     = owned("owned_versioned", version)
	ownedUnique        = owned("owned_unique", version, ofEmail("owned_unique"))
	transactional      = owned("transacted", version, tables.Transactional())
	transactionalKeys  = owned("transacted_unique", version, tables.Transactional(), ofEmail("transacted_unique"))
	transactionalShare = items("shared", version, tables.Transactional())
)

// accordBench compares transactions of Cassandra 6 with the other rules, on one cluster.
type accordBench struct{ changeBench }

func (b *accordBench) schema() *schema.Schema {
	return schema.Must(schema.Declare(schema.Sets(ownedPlain, ownedSingle, ownedOneOf, ownedVersioned, ownedUnique,
		transactional, transactionalKeys, transactionalShare)))
}

func (b *accordBench) run(ctx context.Context, p *place) (_ map[string]string, err error) {
	if b.writer, err = writer.New(p.admin); err != nil {
		return nil, err
	}
	var release string
	if err := p.admin.Reads().Query(`SELECT release_version FROM system.local`).Consistency(gocql.One).WithContext(ctx).Scan(&release); err != nil {
		return nil, err
	}
	sections := b.sections(changeByHand{p.admin.Writes()})
	if err := b.compete(ctx, p, sections); err != nil {
		return nil, err
	}
	text, files := answer("accord-benchmark", sections)
	files["accord-benchmark.md"] = fmt.Sprintf(`# What a change costs in a transaction of Cassandra 6

Cassandra %s, an alpha. An entity in two tables, by id, and by address and status, and of sets with Unique in a third one, by address. No two entities
share a partition, but in the lines “shared”, where the second table is by status alone, and transactions wait for each other. Sets that are [Transactional](accord.md) are written and read at QUORUM.

%s
No two changes are of one entity, and each comes when that of its insert is done. See [changes.md](changes.md) for the other rules on Cassandra 5.0.

%s%s`, release, b.method(p), text, written("accordbench"))
	return files, nil
}

// sections have the contenders by what they do.
func (b *accordBench) sections(x changeByHand) []section {
	note := func(i *item) { i.Note = "another note of some length" }
	move := func(i *item) { i.Status = "paid" }
	return []section{
		changes("insert", "an insert", "inserts", []string{"insert, fan-out", "insert, Versioned"},
			b.inserts("insert, fan-out", ownedPlain),
			b.inserts("insert, logged batch", ownedPlain, writer.Logged()),
			b.inserts("insert, OneOf", ownedOneOf),
			b.inserts("insert, Versioned", ownedVersioned),
			b.inserts("insert, Transactional", transactional),
			b.inserts("insert, Versioned, Unique", ownedUnique),
			b.inserts("insert, Transactional, Unique", transactionalKeys),
			b.inserts("insert, Transactional, shared", transactionalShare)),
		changes("update", "an update", "updates", []string{"update, fan-out", "update, Versioned"},
			b.updates("update, fan-out", ownedPlain, note),
			b.updates("update, logged batch", ownedPlain, note, writer.Logged()),
			b.updates("update, OneOf", ownedOneOf, note),
			b.updates("update, Versioned", ownedVersioned, note),
			b.updates("update, Transactional", transactional, note),
			b.byHand("update, transaction by hand", note, x)),
		changes("move", "a move", "moves", []string{"move, SingleWriter", "move, Versioned"},
			b.updates("move, SingleWriter", ownedSingle, move),
			b.updates("move, OneOf", ownedOneOf, move),
			b.updates("move, Versioned", ownedVersioned, move),
			b.updates("move, Transactional", transactional, move)),
	}
}

const updateInTransaction = `BEGIN TRANSACTION
LET row0 = (SELECT version FROM transacted_by_id WHERE item_id = ?);
SELECT row0.version;
IF row0.version = ? THEN
UPDATE transacted_by_id SET status = ?, email = ?, note = ?, updated_at = ?, version = ? WHERE item_id = ?;
INSERT INTO transacted_by_status (item_id, status, email, note, updated_at, version) VALUES (?, ?, ?, ?, ?, ?);
END IF
COMMIT TRANSACTION -- batch
`

// byHand updates the items of a Transactional set as a service would by hand.
func (b *accordBench) byHand(name string, edit func(*item), x changeByHand) *contender {
	return &contender{name: name, prepare: func(ctx context.Context) (write, error) {
		before := newItem()
		result, err := b.writer.Write(ctx, "createItem", transactional.Insert(before))
		if err != nil {
			return nil, err
		}
		before.Version = result.Version
		return limited(func(ctx context.Context) error {
			after := before
			edit(&after)
			after.Version = gocql.TimeUUID()
			values := slices.Concat(
				[]any{before.ItemID, before.Version},
				[]any{after.Status, after.Email, after.Note, after.UpdatedAt, after.Version, after.ItemID},
				insertion("", after).values)
			var found gocql.UUID
			err := x.session.Query(updateInTransaction, values...).Consistency(gocql.Quorum).Idempotent(true).WithContext(ctx).Scan(&found)
			if err == nil && found != before.Version {
				err = errMet
			}
			return err
		}), nil
	}}
}

package writer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/compare"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/dialect"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/schema"
	"github.com/gocql/gocql"
)

// recognize reads what the server says of itself.
func (c *checker) recognize() error {
	local, err := ask(c, cql.Name{}, func(ctx context.Context, _ cql.Name) (map[string]any, error) {
		row := make(map[string]any)
		err := c.session.Query(`SELECT * FROM system.local WHERE key = 'local'`).
			NoSkipMetadata().WithContext(ctx).Consistency(gocql.One).RetryPolicy(driver.NoRetry).MapScan(row)
		if errors.Is(err, gocql.ErrNotFound) {
			err = nil
		}
		return row, err
	})
	c.server = dialect.Of(local)
	release, _ := local["release_version"].(string)
	digits := strings.IndexFunc(release+".", func(r rune) bool { return r < '0' || r > '9' })
	n, _ := strconv.Atoi(release[:digits])
	c.accord = c.server == "" && n >= 6
	return err
}

// mode compares the option transactional_mode of a live table: writes of a Transactional set are transactions, and no others may be.
func (c *checker) mode(id cql.Name) error {
	const option = "transactional_mode"
	wanted := "off"
	if c.d.Transactional {
		wanted = "full"
	}
	if !c.accord {
		if c.d.Transactional {
			c.add(id, compare.Difference{
				Reason:     "the set is Transactional, and the servers have no transactions over tables",
				Impossible: "use Cassandra 6 with accord.enabled, or leave Transactional out of the declaration",
			})
		}
		return nil
	}
	live, err := ask(c, id, func(ctx context.Context, id cql.Name) (live [2]string, err error) {
		var create string
		iter := c.session.Query(`DESCRIBE TABLE ` + cql.Quote(id.Keyspace) + `.` + cql.Quote(id.Name)).
			WithContext(ctx).Consistency(gocql.One).RetryPolicy(driver.NoRetry).Iter()
		iter.Scan(nil, nil, nil, &create)
		live[0], live[1] = cql.TransactionalMode(create)
		return live, iter.Close()
	})
	mode, from := live[0], live[1]
	switch {
	case err != nil || mode == wanted && (from == "none" || from == ""):
	case c.d.Transactional:
		c.add(id, compare.Difference{
			Reason:     "the set is Transactional, and " + option + " is " + cmp.Or(mode, "not known") + migrating(from),
			Impossible: "create a table of another name with " + option + " = 'full', as package schema does, and declare that, or migrate this one: docs/accord.md",
		})
	case mode != "":
		c.add(id, compare.Difference{
			Reason: option + " is " + mode + migrating(from) + ", and the set is not Transactional: its writes carry timestamps, and one that is " +
				"ahead of the servers' clocks hides later transactions",
			Impossible: "declare the set Versioned and Transactional, as the processes that write the table do, or give it tables of its own",
		})
	}
	return err
}

// migrating says from which mode a table is being migrated, if it is.
func migrating(from string) string {
	if from == "" || from == "none" {
		return ""
	}
	return ", while it is migrated from " + from
}

// onServer adds where the documentation of the server contradicts what the set relies on in a table. Notes about the set as a whole come
// with the first of its tables, and notes about the writer with the first table of all.
func (c *checker) onServer(id cql.Name, t entity.TableDescription, live liveTable, first bool) {
	if c.server == "" {
		return
	}
	if !slices.ContainsFunc(c.differences, func(d schema.Difference) bool { return d.Server != "" }) {
		c.doubt(id, dialect.Doubt{Reason: "nothing of this library was tested on it", Do: "test what you rely on, see docs/servers.md"})
		c.against(id, c.levels()...)
	}
	if first {
		c.against(id, c.uses()...)
	}
	d := c.d
	versioned := slices.ContainsFunc(d.Tables[0].Columns, func(col entity.ColumnDescription) bool { return col.Name == entity.PendingColumn })
	base := t.Name == d.Tables[0].Name && t.Keyspace == d.Tables[0].Keyspace
	if !d.Counts && !t.Unique && (!base || !d.Conditional || versioned) { // all others are written by lightweight transactions alone
		c.against(id, dialect.Timestamps)
	}
	if live.ttl == 0 && (base && versioned || fingerprint.Expires(t.Fingerprint)) {
		c.against(id, dialect.Expiry)
	}
}

// levels are the uses that follow from the consistency level of the writer.
func (c *checker) levels() []dialect.Use {
	out := []dialect.Use{dialect.Level}
	if c.w.consistency != gocql.LocalQuorum {
		out = append(out, dialect.NotLocal)
	}
	if c.w.consistency == gocql.One || c.w.consistency == gocql.LocalOne {
		out = append(out, dialect.OneAlone)
	}
	return out
}

// uses are what the set at hand relies on as a whole.
func (c *checker) uses() []dialect.Use {
	d := c.d
	out := []dialect.Use{dialect.Comments}
	if d.Counts {
		return append(out, dialect.Counters)
	}
	if d.Conditional {
		out = append(out, dialect.Conditions)
	}
	batched := d.Tables // by unlogged batches, where they share a partition
	if d.Conditional {
		batched = batched[1:]
	}
	batched = slices.DeleteFunc(slices.Clone(batched), func(t entity.TableDescription) bool { return t.Unique })
	shared, within, apart := false, false, false
	for i, t := range batched {
		partition := keyOf(t, "partition_key")
		moves := slices.ContainsFunc(partition, changes)
		within = within || !moves && slices.ContainsFunc(keyOf(t, "clustering"), changes)
		apart = apart || moves
		for _, other := range batched[:i] {
			same := c.physical(t).Keyspace == c.physical(other).Keyspace && slices.EqualFunc(partition, keyOf(other, "partition_key"), named)
			shared, apart = shared || same, apart || !same
		}
	}
	if shared || within {
		out = append(out, dialect.Partition)
	}
	if shared {
		out = append(out, dialect.Tables)
	}
	if apart && !d.Conditional && c.w.choice != alwaysConcurrent || c.w.choice == alwaysLogged {
		out = append(out, dialect.Logged)
	}
	return out
}

// keyOf returns the columns of a table that are of a kind, in order.
func keyOf(t entity.TableDescription, kind string) []entity.ColumnDescription {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c entity.ColumnDescription) bool { return c.Kind != kind })
}

func changes(c entity.ColumnDescription) bool { return c.Changes }

func named(a, b entity.ColumnDescription) bool { return a.Name == b.Name }

// against adds where the documentation of the server contradicts uses.
func (c *checker) against(id cql.Name, uses ...dialect.Use) {
	for _, use := range uses {
		if d, ok := c.server.Against(use); ok {
			c.doubt(id, d)
		}
	}
}

func (c *checker) doubt(id cql.Name, d dialect.Doubt) {
	c.differences = append(c.differences, schema.Difference{
		Keyspace: id.Keyspace, Table: id.Name, Server: string(c.server), Reason: "the server is " + string(c.server) + ": " + d.Reason, Note: true,
		Fix: d.Statement(id.String()), Impossible: d.Do,
	})
}

package tables_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// account is a row type with what a Versioned set wants.
type account struct {
	ID        gocql.UUID
	Email     *string
	Level     int32
	Note      *string
	UpdatedAt int64
	Version   gocql.UUID
}

var (
	accounts        = tables.Table{Name: "accounts", PartKey: []string{"id"}}
	accountsByLevel = tables.Table{Name: "accounts_by_level", PartKey: []string{"level"}, SortKey: []string{"id"}}
	accountsByEmail = tables.Table{Name: "accounts_by_email", PartKey: []string{"email"}, Unique: true}
	versioned       = tables.Versioned("version")
)

func TestConditionsAreDeclaredSoundly(t *testing.T) {
	t.Parallel()
	type absent struct {
		ID      gocql.UUID
		Note    *string
		Tags    map[string]struct{}
		Version gocql.UUID
	}
	type own struct {
		ID      gocql.UUID
		Level   int32
		Pending string
		Version gocql.UUID
	}
	type claimed struct {
		ID      gocql.UUID
		Claim   string
		Version gocql.UUID
	}
	type number struct {
		ID      gocql.UUID
		Level   int32
		Version int64
	}
	type dated struct {
		Room   string
		Night  time.Time
		Holder string
	}
	runFaultCases(t, []faultCase{
		{"a version that is a number", declaring[number](accounts, versioned), []string{
			"column version: Versioned wants a Go gocql.UUID and CQL timeuuid, this is Go type int64 and CQL type bigint",
		}},
		{
			"tables that rotate and Compare", // every write of it said that there is no table nights
			declaring[dated](tables.Table{
				Name: "nights", PartKey: []string{"room"}, SortKey: []string{"night"},
				Rotate: tables.Month("night"),
			},
				tables.Compare("holder")),
			[]string{"table nights: the table of a set with Compare cannot rotate: declare it without Rotate, and delete old " +
				"rows, or derive a " +
				"column of its partition key from the time"},
		},
		{"nothing that is never absent", declaring[absent](tables.Table{Name: "accounts", PartKey: []string{"id"}},
			versioned), []string{
			"table accounts: a Versioned set needs a column outside of the base key that is never absent: add one that " +
				"is no pointer, time, slice or map",
		}},
		{"a column called pending", declaring[own](accounts, versioned), []string{
			"table accounts: column pending: the base table of a Versioned set has a column of this name of its own",
		}},
		{"a key called claim", declaring[claimed](accounts, versioned,
			tables.Table{Name: "by_claim", PartKey: []string{"claim"}, Unique: true}), []string{
			"table by_claim: column claim: a Unique table has a column of this name of its own",
		}},
		{"Unique without Versioned", declaring[account](accounts, accountsByEmail), []string{
			"table accounts_by_email: only a Versioned set can have Unique tables: who owns a key is decided by the version " +
				"of the base row",
		}},
		{"a Unique base table", declaring[account](tables.Table{Name: "accounts", PartKey: []string{"id"}, Unique: true},
			versioned), []string{
			"table accounts: the base table cannot be Unique: its key names the entity already",
		}},
		{
			"a Unique table with more in it", declaring[account](accounts, versioned,
				tables.Table{
					Name: "accounts_by_email", PartKey: []string{"email"}, Columns: []string{"id", "level"},
					Unique: true,
				}),
			[]string{
				"table accounts_by_email: column level: a Unique table holds its key and the base key of the owner, nothing " +
					"else: leave Columns empty",
			},
		},
		{
			"a Unique table with the base key in its key", declaring[account](
				tables.Table{Name: "accounts", PartKey: []string{"id", "bucket"}}, versioned,
				tables.Derive("bucket", tables.Hash(4, "id")),
				tables.Table{Name: "accounts_by_email", PartKey: []string{"email"}, SortKey: []string{"id"}, Unique: true}),
			[]string{
				"table accounts_by_email: a Unique table whose key contains the base key, so no two entities can ever want one " +
					"key: leave id out of " +
					"PartKey and SortKey, as the table holds the base key of the owner in any case",
			},
		},
		{"a Unique table with half of the base key in its key", declaring[account](
			tables.Table{Name: "accounts", PartKey: []string{"level"}, SortKey: []string{"id"}}, versioned,
			tables.Table{Name: "accounts_by_email", PartKey: []string{"level", "email"}, Unique: true}), nil},
		{
			"a derived key in a Unique table",
			declaring[account](accounts, versioned, tables.Derive("bucket", tables.Hash(4, "email")),
				tables.Table{Name: "by_bucket", PartKey: []string{"bucket"}, SortKey: []string{"email"}, Unique: true}),
			[]string{
				"table by_bucket: column bucket: a derived column in the key of a Unique table: the base row does not hold it, " +
					"so it would not say " +
					"who has the key; make it a column of its own",
			},
		},
		{"a Unique table in another keyspace", declaring[account](accounts, versioned,
			tables.Table{Name: "accounts_by_email", Keyspace: "common", PartKey: []string{"email"}, Unique: true}), []string{
			`table accounts_by_email: Keyspace is "common", the base table has "": give the Unique table the same Keyspace`,
		}},
		{"a Unique table without the keyspace of the base table", declaring[account](
			tables.Table{Name: "accounts", Keyspace: "shop", PartKey: []string{"id"}}, versioned, accountsByEmail), []string{
			`table accounts_by_email: Keyspace is "", the base table has "shop": give the Unique table the same Keyspace`,
		}},
		{"other rules alongside Versioned", declaring[account](accounts, accountsByLevel, versioned,
			tables.OneOf[int32]("level", 1, 2),
			tables.Stamp("updated_at"), tables.Atomic(), tables.SweepInserts()), []string{
			"Versioned with OneOf: its key columns may change already, and a sweep is for writers without conditions",
			"Versioned with Stamp: the condition orders the writes",
			"Versioned with SweepInserts: an insert is conditional",
			"Versioned with Atomic: what a client that died has not written, the next one writes",
		}},
		{"SingleWriter alongside Versioned", declaring[account](accounts, accountsByLevel, versioned,
			tables.SingleWriter("level")), []string{
			"Versioned with SingleWriter: its key columns may change already",
		}},
		{"OneOf alongside Versioned", declaring[account](accounts, accountsByLevel, versioned,
			tables.OneOf("level", int32(1))), []string{
			"Versioned with OneOf: its key columns may change already, and a sweep is for writers without conditions",
		}},
		{"Compare of a key alone", declaring[account](accounts, tables.Compare("id")), []string{
			"column id: Compare is for columns that are no key: the row is found by its key",
		}},
		{"Compare and Versioned", declaring[account](accounts, versioned, tables.Compare("level")), []string{
			"Versioned and Compare: the version is compared already",
		}},
		{"Compare with query tables", declaring[account](accounts, accountsByLevel, tables.Compare("updated_at")), []string{
			"table accounts_by_level: a set with Compare has one table: the order of changes, which query tables follow, is " +
				"known " +
				"only where rows have versions; declare Versioned",
		}},
		{"Compare of a key", declaring[account](accounts, tables.Compare("id", "level")), []string{
			"column id: Compare is for columns that are no key: the row is found by its key",
		}},
		{"Compare of what may be absent", declaring[account](accounts, tables.Compare("email", "note")), []string{
			"Compare needs a column that is never absent (no pointer, time, slice or map): a row that does not exist could " +
				"pass for one in which all columns are null, and would be created",
		}},
		{
			"Compare of nothing that is there", declaring[account](accounts, tables.Compare("color", "level", "level")),
			[]string{
				"column color: Compare names a column that is no field of tables_test.account",
				"column level: is in Compare twice",
			},
		},
		{"Mark alone", declaring[account](accounts, tables.Mark("version")), []string{
			"Mark without Compare: there is no change to be known again",
		}},
		{
			"a Mark that is a number", declaring[account](accounts, tables.Compare("level"), tables.Mark("updated_at")),
			[]string{
				"column updated_at: Mark wants a Go gocql.UUID and CQL uuid or timeuuid, this is Go type int64 and CQL type bigint",
			},
		},
		{"LocalSerial alone", declaring[account](accounts, tables.LocalSerial()), []string{
			"LocalSerial without Versioned or Compare: nothing in the set is conditional",
		}},
		{"Transactional alone", declaring[account](accounts, tables.Transactional()), []string{
			"Transactional without Versioned: the version tells a transaction that is sent again, after its answer was lost, " +
				"from a new one; declare Versioned(column)",
		}},
		{"Transactional and LocalSerial", declaring[account](accounts, tables.Versioned("version"), tables.Transactional(),
			tables.LocalSerial()), []string{
			"Transactional with LocalSerial: a transaction of Cassandra 6 holds in the whole cluster; leave LocalSerial out",
		}},
	})
}

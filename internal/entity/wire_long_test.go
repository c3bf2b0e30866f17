package entity_test

import (
	"encoding"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// eight is a user-defined type of as many fields.
type eight[T any] struct {
	A T `cql:"a"`
	B T `cql:"b"`
	C T `cql:"c"`
	D T `cql:"d"`
	E T `cql:"e"`
	F T `cql:"f"`
	G T `cql:"g"`
	H T `cql:"h"`
}

type (
	third[T any] struct {
		ID      gocql.UUID
		Level   int32
		Version gocql.UUID
		V       *T
	}
	eight1 = eight[int32]
	eight2 = eight[*eight1]
	eight3 = eight[*eight2]
	eight4 = eight[*eight3]
	eight5 = eight[*eight4]
)

// storedInsert encodes an insert with a column of user-defined type T, as a mutation and as a condition, and reads it
// again.
func storedInsert[T any](t *testing.T, options ...tables.Option) (failures []string) {
	t.Helper()
	options = append(options, tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.UserType[eight1]("e1"), tables.UserType[eight2]("e2"), tables.UserType[eight3]("e3"),
		tables.UserType[eight4]("e4"), tables.UserType[eight5]("e5"))
	insert := func(options ...tables.Option) tables.Change {
		return tables.Must(tables.New[third[T]]("thing", options...)).Insert(third[T]{ID: gocql.MustRandomUUID(), V: new(T)})
	}
	plain, err := insert(options...).Internal().Render(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	conditional, err := insert(append(options, tables.Versioned("version"))...).Internal().
		RenderConditional(1, gocql.TimeUUID(), func(string) string { return "shop" })
	if err != nil {
		t.Fatal(err)
	}
	again := func(m encoding.BinaryMarshaler, into encoding.BinaryUnmarshaler) {
		data, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := into.UnmarshalBinary(data); err != nil {
			failures = append(failures, err.Error())
		}
	}
	again(&plain.Mutations[0], new(statement.Mutation))
	again(&conditional, new(entity.Conditional))
	return failures
}

// A column whose type takes more text than is read is rejected: an error that is stored is read before, while there is
// somebody to tell.
func TestLongTypesAreNotRead(t *testing.T) {
	t.Parallel()
	if got := storedInsert[eight4](t); len(got) > 0 {
		t.Errorf("%v", got)
	}
	const reason = ": a type of more than 65536 characters"
	got := strings.Join(storedInsert[eight5](t), "\n")
	if want := "tables: decode mutation" + reason + "\ntables: decode condition" + reason; got != want {
		t.Errorf("%s", got)
	}
}

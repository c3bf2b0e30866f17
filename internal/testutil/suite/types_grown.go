package suite

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type address struct {
	Street string `cql:"street"`
	City   string `cql:"city"`
}

// addressToday is an address after ALTER TYPE address ADD country text.
type addressToday struct {
	Street  string  `cql:"street"`
	City    string  `cql:"city"`
	Country *string `cql:"country"`
}

type typedShop[A any] struct {
	ID      string
	Chain   string
	Name    string
	Address A
	Branch  A // a cell a field
	Version gocql.UUID
}

func shops[A any]() *tables.Set[typedShop[A]] {
	return tables.Must(tables.New[typedShop[A]]("shop",
		tables.UserType[A]("address"), tables.Type("branch", "address"),
		tables.Table{Name: "shops", PartKey: []string{"id"}},
		tables.Table{Name: "shops_by_address", PartKey: []string{"chain"}, SortKey: []string{"address", "id"}},
		tables.Table{Name: "addresses", PartKey: []string{"chain"}, SortKey: []string{"address"}, Unique: true},
		tables.Versioned("version"),
	))
}

// While a type gets a field, a process that runs goes on, unique keys of the type keep their owners, and no field is
// taken away.
func (p typeTests) TypeGrows(t *testing.T) {
	old, today := shops[address](), shops[addressToday]()
	p.Place = p.open(t, schemaOf(old))
	const grace = time.Second
	p.Writer = NewWriter(t, p.Session, writer.ClaimGrace(grace), writer.Timeout(30*time.Second))
	rename := func(name string) error {
		return errorOf(writer.Modify(t.Context(), p.Writer, "rename", old, typedShop[address]{ID: "a"},
			func(s typedShop[address]) (typedShop[address], error) {
				s.Name = name
				return s, nil
			}))
	}
	at := address{"high", "oslo"}
	Write(t, p.Writer, "open", old.Insert(typedShop[address]{ID: "a", Chain: "c", Address: at, Branch: at}))
	for range 10 { // its statements are prepared on all nodes
		must(t, rename("one"))
	}
	p.ChangeSchema(t, p.Keyspace, `ALTER TYPE address ADD country text`)
	<-time.After(2 * grace)
	for range 10 {
		must(t, rename("two"))
	}
	// A process of the next release. It has sessions of its own: gocql keeps what it prepared before the ALTER TYPE, with
	// the type of then.
	released := NewWriter(t, testsession.New(t, p.Connect(t), p.Connect(t)), writer.ClaimGrace(grace),
		writer.Timeout(30*time.Second))
	next := addressToday{Street: "high", City: "oslo"}
	_, err := released.Write(t.Context(), "open",
		today.Insert(typedShop[addressToday]{ID: "b", Chain: "c", Address: next, Branch: next}))
	wantError(t, "a second owner of the key", err, writer.ErrTaken)
	norway := "no"
	for range 5 {
		must(t, errorOf(writer.Modify(t.Context(), released, "move", today, typedShop[addressToday]{ID: "a"},
			func(s typedShop[addressToday]) (typedShop[addressToday], error) {
				s.Branch.Country = &norway
				return s, nil
			})))
		err := rename("three")
		wrong(t, err == nil || !strings.Contains(err.Error(), "a field that is not declared"),
			"a write that would take the field away: %v", err)
	}
	got, err := writer.Load(t.Context(), released, "load", today, typedShop[addressToday]{ID: "a"})
	wrong(t, err != nil || got.Name != "two" || got.Branch.Country == nil, "%+v, %v", got, err)
	p.wantCount(t, 1, `SELECT count(*) FROM shops_by_address`)
	// Its row has a key from before.
	r := value(reconcile.New(testsession.New(t, p.Connect(t), p.Connect(t)), reconcile.Settle(time.Second)))(t)
	report, err := r.Verify(t.Context(), today)
	wrong(t, err != nil, "Verify: %v\n%s", err, report)
}

var grownTables = append(slices.Clone(typeTables),
	`ALTER TABLE rows ADD (kind text, version timeuuid, pending blob, done timeuuid, recent map<tinyint, timeuuid>)`)

// A row of before Versioned that has a column, of whichever type, is not written over by an insert.
func (p typeTests) InsertOverAnExistingRow(t *testing.T) {
	p.Place = p.grown
	for i := range reflect.TypeFor[Row]().NumField() {
		old := Row{ID: gocql.MustRandomUUID()}
		field := reflect.TypeFor[Row]().Field(i).Name
		if field != "ID" {
			reflect.ValueOf(&old).Elem().Field(i).Set(reflect.ValueOf(fullRow()).Field(i))
		}
		Write(t, p.Writer, "before", Rows.Insert(old))
		_, err := p.Writer.Write(t.Context(), "insert", VersionedRows.Insert(VersionedRow{Row: old, Kind: "new"}))
		if field == "ID" { // a row without columns is none
			wantError(t, "write", err, nil)
			continue
		}
		compare(t, "rows", conflict[VersionedRow](t, field, err).Row, old)
	}
}

// A row with columns of all types is inserted, deleted, and inserted again.
func (p typeTests) VersionedRows(t *testing.T) {
	p.Place = p.grown
	for n, row := range typeRows {
		r := VersionedRow{Row: row, Kind: fmt.Sprint(n)}
		r.ID = gocql.MustRandomUUID()
		for range 2 {
			result := Write(t, p.Writer, "insert", VersionedRows.Insert(r))
			_, err := p.Writer.Write(t.Context(), "insert", VersionedRows.Insert(r))
			compare(t, "rows", conflict[VersionedRow](t, r.Kind, err).Row, r.Row)
			r.Version = result.Version
			Write(t, p.Writer, "delete", VersionedRows.Delete(r))
			r.Version = gocql.UUID{}
		}
	}
}

package types_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/integration/suite/types"
	"github.com/denorm-go/denorm/writer"
)

const grown = `ALTER TABLE rows ADD (kind text, version timeuuid, pending map<timeuuid, blob>)`

// A row of before Versioned that has a column, of whichever type, is not written over by an insert.
func TestInsertOverAnExistingRow(t *testing.T) {
	t.Parallel()
	p := reading.Open(t, 3, append(slices.Clone(types.Schema), grown)...)
	for i := range reflect.TypeFor[types.Row]().NumField() {
		old := types.Row{ID: gocql.MustRandomUUID()}
		field := reflect.TypeFor[types.Row]().Field(i).Name
		if field != "ID" {
			reflect.ValueOf(&old).Elem().Field(i).Set(reflect.ValueOf(rows["greatest"]).Field(i))
		}
		if _, err := p.Writer.Write(t.Context(), "before", types.Rows.Insert(old)); err != nil {
			t.Fatal(field, err)
		}
		_, err := p.Writer.Write(t.Context(), "insert", types.VersionedRows.Insert(types.VersionedRow{Row: old, Kind: "new"}))
		if field == "ID" { // a row without columns is none
			if err != nil {
				t.Error(err)
			}
			continue
		}
		now, ok := writer.Current[types.VersionedRow](err)
		if !errors.Is(err, writer.ErrConflict) || !ok {
			t.Errorf("%s: %v", field, err)
			continue
		}
		compare(t, "rows", now.Row, old)
	}
}

// A row with columns of all types is inserted, deleted, and inserted again.
func TestVersionedRows(t *testing.T) {
	t.Parallel()
	p := reading.Open(t, 3, append(slices.Clone(types.Schema), grown)...)
	for name, row := range rows {
		r := types.VersionedRow{Row: row, Kind: name}
		r.ID = gocql.MustRandomUUID()
		for range 2 {
			result, err := p.Writer.Write(t.Context(), "insert", types.VersionedRows.Insert(r))
			if err != nil {
				t.Fatal(name, err)
			}
			_, err = p.Writer.Write(t.Context(), "insert", types.VersionedRows.Insert(r))
			now, ok := writer.Current[types.VersionedRow](err)
			if !errors.Is(err, writer.ErrConflict) || !ok {
				t.Fatal(name, err)
			}
			compare(t, "rows", now.Row, r.Row)
			r.Version = result.Version
			if _, err := p.Writer.Write(t.Context(), "delete", types.VersionedRows.Delete(r)); err != nil {
				t.Fatal(name, err)
			}
			r.Version = gocql.UUID{}
		}
	}
}

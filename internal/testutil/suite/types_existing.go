package suite

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/writer"
)

var grownTables = append(slices.Clone(typeTables), `ALTER TABLE rows ADD (kind text, version timeuuid, pending blob, done timeuuid, recent map<tinyint, timeuuid>)`)

// A row of before Versioned that has a column, of whichever type, is not written over by an insert.
func (p typeTests) InsertOverAnExistingRow(t *testing.T) {
	p.Place = p.grown
	for i := range reflect.TypeFor[Row]().NumField() {
		old := Row{ID: gocql.MustRandomUUID()}
		field := reflect.TypeFor[Row]().Field(i).Name
		if field != "ID" {
			reflect.ValueOf(&old).Elem().Field(i).Set(reflect.ValueOf(typeRows["greatest"]).Field(i))
		}
		Write(t, p.Writer, "before", Rows.Insert(old))
		_, err := p.Writer.Write(t.Context(), "insert", VersionedRows.Insert(VersionedRow{Row: old, Kind: "new"}))
		if field == "ID" { // a row without columns is none
			wantError(t, "write", err, nil)
			continue
		}
		now, ok := writer.Current[VersionedRow](err)
		if !errors.Is(err, writer.ErrConflict) || !ok {
			t.Errorf("%s: %v", field, err)
			continue
		}
		compare(t, "rows", now.Row, old)
	}
}

// A row with columns of all types is inserted, deleted, and inserted again.
func (p typeTests) VersionedRows(t *testing.T) {
	p.Place = p.grown
	for name, row := range typeRows {
		r := VersionedRow{Row: row, Kind: name}
		r.ID = gocql.MustRandomUUID()
		for range 2 {
			result := Write(t, p.Writer, "insert", VersionedRows.Insert(r))
			_, err := p.Writer.Write(t.Context(), "insert", VersionedRows.Insert(r))
			now, ok := writer.Current[VersionedRow](err)
			if !errors.Is(err, writer.ErrConflict) || !ok {
				t.Fatal(name, err)
			}
			compare(t, "rows", now.Row, r.Row)
			r.Version = result.Version
			Write(t, p.Writer, "delete", VersionedRows.Delete(r))
			r.Version = gocql.UUID{}
		}
	}
}

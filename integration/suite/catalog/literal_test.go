package catalog_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// TestLiterals writes literals and bytes into real columns. What is stored, or why not, has to be what the package
// says.
func TestLiterals(t *testing.T) {
	b := newBoth(t)
	var columns strings.Builder
	for i, l := range literals {
		fmt.Fprintf(&columns, ", c%d %s", i, l.column)
	}
	b.setUp(t, "CREATE TYPE KS.geo (lat double, name text)", "CREATE TABLE KS.t (k int PRIMARY KEY"+columns.String()+")")
	compared := 0
	for i, l := range literals {
		column := fmt.Sprintf("c%d", i)
		for value := range strings.SplitSeq(strings.TrimSpace(l.values), "\n") {
			want, wantErr := b.store(t, column, value)
			got, err := b.encode(t, column, value)
			alike := fmt.Sprint(err) == fmt.Sprint(wantErr) && bytes.Equal(got, want) && (got == nil) == (want == nil)
			b.alike(t, alike, l.column+" "+value, "%x (%v), of Cassandra %x (%v)", got, err, want, wantErr)
			compared++
		}
	}
	t.Logf("%d values of %d types", compared, len(literals))
}

// store gives what Cassandra stores for a value of a column.
func (b *both) store(t *testing.T, column, value string) ([]byte, error) {
	t.Helper()
	text, bound, isBound := strings.Cut(value, "#")
	var values []any
	if isBound {
		data, err := hex.DecodeString(bound)
		if err != nil {
			t.Fatal(err)
		}
		text, values = "?", []any{raw{append([]byte{}, data...)}}
	}
	err := b.session.Query("INSERT INTO t (k, "+column+") VALUES (1, "+text+")", values...).Exec()
	var refused gocql.RequestError
	if errors.As(err, &refused) {
		return nil, errors.New(refused.Message())
	}
	var stored raw
	if err == nil {
		err = b.session.Query("SELECT " + column + " FROM t WHERE k = 1").Scan(&stored)
	}
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return stored.bytes, nil
}

// encode gives what the package makes of a value for a column.
func (b *both) encode(t *testing.T, name, value string) ([]byte, error) {
	t.Helper()
	column := b.schema.Table(b.keyspace, "t").Column(name)
	if _, bound, isBound := strings.Cut(value, "#"); isBound {
		data, err := hex.DecodeString(bound)
		if err != nil {
			t.Fatal(err)
		}
		if err := catalog.Validate(column.Type, append([]byte{}, data...)); err != nil {
			return nil, err
		}
		data = catalog.Sort(column.Type, append([]byte{}, data...))
		return data, nil
	}
	stmt, err := ast.Parse("INSERT INTO t (" + name + ") VALUES (" + value + ")")
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	data, err := catalog.Encode(column.Type, stmt.(*ast.Insert).Values[0], name)
	if column.Type.MultiCell() && bytes.Equal(data, make([]byte, 4)) {
		data = nil // an empty collection of many cells is null
	}
	return data, err
}

package tables_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
)

// TestMutationBinary: a failed write waits in a queue, and another process sends the same bytes.
func TestMutationBinary(t *testing.T) {
	t.Parallel()
	type row struct {
		ID    string
		Empty string
		First *string
		Other *string
		Frame [][]string
		Ends  time.Time
	}
	s := tables.Must(tables.New[row]("thing", tables.Table{Name: "things", Keyspace: "ks", PartKey: []string{"id"}},
		tables.Type("frame", "frozen<list<list<text>>>"), tables.ExpiresAt("ends")))
	one := row{ID: "1", First: ptr("n"), Frame: [][]string{{"a"}, {}}, Ends: time.UnixMicro(now).Add(time.Hour)}
	for _, c := range []tables.Change{
		s.Insert(one), s.Insert(row{ID: "1"}), s.Update(one, with(one, func(r *row) { r.Other = nil })), s.Update(one, row{ID: "1"}),
		s.Update(one, with(one, func(r *row) { r.First, r.Other = nil, ptr("u") })), s.Delete(one),
	} {
		r, err := c.Render(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Mutations {
			data, err := m.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			var again tables.Mutation
			if err := again.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			if got, want := dumpAll(again), dumpAll(m); got != want {
				t.Errorf("%s: decoded\n%s\nencoded\n%s", c, got, want)
			}
			for n := range data {
				if err := new(tables.Mutation).UnmarshalBinary(data[:n]); err == nil {
					t.Errorf("%s: %d of %d bytes pass for the whole", c, n, len(data))
				} else if !strings.HasPrefix(err.Error(), "tables: decode mutation: ") {
					t.Errorf("%v", err)
				}
			}
		}
	}
	strange := tables.Mutation{Statement: "x", Args: []any{"plain"}}
	if _, err := strange.MarshalBinary(); err == nil || err.Error() != "tables: encode mutation: an argument is of Go type string" {
		t.Errorf("an argument that is no Value: %v", err)
	}
}

// dumpAll shows a mutation as it is sent before and after it has expired.
func dumpAll(m tables.Mutation) string {
	var b strings.Builder
	b.WriteString(dump(tables.Rendered{Mutations: []tables.Mutation{m}}))
	for _, at := range []time.Time{time.UnixMicro(now), time.UnixMicro(now).AddDate(1, 0, 0)} {
		stmt, args := m.At(at)
		fmt.Fprintf(&b, "at %s\n", at.UTC())
		dumpStatement(&b, stmt, nil, args)
	}
	return b.String()
}

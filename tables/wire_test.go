package tables_test

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/tables"
)

// storedChanges render every kind of mutation: with and without TTL, keyspace, null, unset and empty values, with keys
// of several columns, and removes at T and at T-1.
func storedChanges(tb testing.TB) []tables.Change {
	tb.Helper()
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
	before := aJob()
	homes := tables.Must(tables.New[cell[map[string]postal]]("cell", cells, addressType, geoType))
	place := tables.Must(tables.New[cell[*postal]]("cell", cells, addressType, geoType, tables.Type("v", "address_type")))
	return []tables.Change{
		homes.Insert(cell[map[string]postal]{V: map[string]postal{"home": home()}}),
		place.Insert(cell[*postal]{V: ptr(home())}),
		place.Update(cell[*postal]{}, cell[*postal]{}),
		homes.Patch(cell[map[string]postal]{V: map[string]postal{"home": home()}}, tables.Elements("v")),
		carts(tb).Patch(aCart(), tables.Elements("products"), tables.Without("tags", "old"), tables.Column("note")),
		carts(tb).Patch(with(aCart(), func(c *cart) { c.Ends = time.Time{} }), tables.Column("ends"),
			tables.Without("products", uuid1, uuid4)),
		s.Insert(one), s.Insert(row{ID: "1"}), s.Update(one, with(one, func(r *row) { r.Other = nil })),
		s.Update(one, row{ID: "1"}),
		s.Update(one, with(one, func(r *row) { r.First, r.Other = nil, ptr("u") })), s.Delete(one),
		jobs(tb).Insert(before), jobs(tb).Insert(with(before, func(j *job) { j.Worker, j.EndsAt, j.Note = nil, nil, nil })),
		jobs(tb).Update(before, with(before, func(j *job) { j.State, j.Worker, j.Tags = Open, ptr("v"), nil })),
		jobs(tb).Delete(before),
	}
}

func rendered(tb testing.TB, c tables.Change) []statement.Mutation {
	tb.Helper()
	r, err := c.Internal().Render(now, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r.Mutations
}

// TestMutationBinary: a failed write waits in a queue, and another process sends the same bytes.
func TestMutationBinary(t *testing.T) {
	t.Parallel()
	for _, c := range storedChanges(t) {
		for _, m := range rendered(t, c) {
			data, err := m.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			var again statement.Mutation
			if err := again.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
			stored, err := again.MarshalBinary() // what is stored of a type does not say which Go type stands for it
			if got, want := dumpAll(again), dumpAll(m); got != want || err != nil || !bytes.Equal(stored, data) {
				t.Errorf("%s: decoded\n%s\nencoded\n%s", c, got, want)
			}
			for n := range data {
				if err := new(statement.Mutation).UnmarshalBinary(data[:n]); err == nil {
					t.Errorf("%s: %d of %d bytes pass for the whole", c, n, len(data))
				} else if !strings.HasPrefix(err.Error(), "tables: decode mutation: ") {
					t.Errorf("%v", err)
				}
			}
			for _, word := range []string{"INSERT", "UPDATE", "DELETE", "TIMESTAMP", "[ttl]"} {
				if bytes.Contains(data, []byte(word)) {
					t.Errorf("%s: %s is stored", c, word)
				}
			}
		}
	}
	strange := statement.Mutation{Kind: statement.Put, Table: "things", Timestamp: 1, Statement: "x"}
	if _, err := strange.MarshalBinary(); err == nil ||
		err.Error() != "tables: encode mutation: it was not rendered from a change" {
		t.Errorf("a mutation of unknown origin: %v", err)
	}
	strange = rendered(t, jobs(t).Delete(aJob()))[0]
	strange.Args = []any{strange.Args[0], "plain"}
	if _, err := strange.MarshalBinary(); err == nil ||
		err.Error() != "tables: encode mutation: an argument is of Go type string" {
		t.Errorf("an argument that is no Value: %v", err)
	}
}

// dumpAll shows a mutation as it is sent before and after it has expired.
func dumpAll(m statement.Mutation) string {
	var b strings.Builder
	b.WriteString(dump(entity.Rendered{Mutations: []statement.Mutation{m}}))
	for _, at := range []time.Time{time.UnixMicro(now), time.UnixMicro(now).AddDate(1, 0, 0)} {
		stmt, args := m.At(at)
		fmt.Fprintf(&b, "at %s\n", at.UTC())
		dumpStatement(&b, stmt, nil, args)
	}
	return b.String()
}

// storedMutation and storedColumn are a mutation as it is stored, for forging one.
type storedMutation struct {
	Kind            uint8
	Keyspace, Table string
	Timestamp       int64
	ExpiresAt       int64
	Keys, Part      int
	Columns         []storedColumn
}

type storedColumn struct {
	Name  string
	State uint8
	Type  string
	Data  []byte
	Edit  uint8
}

// The storage is not to be trusted: what is read from it becomes one of three statements on unquoted names, or nothing.
func TestForgedMutation(t *testing.T) {
	t.Parallel()
	read := func(edit func(*storedMutation)) (statement.Mutation, error) {
		w := storedMutation{
			Kind: uint8(statement.Put), Keyspace: "shop", Table: "things", Timestamp: now, Keys: 2, Part: 1,
			Columns: []storedColumn{
				{"id", 2, "text", []byte("a"), 0},
				{"at", 2, "int", []byte{0, 0, 0, 1}, 0},
				{"note", 1, "text", nil, 0},
				{Name: "other"},
			},
		}
		edit(&w)
		var m statement.Mutation
		err := m.UnmarshalBinary(wire.Append(nil, w))
		return m, err
	}
	for want, edit := range map[string]func(*storedMutation){
		"INSERT INTO shop.things (id,at,note,other) VALUES (?,?,?,?) USING TIMESTAMP ?": func(*storedMutation) {},
		"INSERT INTO things (id,at,note,other) VALUES (?,?,?,?) USING TIMESTAMP ?": func(w *storedMutation) {
			w.Keyspace = ""
		},
		"INSERT INTO shop.things (id,at,note,other) VALUES (?,?,?,?) USING TTL ? AND TIMESTAMP ?": func(w *storedMutation) {
			w.ExpiresAt = 1
		},
		"DELETE FROM shop.things USING TIMESTAMP ? WHERE id=? AND at=?": func(w *storedMutation) {
			w.Kind, w.Columns = uint8(statement.Remove), w.Columns[:2]
		},
		"UPDATE shop.things USING TIMESTAMP ? SET tags=tags+?,notes=notes-? WHERE id=? AND at=?": merging,
		"UPDATE shop.things USING TTL ? AND TIMESTAMP ? SET tags=tags+?,notes=notes-? WHERE id=? AND at=?": merges(
			func(w *storedMutation) { w.ExpiresAt = 1 }),
	} {
		if m, err := read(edit); err != nil || m.Statement != want {
			t.Errorf("%s, %v, want %s", m.Statement, err, want)
		}
	}
	const names = "keyspace and table must be "
	for name, c := range map[string]struct {
		want string
		edit func(*storedMutation)
	}{
		"no kind":             {"of an unknown kind", func(w *storedMutation) { w.Kind = 0 }},
		"another kind":        {"of an unknown kind", func(w *storedMutation) { w.Kind = 200 }},
		"CQL for a table":     {names, func(w *storedMutation) { w.Table = "things USING TIMESTAMP 1; DROP TABLE things" }},
		"a qualified table":   {names, func(w *storedMutation) { w.Table = "system_auth.roles" }},
		"a quoted table":      {names, func(w *storedMutation) { w.Table = `"things"` }},
		"no table":            {names, func(w *storedMutation) { w.Table = "" }},
		"CQL for a keyspace":  {names, func(w *storedMutation) { w.Keyspace = "shop.things;--" }},
		"a reserved keyspace": {names, func(w *storedMutation) { w.Keyspace = "token" }},
		"CQL for a column":    {"columns must be ", func(w *storedMutation) { w.Columns[3].Name = "a) VALUES (1);--" }},
		"CQL for a key":       {"columns must be ", func(w *storedMutation) { w.Columns[0].Name = "id=1 OR id" }},
		"a USING clause":      {"columns must be ", func(w *storedMutation) { w.Columns[3].Name = "[timestamp]" }},
		"no column":           {"columns must be ", func(w *storedMutation) { w.Columns[3].Name = "" }},
		"a column twice":      {"a column is in it twice", func(w *storedMutation) { w.Columns[3].Name = "note" }},
		"no timestamp":        {"incomplete", func(w *storedMutation) { w.Timestamp = 0 }},
		"no partition key":    {"incomplete", func(w *storedMutation) { w.Part = 0 }},
		"part of the rest":    {"incomplete", func(w *storedMutation) { w.Part = 3 }},
		"more key than row":   {"incomplete", func(w *storedMutation) { w.Keys = 5 }},
		"a value's state":     {"a value in an unknown state", func(w *storedMutation) { w.Columns[2].State = 3 }},
		"no type":             {`CQL type "": `, func(w *storedMutation) { w.Columns[2].Type = "" }},
		"a null key":          {"a key column without a value", func(w *storedMutation) { w.Columns[1].State = 1 }},
		"an unset key":        {"a key column without a value", func(w *storedMutation) { w.Columns[1].State = 0 }},
		"an empty key":        {"a key column without a value", func(w *storedMutation) { w.Columns[0].Data = nil }},
		"a large key": {"a key column without a value", func(w *storedMutation) {
			w.Columns[0].Data = make([]byte, 65536)
		}},
		"a remove with values": {"a remove has nothing but a key", func(w *storedMutation) {
			w.Kind = uint8(statement.Remove)
		}},
		"a merge of nothing": {"a merge of nothing", merges(func(w *storedMutation) { w.Columns = w.Columns[:2] })},
		"elements in a put": {"edits of elements in a mutation of whole columns", merges(func(w *storedMutation) {
			w.Kind = uint8(statement.Put)
		})},
		"elements in the key": {"edits of elements in a mutation of whole columns", merges(func(w *storedMutation) {
			w.Columns[0].Edit = 2
		})},
		"a merge of columns": {"edits of elements in a mutation of whole columns", merges(func(w *storedMutation) {
			w.Columns[2].Edit = 0
		})},
		"an edit of a column": {"edits of elements in a mutation of whole columns", merges(func(w *storedMutation) {
			w.Columns[2].Edit = 1
		})},
		"an unknown edit": {"edits of elements in a mutation of whole columns", merges(func(w *storedMutation) {
			w.Columns[2].Edit = 4
		})},
		"elements that are null": {"elements without a value", merges(func(w *storedMutation) { w.Columns[2].State = 1 })},
		"unset elements":         {"elements without a value", merges(func(w *storedMutation) { w.Columns[2].State = 0 })},
		"empty elements": {"column tags: the encoded value is no set<text>", merges(func(w *storedMutation) {
			w.Columns[2].Data = nil
		})},
		"elements of a list": {"elements without a value", merges(func(w *storedMutation) {
			w.Columns[2].Type = "list<text>"
		})},
		"frozen elements": {"elements without a value", merges(func(w *storedMutation) {
			w.Columns[2].Type = "frozen<set<text>>"
		})},
		"removes of a map": {"elements without a value", merges(func(w *storedMutation) {
			w.Columns[3].Type, w.Columns[3].Data = "map<text, text>", append(w.Columns[3].Data, w.Columns[3].Data[4:]...)
		})},
		"a type without fields": {`CQL type "place": `, func(w *storedMutation) { w.Columns[2].Type = "place" }},
		"a short value": {"column note: a int has 4 bytes, the encoded value has 1", func(w *storedMutation) {
			w.Columns[2] = storedColumn{"note", 2, "int", []byte{1}, 0}
		}},
		"a short key": {"column at: a int has 4 bytes, the encoded value has 3", func(w *storedMutation) {
			w.Columns[1].Data = []byte{1, 2, 3}
		}},
		"text that is none": {"column id: text is not valid UTF-8", func(w *storedMutation) {
			w.Columns[0].Data = []byte{0xff}
		}},
		"a broken collection": {"column note: the encoded value is no list<int>", func(w *storedMutation) {
			w.Columns[2] = storedColumn{"note", 2, "list<int>", []byte{0, 0, 0, 2}, 0}
		}},
		"a broken tuple": {"column note: inside a tuple: a int has", func(w *storedMutation) {
			w.Columns[2] = storedColumn{"note", 2, "tuple<int>", []byte("\x00\x00\x00\x01a"), 0}
		}},
		"a short address": {"column note: an inet has 4 or 16 bytes", func(w *storedMutation) {
			w.Columns[2] = storedColumn{"note", 2, "inet", []byte{1}, 0}
		}},
		"a short decimal": {"column note: a decimal has at least 4 bytes", func(w *storedMutation) {
			w.Columns[2] = storedColumn{"note", 2, "decimal", []byte{1}, 0}
		}},
		"a short duration": {"column note: a duration has at least 3 bytes", func(w *storedMutation) {
			w.Columns[2] = storedColumn{"note", 2, "duration", []byte{1}, 0}
		}},
		"a remove that expires": {"a remove has nothing but a key", func(w *storedMutation) {
			w.Kind, w.Columns, w.ExpiresAt = uint8(statement.Remove), w.Columns[:2], 1
		}},
	} {
		if m, err := read(c.edit); err == nil {
			t.Errorf("%s: read as %s", name, m.Statement)
		} else if !strings.HasPrefix(err.Error(), "tables: decode mutation: "+c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// merging turns a stored Put into a Merge, and merges edits that.
func merging(w *storedMutation) {
	one := []byte("\x00\x00\x00\x01\x00\x00\x00\x01a")
	w.Kind, w.Columns = uint8(statement.Merge), append(w.Columns[:2:2], storedColumn{"tags", 2, "set<text>", one, 2},
		storedColumn{"notes", 2, "set<text>", one, 3})
}

func merges(edit func(*storedMutation)) func(*storedMutation) {
	return func(w *storedMutation) {
		merging(w)
		edit(w)
	}
}

// wireStatement is all that can come out of storage.
var wireStatement = regexp.MustCompile(
	strings.ReplaceAll(`^(?:INSERT INTO (?:NAME\.)?NAME \(NAME(?:,NAME)*\) VALUES \(\?(?:,\?)*\) `+
		`USING (?:TTL \? AND )?TIMESTAMP \?|UPDATE (?:NAME\.)?NAME USING (?:TTL \? AND )?TIMESTAMP \? SET NAME=(?:NAME[-+])?\?(?:,NAME=(?:NAME[-+])?\?)* `+
		`WHERE NAME=\?(?: AND NAME=\?)*|DELETE FROM (?:NAME\.)?NAME USING TIMESTAMP \? WHERE NAME=\?(?: AND NAME=\?)*)$`,
		"NAME", `[a-z][a-z0-9_]*`))

// FuzzUnmarshalMutation reads any bytes: nothing may panic, and what is read must be fit to be sent, and to be stored
// again, and what reading takes grows with the bytes.
func FuzzUnmarshalMutation(f *testing.F) {
	for _, c := range storedChanges(f) {
		for _, m := range rendered(f, c) {
			data, err := m.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again statement.Mutation
		var err error
		cost.Bound(t, len(data), 100, func() { err = m.UnmarshalBinary(data) })
		if err != nil {
			return
		}
		for _, at := range []time.Time{time.UnixMicro(now), time.UnixMicro(now).AddDate(1000, 0, 0)} {
			text, args := m.At(at)
			if !wireStatement.MatchString(text) || strings.Count(text, "?") != len(args) {
				t.Fatalf("%d arguments: %s", len(args), text)
			}
		}
		stamp, ok := m.Args[slices.Index(m.Names, "[timestamp]")].(*cqltype.Value)
		if !ok || stamp.Type.String() != "bigint" || shown(stamp) != fmt.Sprintf("0x%016x", m.Timestamp) ||
			len(m.Names) != len(m.Args) {
			t.Fatalf("the mutation is at %d:\n%s", m.Timestamp, dumpAll(m))
		}
		stored, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(stored); err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%v: stored again\n%s\nwas\n%s", err, dumpAll(again), dumpAll(m))
		}
	})
}

// storedAndRead is a mutation after it was stored.
func storedAndRead(t *testing.T, m *statement.Mutation) *statement.Mutation {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again := new(statement.Mutation)
	if err := again.UnmarshalBinary(data); err != nil {
		t.Fatalf("%s: %v", m, err)
	}
	return again
}

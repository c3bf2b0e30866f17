package tables_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// storedConditional is a condition as it is stored, for forging one.
type storedConditional struct {
	Entity           string
	Kind             tables.Kind
	Versioned, Local bool
	Transactional    bool
	Before, Version  gocql.UUID
	VersionColumn    string
	Mark             string
	Keys             []byte
	Keyspace, Table  string
	Key, Part        int
	Columns          []storedColumn
	Compared         []storedColumn
	Claims, Releases []storedClaim
}

type storedClaim struct {
	Keyspace, Table string
	Part            int
	Columns         []storedColumn
}

// The keys of a stored condition come to stand in the row, where every other writer reads them: what is none of a
// change is rejected.
func TestForgedKeysOfAStoredCondition(t *testing.T) {
	t.Parallel()
	when, one := string(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli()))), "\x00\x00\x00\x01"
	const none, kind = "keys that no row before the change has",
		"an insert with the keys of a row before it, or another change without them"
	for name, test := range map[string]struct {
		kind tables.Kind
		keys []byte
		want string
	}{
		"of a change":             {tables.Update, entryOf("placed", when, "count", one), ""},
		"of a delete":             {tables.Delete, entryOf("placed", when), ""},
		"of no column":            {tables.Update, entryOf(), ""},
		"of an insert":            {tables.Insert, nil, ""},
		"none":                    {tables.Update, nil, kind},
		"none of a delete":        {tables.Delete, nil, kind},
		"keys of an insert":       {tables.Insert, entryOf(), kind},
		"a value too short":       {tables.Update, entryOf("placed", "\x00"), none},
		"the same of a delete":    {tables.Delete, entryOf("placed", "\x00"), none},
		"an empty value":          {tables.Update, entryOf("placed", ""), none},
		"a column there is not":   {tables.Update, entryOf("day", "2026-01-02"), none},
		"a column twice":          {tables.Update, entryOf("placed", when, "placed", when), none},
		"a column of the key":     {tables.Update, entryOf("visit_id", strings.Repeat("x", 16)), none},
		"the version":             {tables.Update, entryOf("version", string(version.Bytes())), none},
		"half an entry":           {tables.Update, entryOf("placed"), "damaged"},
		"an entry of more":        {tables.Update, append(entryOf("placed", when), 0), "damaged"},
		"of a later version":      {tables.Update, []byte{2}, "of a later version"},
		"a name of no characters": {tables.Update, entryOf("", when), none},
	} {
		w := storedConditional{
			Entity: "visit", Kind: test.kind, Versioned: true, Version: version, VersionColumn: "version", Keys: test.keys,
			Keyspace: "shop", Table: "visits", Key: 1, Part: 1, Columns: []storedColumn{
				{"visit_id", 2, "uuid", accountID.Bytes(), 0},
				{"placed", 2, "timestamp", []byte(when), 0},
				{"count", 2, "int", []byte(one), 0},
			},
		}
		if test.kind != tables.Insert {
			w.Before = before
		}
		if _, err := readConditional(t, w); test.want == "" && err != nil || test.want != "" &&
			(err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func readConditional(tb testing.TB, w storedConditional) (c entity.Conditional, err error) {
	tb.Helper()
	if w.Version == version {
		w.Version = entity.Linked(version, w.Before)
	}
	err = c.UnmarshalBinary(wire.Append(nil, w))
	return c, err
}

// A stored condition that claims keys which are not those of its row, or none of them, would give two entities one key.
func TestForgedClaimsOfAStoredCondition(t *testing.T) {
	t.Parallel()
	email := func(of string) []storedColumn { return []storedColumn{{"email", 2, "text", []byte(of), 0}} }
	claim := func(of string) storedClaim { return storedClaim{"shop", "accounts_by_email", 1, email(of)} }
	claims := func(of ...string) (out []storedClaim) {
		for _, e := range of {
			out = append(out, claim(e))
		}
		return out
	}
	blob := []storedClaim{{"shop", "accounts_by_email", 1, []storedColumn{{"email", 2, "blob", []byte("b"), 0}}}}
	const not, unclaimed = "a claim of another row",
		"the key that the row gets in Unique table accounts_by_email is not claimed"
	for name, test := range map[string]struct {
		kind             tables.Kind
		before, after    string
		claims, releases []storedClaim
		want             string
	}{
		"an insert":             {tables.Insert, "", "a", claims("a"), nil, ""},
		"an insert of none":     {tables.Insert, "", "", nil, nil, ""},
		"another key":           {tables.Update, "a", "b", claims("b"), claims("a"), ""},
		"the same key":          {tables.Update, "a", "a", nil, nil, ""},
		"a key given up":        {tables.Update, "a", "", nil, claims("a"), ""},
		"a delete":              {tables.Delete, "a", "", nil, claims("a"), ""},
		"somebody else's":       {tables.Update, "a", "b", claims("c"), claims("a"), not},
		"two":                   {tables.Update, "a", "b", claims("b", "b"), claims("a"), not},
		"two given up":          {tables.Update, "a", "b", claims("b"), claims("a", "a"), not},
		"of none":               {tables.Update, "a", "", claims("b"), nil, not},
		"of a delete":           {tables.Delete, "a", "", claims("a"), nil, not},
		"a kept key given up":   {tables.Update, "a", "a", nil, claims("a"), not},
		"the new key given up":  {tables.Update, "a", "b", claims("b"), claims("b"), not},
		"an insert without":     {tables.Insert, "", "a", nil, nil, unclaimed},
		"another key without":   {tables.Update, "a", "b", nil, claims("a"), unclaimed},
		"the first key without": {tables.Update, "", "a", nil, nil, unclaimed},
		"of another type":       {tables.Update, "a", "b", blob, nil, "a claim on a column that is not there"},
		"of an unknown table": {
			tables.Update, "a", "b",
			[]storedClaim{{"shop", "accounts", 1, email("b")}},
			nil,
			"the set has no Unique table accounts",
		},
		"of an unknown keyspace": {
			tables.Update, "a", "b",
			[]storedClaim{{"x", "accounts_by_email", 1, email("b")}},
			nil,
			"the set has no Unique table",
		},
	} {
		w := storedConditional{
			Entity: "account", Kind: test.kind, Versioned: true, Version: version, VersionColumn: "version", Keyspace: "shop",
			Table: "accounts",
			Key:   1, Part: 1, Columns: []storedColumn{{"id", 2, "uuid", accountID.Bytes(), 0}, {"email", 1, "text", nil, 0}},
			Claims: test.claims, Releases: test.releases,
		}
		if test.after != "" {
			w.Columns[1] = email(test.after)[0]
		}
		if test.kind != tables.Insert {
			w.Before, w.Keys = before, entryOf()
		}
		if test.before != "" {
			w.Keys = entryOf("email", test.before)
		}
		c, err := readConditional(t, w)
		fault := fmt.Sprint(err)
		if err == nil {
			_, fault = c.DeclaredIn(accountSet(t).Internal(), func(string) string { return "shop" })
		}
		if test.want == "" && fault != "" || !strings.Contains(fault, test.want) {
			t.Errorf("%s: %q, want %q", name, fault, test.want)
		}
	}
}

// What is stored as a change of a Versioned set, and what of it none of the declared ones could have made.
func TestForgedConditionOfASet(t *testing.T) {
	t.Parallel()
	when, one := string(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli()))), "\x00\x00\x00\x01"
	far := "\x7f\xff\xff\xff\xff\xff\xff\xff"
	removed := func(w *storedConditional) { w.Kind, w.Columns[1].State, w.Columns[2].State = tables.Delete, 1, 1 }
	for name, test := range map[string]struct {
		want string // of the decoder, or of the set
		edit func(*storedConditional)
	}{
		"an update":                 {"", func(*storedConditional) {}},
		"before a column was added": {"", func(w *storedConditional) { w.Columns = w.Columns[:2] }},
		"a delete":                  {"", removed},
		"an insert": {"", func(w *storedConditional) {
			w.Kind, w.Before, w.Keys = tables.Insert, gocql.UUID{}, nil
		}},
		"an insert over a row": {"an insert with the version of a row before it", func(w *storedConditional) {
			w.Kind, w.Keys = tables.Insert, nil
		}},
		"an update of no row": {"another change without it", func(w *storedConditional) { w.Before = gocql.UUID{} }},
		"a value too short": {"column count: a int has 4 bytes", func(w *storedConditional) {
			w.Columns[2].Data = []byte{1}
		}},
		"another type": {
			"column count is declared as int, and the stored value is of blob",
			func(w *storedConditional) { w.Columns[2].Type = "blob" },
		},
		"another type of a null": {
			"column placed is declared as timestamp, and the stored value is of blob",
			func(w *storedConditional) {
				removed(w)
				w.Columns[1].Type, w.Keys = "blob", entryOf("placed", "x")
			},
		},
		"a longer key": {
			"its primary key is ((visit_id)), and that of the stored write is ((visit_id), placed)",
			func(w *storedConditional) { w.Key, w.Keys = 2, entryOf() },
		},
		"another partition key": {"and that of the stored write is ((visit_id, placed))", func(w *storedConditional) {
			w.Key, w.Part, w.Keys = 2, 2, entryOf()
		}},
		"another column": {"it has no column other", func(w *storedConditional) {
			w.Columns[2].Name, w.Keys = "other", entryOf()
		}},
		"a time of which there is no day": {
			"what it leaves for other writers to finish cannot be read",
			func(w *storedConditional) {
				removed(w)
				w.Keys = entryOf("placed", far)
			},
		},
		"a row of which there is no day": {
			"what it leaves for other writers to finish cannot be read",
			func(w *storedConditional) { w.Columns[1].Data = []byte(far) },
		},
	} {
		w := storedConditional{
			Entity: "visit", Kind: tables.Update, Versioned: true, Before: before, Version: version, VersionColumn: "version",
			Keys:     entryOf("placed", when),
			Keyspace: "shop", Table: "visits", Key: 1, Part: 1, Columns: []storedColumn{
				{"visit_id", 2, "uuid", accountID.Bytes(), 0},
				{"placed", 2, "timestamp", []byte(when), 0},
				{"count", 2, "int", []byte(one), 0},
			},
		}
		test.edit(&w)
		c, err := readConditional(t, w)
		fault := fmt.Sprint(err)
		if err == nil {
			_, fault = c.DeclaredIn(stopSets()["query table"].Internal(), func(string) string { return "shop" })
		}
		if test.want == "" && fault != "" || !strings.Contains(fault, test.want) {
			t.Errorf("%s: %q, want %q", name, fault, test.want)
		}
	}
}

// By the types that are stored the keys of a delete are checked before others read them. So it binds nulls of these
// types, which the driver refuses if the columns are of others.
func TestStoredDeleteSaysItsTypes(t *testing.T) {
	t.Parallel()
	c, err := readConditional(t, storedConditional{
		Entity: "visit", Kind: tables.Delete, Versioned: true, Before: before, Version: version, VersionColumn: "version",
		Keys: entryOf("placed", "x"), Keyspace: "shop", Table: "visits", Key: 1, Part: 1,
		Columns: []storedColumn{{"visit_id", 2, "uuid", accountID.Bytes(), 0}, {"placed", 1, "blob", nil, 0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Condition.Base().Swap(c.Condition.Swap())[0]
	if !strings.HasPrefix(s.Text, "UPDATE shop.visits SET placed = ?, ") {
		t.Fatal(s.Text)
	}
	null, ok := s.Args[0].(*cqltype.Value)
	if !ok || null.Data != nil {
		t.Fatalf("%v", s.Args[0])
	}
	if _, err := null.MarshalCQL(driver.NativeType(gocql.TypeTimestamp)); err == nil {
		t.Error("keys of another type than the column's come to stand in the row")
	}
}

// What a set writes is never rejected as what it could not have written.
func TestStoredPatchesAreDeclared(t *testing.T) {
	t.Parallel()
	set := carts(t)
	for _, c := range []tables.Change{
		set.Patch(aCart(), tables.Elements("products"), tables.Without("tags", "old"), tables.Column("note")),
		set.Patch(with(aCart(), func(c *cart) { c.Ends = time.Time{} }), tables.Column("ends"), tables.Elements("tags"),
			tables.Without("products", uuid1, uuid4)),
	} {
		for _, m := range rendered(t, c) {
			if found, fault := entity.Declares(set.Internal(), storedAndRead(t, &m), func(name string) string {
				return name
			}); !found || fault != "" {
				t.Errorf("%s: %t, %s", m, found, fault)
			}
		}
	}
}

// FuzzUnmarshalConditional reads any bytes: nothing may panic, and what is read must be fit to be sent, and to be
// stored again, and what reading takes grows with the bytes.
func FuzzUnmarshalConditional(f *testing.F) {
	set := accountSet(f)
	compared := tables.Must(tables.New[account]("account", accounts, tables.Compare("level", "email")))
	up := newAccount(func(a *account) { a.Level = 4 })
	for _, change := range []tables.Change{
		set.Insert(up), set.Update(newAccount(nil), up), set.Delete(up), compared.Insert(up),
		compared.Update(newAccount(nil), up),
		stopSets()["query table"].Delete(stop{VisitID: accountID, Placed: at, Version: before}),
	} {
		c, err := change.Internal().RenderConditional(at.UnixMicro(), version, func(string) string { return "shop" })
		if err != nil {
			f.Fatal(err)
		}
		data, err := c.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, again entity.Conditional
		var err error
		cost.Bound(t, len(data), 100, func() { err = c.UnmarshalBinary(data) })
		if err != nil {
			return
		}
		c.Condition.Digest()
		for _, text := range c.Condition.Statements() {
			if strings.ContainsAny(text, `;"'`) {
				t.Error(text)
			}
		}
		stored, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(stored); err != nil || again.Key != c.Key {
			t.Errorf("stored again: %v", err)
		}
		for name, set := range stopSets() {
			own, err := set.Delete(stop{VisitID: accountID, Placed: at, Version: before}).Internal().
				RenderConditional(at.UnixMicro(), version, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := own.Condition.Base()
			if _, err := b.QueryTableMutations(scanned(t, b, nil, nil), version, c.Condition.Keys); err != nil {
				t.Logf("%s: %v", name, err)
			}
		}
	})
}

package tables_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// cart is an entity that can be patched, with everything that a patch meets: a table of all columns, a sparse one with
// elements, one that has nothing alongside its key but the expiry; stamp and expiry.
type cart struct {
	ID        gocql.UUID
	Owner     string
	Voucher   *string
	Note      *string
	Products  map[gocql.UUID]int32
	Tags      map[string]struct{}
	Log       []string
	Labels    map[string]string
	Place     *geo
	UpdatedAt int64
	Ends      time.Time
}

func carts(tb testing.TB) *tables.Set[cart] {
	tb.Helper()
	s, err := tables.New[cart]("cart",
		tables.Table{Name: "carts", Keyspace: "shop", PartKey: []string{"id"}},
		tables.Table{
			Name: "carts_by_voucher", PartKey: []string{"voucher"}, SortKey: []string{"id"},
			Columns: []string{"products", "ends"},
		},
		tables.Table{Name: "carts_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}, Columns: []string{"ends"}},
		tables.Stamp("updated_at"), tables.ExpiresAt("ends"), tables.Type("log", "frozen<list<text>>"),
		tables.Type("labels", "frozen<map<text, text>>"), geoType, tables.Type("place", "geo"),
	)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func aCart() cart {
	return cart{
		ID: uuid1, Owner: "o", Voucher: ptr("v"), Note: ptr("n"), Products: map[gocql.UUID]int32{uuid4: 3},
		Tags:      map[string]struct{}{"t": {}},
		UpdatedAt: now - 5, Ends: time.UnixMicro(now).Add(time.Hour),
	}
}

func TestPatchGolden(t *testing.T) {
	t.Parallel()
	s := carts(t)
	immortal := with(aCart(), func(c *cart) { c.Ends = time.Time{} })
	for name, change := range map[string]tables.Change{
		"patch_column": s.Patch(immortal, tables.Column("ends"), tables.Column("note")),
		"patch_clear": s.Patch(cart{ID: uuid1, Owner: "o"}, tables.Column("ends"), tables.Column("note"),
			tables.Column("products"), tables.Column("place")),
		"patch_elements": s.Patch(immortal, tables.Column("ends"), tables.Elements("products"),
			tables.Without("tags", "a", "b")),
		"patch_without": s.Patch(immortal, tables.Column("ends"), tables.Without("products", uuid1)),
		"patch_both": s.Patch(immortal, tables.Column("ends"), tables.Without("products", uuid1),
			tables.Elements("products"), tables.Elements("tags"), tables.Without("tags", "a")),
		"patch_both_expiring": s.Patch(aCart(), tables.Elements("products"), tables.Without("products", uuid1)),
		"patch_expiring":      s.Patch(aCart(), tables.Column("note"), tables.Elements("products")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := change.Internal().Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".golden", dump(r))
		})
	}
}

// A patch that arrives after its expiry removes what it would have written, at its own timestamp, and nothing that
// others have.
func TestPatchExpired(t *testing.T) {
	t.Parallel()
	s := carts(t)
	for _, m := range rendered(t, s.Patch(aCart(), tables.Elements("products"), tables.Without("tags", "x"),
		tables.Column("note"))) {
		soon, args := m.At(time.UnixMicro(now).Add(time.Minute))
		if i := strings.Index(soon, "TTL ?"); i < 0 || shown(args[strings.Count(soon[:i], "?")]) != "0x00000dd4" {
			t.Errorf("%s: TTL of the 59 minutes that are left: %s", soon, dumpAll(m))
		}
		late, args := m.At(time.UnixMicro(now).Add(time.Hour))
		if m.Table != "carts" {
			continue
		}
		const want = "UPDATE shop.carts USING TIMESTAMP ? SET note=?,products=products-?,tags=tags-?,updated_at=?,ends=? " +
			"WHERE id=?"
		var bound []string
		for _, a := range args {
			bound = append(bound, shown(a))
		}
		key := strings.ReplaceAll(uuid4.String(), "-", "")
		if got := strings.Join(bound, " "); late != want || got != "0x00060a24181e4000 null 0x0000000100000010"+key+
			" 0x000000010000000178 null null 0x"+strings.ReplaceAll(uuid1.String(), "-", "") {
			t.Errorf("after its end %s\n%s", late, got)
		}
	}
	type row struct {
		ID, Owner, Note string
		Ends            time.Time
	}
	bare := tables.Must(tables.New[row]("row", tables.Table{Name: "rows", PartKey: []string{"id"}},
		tables.Table{Name: "rows_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}, Columns: []string{}},
		tables.ExpiresAt("ends")))
	if _, err := bare.Patch(row{ID: "1", Owner: "o"}, tables.Column("note"), tables.Column("ends")).Internal().
		Render(now, nil); err != nil {
		t.Errorf("what does not expire: %v", err)
	}
	_, err := bare.Patch(row{ID: "1", Owner: "o", Ends: time.UnixMicro(now).Add(time.Hour)}, tables.Column("note")).
		Internal().Render(now, nil)
	invalidAs(t, err, tables.InvalidError{
		Entity: "row", Table: "rows_by_owner", Column: "ends",
		Reason: "a Patch of a row that expires writes " +
			"this column or the stamp to every table, and this one holds neither: add one to its Columns, or Update the row",
	})
}

// A stored Put is a whole row: after its expiry it is deleted. Of a stored Merge the elements are.
func TestStoredMutationsAfterTheirExpiry(t *testing.T) {
	t.Parallel()
	const ends = now/1000 + 1000
	for name, w := range map[string]storedMutation{
		"DELETE FROM shop.things USING TIMESTAMP ? WHERE id=?\n\t0x00060a24181e4000 0x61": {
			Kind: uint8(statement.Put), Columns: []storedColumn{
				{"id", 2, "text", []byte("a"), 0}, {"note", 2, "text", []byte("n"), 0}, {
					"ends", 2, "timestamp", make([]byte, 8),
					0,
				}, {Name: "other"},
			},
		},
		"UPDATE shop.things USING TIMESTAMP ? SET items=items-?,tags=tags-?,old=old-? WHERE id=?\n\t0x00060a24181e4000 " +
			"0x00000001000000016b 0x000000010000000174 0x000000010000000174 0x61": {
			Kind: uint8(statement.Merge), Columns: []storedColumn{
				{"id", 2, "text", []byte("a"), 0},
				{"items", 2, "map<text, text>", []byte("\x00\x00\x00\x01\x00\x00\x00\x01k\x00\x00\x00\x01v"), 2},
				{"tags", 2, "set<text>", []byte("\x00\x00\x00\x01\x00\x00\x00\x01t"), 2},
				{"old", 2, "set<text>", []byte("\x00\x00\x00\x01\x00\x00\x00\x01t"), 3},
			},
		},
	} {
		w.Keyspace, w.Table, w.Timestamp, w.ExpiresAt, w.Keys, w.Part = "shop", "things", now, ends, 1, 1
		var m statement.Mutation
		if err := m.UnmarshalBinary(wire.Append(nil, w)); err != nil {
			t.Fatal(err)
		}
		for _, m := range []*statement.Mutation{&m, storedAndRead(t, &m)} {
			stmt, args := m.At(time.UnixMilli(ends))
			var bound []string
			for _, a := range args {
				bound = append(bound, shown(a))
			}
			if got := stmt + "\n\t" + strings.Join(bound, " "); got != name {
				t.Errorf("sent after the expiry:\n%s\nwant\n%s", got, name)
			}
		}
	}
}

// The stamp of the row that was read orders the patch after it.
func TestPatchStamp(t *testing.T) {
	t.Parallel()
	if got := carts(t).Patch(aCart(), tables.Column("note")).Internal().StampOf(); got != now-5 {
		t.Errorf("%d, want that of the row", got)
	}
	if got := carts(t).Insert(aCart()).Internal().StampOf(); got != 0 {
		t.Errorf("insert: %d, want none", got)
	}
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	s, row := carts(t), aCart()
	immortal := with(row, func(c *cart) { c.Ends = time.Time{} })
	const twice = "is edited twice in one Patch: merge the edits"
	const both = "an element is put by Elements and removed by Without: at one timestamp the removal would win; name it " +
		"in one of them"
	const key = "a key, or what a key follows from, cannot be edited: a Patch leaves the row where it is"
	for name, test := range map[string]struct {
		change tables.Change
		want   string
	}{
		"nothing": {s.Patch(row), "entity cart: a Patch needs an edit: Column, Elements or Without"},
		"no column": {
			s.Patch(row, tables.Column("nope")),
			"column nope: an edit names it, and it is no column of the entity",
		},
		"zero edit": {s.Patch(row, tables.Edit{}), "an edit is made by Column, Elements or Without"},
		"twice":     {s.Patch(row, tables.Column("note"), tables.Column("note")), "column note: " + twice},
		"put and remove one": {s.Patch(row, tables.Elements("tags"), tables.Without("tags", "a", "t")), "column tags: " +
			both},
		"remove and put one": {
			s.Patch(row, tables.Without("products", uuid4), tables.Elements("products")),
			"column products: " + both,
		},
		"put, remove, remove": {s.Patch(row, tables.Elements("tags"), tables.Without("tags", "a"),
			tables.Without("tags", "b")), "column tags: " + twice},
		"remove, put, put": {
			s.Patch(row, tables.Without("tags", "a"), tables.Elements("tags"), tables.Elements("tags")),
			"column tags: " + twice,
		},
		"put, remove, replace": {
			s.Patch(row, tables.Elements("tags"), tables.Without("tags", "a"), tables.Column("tags")),
			"column tags: " + twice,
		},
		"replace and remove":  {s.Patch(row, tables.Column("tags"), tables.Without("tags", "a")), "column tags: " + twice},
		"base key":            {s.Patch(row, tables.Column("id")), "column id: " + key},
		"another table's key": {s.Patch(row, tables.Column("owner")), "column owner: " + key},
		"stamp": {
			s.Patch(row, tables.Column("updated_at")),
			"column updated_at: the stamp cannot be edited: every write fills it",
		},
		"expiry": {
			s.Patch(row, tables.Column("ends")),
			"column ends: the expiry cannot be edited: all columns of the row share it, so Update the row",
		},
		"no expiry": {
			s.Patch(immortal, tables.Column("note")),
			"column ends: the row of a Patch has no expiry, so what it writes would stay when the rest of the row ends: give " +
				"the row its expiry as it was read or written, or, if the row never ends, add Column(\"ends\") to the edits",
		},
		"elements of an expiry": {
			s.Patch(immortal, tables.Elements("ends")),
			"column ends: the expiry cannot be edited: all columns of the row share it, so Update the row",
		},
		"elements of a text": {
			s.Patch(row, tables.Elements("note")),
			"column note: only maps and sets have elements, and this is text: edit it as a whole, with Column",
		},
		"elements of a type": {
			s.Patch(row, tables.Elements("place")),
			"column place: only maps and sets have elements, and this is geo: edit it as a whole, with Column",
		},
		"elements of a list": {
			s.Patch(row, tables.Elements("log")),
			"column log: a list has no elements that could be written again and be the same: edit it as a whole, with Column, " +
				"or declare a set or map",
		},
		"elements, frozen": {
			s.Patch(row, tables.Elements("labels")),
			"column labels: it is frozen, which makes it one cell: edit it as a whole, with Column",
		},
		"without, frozen": {
			s.Patch(row, tables.Without("labels", "a")),
			"column labels: it is frozen, which makes it one cell: edit it as a whole, with Column",
		},
		"no elements": {
			s.Patch(cart{ID: uuid1, Owner: "o"}, tables.Elements("tags")),
			"column tags: Elements puts the elements that the row holds, and it holds none",
		},
		"without nothing": {s.Patch(row, tables.Without[string]("tags")), "column tags: Without names no element"},
		"a key of another type": {
			s.Patch(row, tables.Without("products", "secret")),
			"column products: key 1 of Without is of Go type string, it must be gocql.UUID",
		},
		"a key that is nil": {
			s.Patch(row, tables.Without[any]("tags", nil)),
			"column tags: key 1 of Without is of Go type <nil>, it must be string",
		},
		"a key that is no text": {
			s.Patch(row, tables.Without("tags", "secret\xff")),
			"column tags: inside a collection: text is not valid UTF-8",
		},
		"no base key": {
			s.Patch(with(row, func(c *cart) { c.ID = gocql.UUID{} }), tables.Column("note")),
			"column id: a key column must not be the zero UUID",
		},
		"a key that moves": {
			jobs(t).Patch(aJob(), tables.Column("note")),
			"table jobs_by_state: column state: a Patch leaves the row where it is, and this key column can change or has " +
				"several bucket functions: Update from a before-image",
		},
	} {
		_, err := test.change.Internal().Render(now, nil)
		var invalid *tables.InvalidError
		if !errors.As(err, &invalid) || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// A change and its edits are readable, for a service that fakes its writer, and print without values.
func TestPatchPrints(t *testing.T) {
	t.Parallel()
	c := carts(t).Patch(aCart(), tables.Without("tags", "secret"), tables.Elements("products"), tables.Column("note"))
	if c.Kind() != tables.Patch || len(c.Edits()) != 3 || c.Edits()[0].String() != "remove elements of tags" ||
		c.Edits()[2].String() != "put note" {
		t.Errorf("%v", c)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "change", c, "edits", c.Edits(), "edit", c.Edits()[0])
	for _, text := range []string{
		fmt.Sprintf("%v %+v %#v %s %d", c, c, c, c, c.Edits()),
		fmt.Sprintf("%#v %+v %q", c.Edits(), c.Edits(), c.Edits()), log.String(),
	} {
		if strings.Contains(text, "secret") {
			t.Errorf("a value is shown: %s", text)
		}
	}
	if got := fmt.Sprint(c, c.Edits()); got != "patch cart [remove elements of tags put elements of products put note]" {
		t.Error(got)
	}
}

// Elements count one by one against the limit of a batch, as each is a cell of its own.
func TestPatchSize(t *testing.T) {
	t.Parallel()
	size := func(n int) int {
		row := aCart()
		for i := range n {
			row.Products[gocql.UUID{byte(i), 6: 0x40}] = 1
		}
		total := 0
		for _, m := range rendered(t, carts(t).Patch(row, tables.Elements("products"))) {
			total += m.Size()
		}
		return total
	}
	// In two tables: a timestamp and an expiry with each of them, the key and the value.
	if more := size(100) - size(0); more < 2*100*(16+16+4) {
		t.Errorf("100 elements more are %d bytes more", more)
	}
}

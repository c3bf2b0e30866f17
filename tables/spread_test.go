package tables_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// stop is in tables that follow from a time.
type stop struct {
	VisitID gocql.UUID
	Placed  time.Time
	Count   int32
	Version gocql.UUID
}

// stopSets are Versioned sets of stops: what is derived from the time is the key of a query table, the base key, or
// that and the name of a rotating table.
func stopSets() map[string]*tables.Set[stop] {
	day := tables.Derive("day", tables.Day("placed"))
	plain := tables.Table{Name: "visits", PartKey: []string{"visit_id"}}
	byDay := tables.Table{Name: "visits", PartKey: []string{"day"}, SortKey: []string{"visit_id"}}
	return map[string]*tables.Set[stop]{
		"query table": tables.Must(tables.New[stop]("visit", plain, day, versioned,
			tables.Table{Name: "visits_by_day", PartKey: []string{"day"}, SortKey: []string{"visit_id"}})),
		"base key": tables.Must(tables.New[stop]("visit", byDay, day, versioned,
			tables.Table{Name: "visits_by_count", PartKey: []string{"count"}, SortKey: []string{"day", "visit_id"}})),
		"rotating": tables.Must(tables.New[stop]("visit", byDay, day, versioned,
			tables.Table{
				Name: "visits_of", PartKey: []string{"count"}, SortKey: []string{"day", "visit_id", "placed"},
				Rotate: tables.Month("placed"),
			})),
	}
}

// entryOf is the keys in pending with the values of columns.
func entryOf(columns ...string) []byte {
	out := []byte{1}
	for _, c := range columns {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(c))), c...)
	}
	return out
}

// scanned is the row as it is read, where placed and count have these values.
func scanned(tb testing.TB, b *entity.Base, placed, count []byte) entity.Row {
	tb.Helper()
	read, dest, row := b.Select()
	columns, _, _ := strings.Cut(strings.TrimPrefix(read.Text, "SELECT "), " FROM ")
	for i, name := range strings.Split(columns, ", ") {
		if data := map[string][]byte{"placed": placed, "count": count}[name]; data != nil {
			u, ok := dest[i].(gocql.Unmarshaler)
			if !ok || u.UnmarshalCQL(nil, data) != nil {
				tb.Fatalf("%s is scanned into a %T", name, dest[i])
			}
		}
	}
	out, err := row()
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// What a live row and the keys in its pending hold others may have written, to whom Cassandra gives nulls and empty
// values of any type. It is put in place, or rejected, and no entity but the row's own is touched.
func TestSpreadOfWhatOthersWrote(t *testing.T) {
	t.Parallel()
	when, one, two := string(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli()))), "\x00\x00\x00\x01",
		"\x00\x00\x00\x02"
	nextDay := string(binary.BigEndian.AppendUint64(nil, uint64(at.AddDate(0, 0, 1).UnixMilli())))
	const size, year = "and a timestamp has 8", "the year of its bucket"
	for what, test := range map[string]struct {
		placed, count []byte // as the live row has them
		entry         []byte
		want          map[string]string // errors by set, "" for none; a set that is not there has the one of ""
	}{
		"whole":   {[]byte(when), []byte(two), entryOf("placed", when, "count", one), nil},
		"deleted": {nil, nil, entryOf("placed", when, "count", one), nil},
		"empty time": {
			[]byte{},
			[]byte(two), entryOf("placed", when, "count", one),
			map[string]string{"": size},
		},
		"null time": {nil, []byte(two), entryOf("placed", when, "count", one), nil},
		"time before all": {
			[]byte{0x80, 7: 0},
			[]byte(two), entryOf("placed", when),
			map[string]string{"base key": "", "": year},
		},
		"empty count": {
			[]byte(when),
			[]byte{},
			entryOf("placed", when, "count", one),
			map[string]string{"query table": "", "": "and a int has 4"},
		},
		"short time in the entry": {[]byte(when), []byte(two), entryOf("placed", "\x00"), map[string]string{"": size}},
		"empty time in the entry": {[]byte(when), []byte(two), entryOf("placed", ""), map[string]string{"": size}},
		"short time, deleted":     {nil, nil, entryOf("placed", "\x00"), map[string]string{"": size}},
		"nothing in the entry":    {[]byte(when), []byte(two), entryOf(), nil},
		"nothing in it, deleted":  {nil, nil, entryOf(), nil},
		"another key in the entry": {
			nil, nil, entryOf("visit_id", strings.Repeat("x", 16), "placed", when, "count", one),
			nil,
		},
		"a time of another key": {[]byte(when), []byte(two), entryOf("placed", nextDay, "count", one), nil},
		"another key, deleted":  {nil, nil, entryOf("placed", nextDay, "count", one), nil},
		"in the row":            {[]byte(nextDay), []byte(two), entryOf("placed", when, "count", one), nil},
	} {
		for name, set := range stopSets() {
			key := stop{VisitID: accountID, Placed: at, Count: 1, Version: before}
			c, err := set.Delete(key).Internal().RenderConditional(at.UnixMicro(), version, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := c.Condition.Base()
			out, err := b.QueryTableMutations(scanned(t, b, test.placed, test.count), version, test.entry)
			want, ok := test.want[name]
			if !ok {
				want = test.want[""]
			}
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %s: %v, want %q", name, what, err, want)
			}
			wantOwn(t, name, what, out)
		}
	}
}

// wantOwn says which mutations are of another entity than that of accountID, in one of the sets.
func wantOwn(tb testing.TB, set, what string, out []statement.Mutation) {
	tb.Helper()
	own := fmt.Sprintf(" %x", accountID.Bytes())
	if set != "query table" {
		own = fmt.Sprintf(" %x", "2026-01-02") + own
	}
	for i := range out {
		if !strings.Contains(mutations(out[i:i+1]), own) {
			tb.Errorf("%s, %s: of another visit: %s", set, what, mutations(out[i:i+1]))
		}
	}
}

// FuzzSpread puts any bytes into a live row and the keys in its pending: they are put in place or rejected, and no
// other entity is touched.
func FuzzSpread(f *testing.F) {
	when, one := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli())), []byte{0, 0, 0, 1}
	f.Add(when, one, entryOf("placed", string(when), "count", string(one)))
	f.Add([]byte{}, []byte{}, entryOf("visit_id", strings.Repeat("x", 16), "day", "2026-01-02"))
	f.Add([]byte{0x7f, 7: 0}, one, []byte{1, 0, 6, 'p', 'l', 'a', 'c', 'e', 'd', 0, 1, 0})
	bases := make(map[string]*entity.Base)
	for name, set := range stopSets() {
		c, err := set.Delete(stop{VisitID: accountID, Placed: at, Count: 1, Version: before}).Internal().
			RenderConditional(at.UnixMicro(), version, nil)
		if err != nil {
			f.Fatal(err)
		}
		bases[name] = c.Condition.Base()
	}
	f.Fuzz(func(t *testing.T, placed, count, entry []byte) {
		for name, b := range bases {
			for _, row := range []entity.Row{scanned(t, b, nil, nil), scanned(t, b, nil, count), scanned(t, b, placed, count)} {
				if out, err := b.QueryTableMutations(row, version, entry); err == nil {
					wantOwn(t, name, "fuzz", out)
				}
			}
		}
	})
}

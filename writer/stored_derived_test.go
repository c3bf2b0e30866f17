package writer

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// A stored row is where its values say, under one of the functions of the set: elsewhere no read or delete would find it, and no other entity
// would get its unique keys.
func TestStoredRowIsWhereItBelongs(t *testing.T) {
	t.Parallel()
	type account struct {
		ID, Email string
		At        time.Time
		Version   gocql.UUID
	}
	row := account{ID: "a", Email: "m", At: time.Now()}
	plain := func(table tables.Table, options ...tables.Option) *tables.Set[account] {
		return mustSet[account](t, "account", append([]tables.Option{table}, options...)...)
	}
	byBucket := tables.Table{Name: "accounts", PartKey: []string{"bucket", "id"}}
	versioned := func(options ...tables.Option) *tables.Set[account] {
		emails := tables.Table{Name: "emails", PartKey: []string{"email"}, Unique: true}
		return plain(byBucket, append([]tables.Option{emails, tables.Versioned("version")}, options...)...)
	}
	monthly := plain(tables.Table{Name: "bills", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")})
	own, other := tables.Derive("bucket", tables.Hash(10, "id")), tables.Derive("bucket", tables.Hash(1000, "id"))
	both := tables.Derive("bucket", tables.Day("at"), tables.Since{Time: time.Unix(0, 0), Bucket: tables.Hour("at")})
	day, hour := tables.Derive("bucket", tables.Day("at")), tables.Derive("bucket", tables.Hour("at"))
	month := func(add int) []byte {
		return []byte("bills_" + row.At.UTC().AddDate(0, add, 15-row.At.UTC().Day()).Format("2006_01"))
	}
	for name, test := range map[string]struct {
		by, of *tables.Set[account]
		edit   func([]byte) []byte
		ok     bool
	}{
		"a bucket":                   {by: plain(byBucket, own), of: plain(byBucket, own), ok: true},
		"a former bucket":            {by: plain(byBucket, day), of: plain(byBucket, both), ok: true},
		"another bucket":             {by: plain(byBucket, other), of: plain(byBucket, own)},
		"a bucket of time":           {by: plain(byBucket, day), of: plain(byBucket, day), ok: true},
		"another bucket of time":     {by: plain(byBucket, hour), of: plain(byBucket, day)},
		"a bucket of a condition":    {by: versioned(own), of: versioned(own), ok: true},
		"another one of a condition": {by: versioned(other), of: versioned(own)},
		"a table of the time":        {by: monthly, of: monthly, ok: true},
		"a table of another time":    {by: monthly, of: monthly, edit: func(m []byte) []byte { return bytes.ReplaceAll(m, month(0), month(1)) }},
	} {
		stored := storedOf(t, test.by.Insert(row))
		if test.edit != nil {
			stored.Paths[0].Mutations[0] = test.edit(stored.Paths[0].Mutations[0])
		}
		forged := new(Error)
		if err := forged.UnmarshalBinary(sealed(stored)); err != nil {
			t.Fatal(name, err)
		}
		w, _, x := conditional(nil, Resumes(test.of))
		if _, err := w.Resume(t.Context(), forged); errors.Is(err, ErrInvalid) == test.ok || !test.ok && len(x.sent()) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

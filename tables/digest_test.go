package tables_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// parcel has values whose encodings Go gives in any order.
type parcel struct {
	ParcelID gocql.UUID
	Weight   int32
	Note     *string
	Tags     map[string]string
	Stops    []map[string]int32
	Version  gocql.UUID
}

func parcelSet(options ...tables.Option) *tables.Set[parcel] {
	return tables.Must(tables.New[parcel]("parcel", append([]tables.Option{
		tables.Table{Name: "parcels", PartKey: []string{"parcel_id"}},
		tables.Type("stops", "frozen<list<frozen<map<text, int>>>>"),
	}, options...)...))
}

func newParcel(edit func(*parcel)) parcel {
	p := parcel{
		ParcelID: accountID, Weight: 3, Version: before, Tags: map[string]string{},
		Stops: []map[string]int32{{}, {}},
	}
	for i, c := range "abcdefgh" {
		p.Tags[string(c)] = "x"
		p.Stops[i%2][string(c)] = int32(i)
	}
	if edit != nil {
		edit(&p)
	}
	return p
}

func digest(t *testing.T, c tables.Change) string {
	t.Helper()
	r, err := c.Internal().RenderConditional(at.UnixMicro(), version, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%016x", r.Condition.Digest())
}

// Rows are known again by these numbers, also by later versions of the library: they stay what they are.
func TestDigestStays(t *testing.T) {
	t.Parallel()
	versioned, compared := parcelSet(tables.Versioned("version")),
		parcelSet(tables.Compare("weight"), tables.Mark("version"))
	note := "n"
	one, noted := newParcel(nil), newParcel(func(p *parcel) { p.Weight, p.Note = 4, &note })
	var b strings.Builder
	for _, c := range []struct {
		name   string
		change func() tables.Change
	}{
		{"versioned insert", func() tables.Change { return versioned.Insert(newParcel(nil)) }},
		{"versioned update", func() tables.Change { return versioned.Update(one, noted) }},
		{"versioned delete", func() tables.Change { return versioned.Delete(noted) }},
		{"compare insert", func() tables.Change { return compared.Insert(newParcel(nil)) }},
		{"compare update", func() tables.Change { return compared.Update(one, noted) }},
		{"compare delete", func() tables.Change { return compared.Delete(noted) }},
	} {
		want := digest(t, c.change())
		for range 20 { // maps are walked in any order
			if got := digest(t, c.change()); got != want {
				t.Fatalf("%s: %s, then %s", c.name, want, got)
			}
		}
		fmt.Fprintf(&b, "%s %s\n", want, c.name)
	}
	golden.Check(t, "digest.golden", b.String())
}

// Every change has another digest, and a column that a service is given meanwhile, and that has no value yet, changes
// none.
func TestDigestTellsChangesApart(t *testing.T) {
	t.Parallel()
	set := parcelSet(tables.Versioned("version"))
	seen := make(map[string]string)
	note, empty := "n", ""
	one := newParcel(nil)
	for name, c := range map[string]tables.Change{
		"insert": set.Insert(one), "update": set.Update(one, one), "delete": set.Delete(one),
		"weight":  set.Insert(newParcel(func(p *parcel) { p.Weight++ })),
		"note":    set.Insert(newParcel(func(p *parcel) { p.Note = &note })),
		"empty":   set.Insert(newParcel(func(p *parcel) { p.Note = &empty })),
		"tag":     set.Insert(newParcel(func(p *parcel) { p.Tags["a"] = "y" })),
		"tags":    set.Insert(newParcel(func(p *parcel) { p.Tags["a"], p.Tags["b"] = "b", "a" })),
		"stops":   set.Insert(newParcel(func(p *parcel) { p.Stops[0], p.Stops[1] = p.Stops[1], p.Stops[0] })),
		"key":     set.Insert(newParcel(func(p *parcel) { p.ParcelID[15]++ })),
		"version": set.Update(newParcel(func(p *parcel) { p.Version[15]++ }), one),
	} {
		d := digest(t, c)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
	type fewer struct {
		ParcelID gocql.UUID
		Weight   int32
		Tags     map[string]string
		Stops    []map[string]int32
		Version  gocql.UUID
	}
	earlier := tables.Must(tables.New[fewer]("parcel",
		tables.Table{Name: "parcels", PartKey: []string{"parcel_id"}},
		tables.Type("stops", "frozen<list<frozen<map<text, int>>>>"), tables.Versioned("version"),
	))
	row := fewer{one.ParcelID, one.Weight, one.Tags, one.Stops, one.Version}
	if got, want := digest(t, earlier.Insert(row)), digest(t, set.Insert(one)); got != want {
		t.Errorf("before the service got a column: %s, after it %s", got, want)
	}
}

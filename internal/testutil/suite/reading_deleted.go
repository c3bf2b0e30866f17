package suite

import (
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
)

// Doc is kept under versions, many of them in a partition of the base table.
type Doc struct {
	Tenant  string
	N       int
	Title   string
	Label   *string // unique in its tenant, if there is one
	Version gocql.UUID
}

var docs = tables.Must(tables.New[Doc]("doc",
	tables.Table{Name: "docs", PartKey: []string{"tenant"}, SortKey: []string{"n"}},
	tables.Table{Name: "docs_by_title", PartKey: []string{"title"}, SortKey: []string{"tenant", "n"}},
	tables.Table{Name: "docs_by_n", PartKey: []string{"n"}, SortKey: []string{"tenant"}},
	tables.Table{Name: "docs_by_label", PartKey: []string{"tenant"}, SortKey: []string{"label"}, Unique: true},
	tables.Versioned("version"),
))

// A deleted entity of a Versioned set is no row, and pages and tokens go on behind it.
func (p readTests) DeletedEntitiesAreNoRows(t *testing.T) {
	p.check(t, docs)
	var want []int
	for n := range 30 {
		d := Doc{Tenant: "a", N: n, Title: "x"}
		result := Write(t, p.Writer, "create", docs.Insert(d))
		if n%10 == 7 {
			want = append(want, n)
			continue
		}
		d.Version = result.Version
		Write(t, p.Writer, "delete", docs.Delete(d))
	}
	small := p.paged(4)
	for _, limit := range []int{0, 1, 2, 3, 10} {
		rows, _ := Pieces(t, small, reader.From(docs, "docs").Eq("tenant", "a"), limit)
		got := each(rows, func(d Doc) int { return d.N })
		wrong(t, !slices.Equal(got, want), "limit %d: rows %v, want %v", limit, got, want)
	}
}

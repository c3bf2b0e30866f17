package schema

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/dialect"
	"github.com/denorm-go/denorm/tables"
)

// Amazon Keyspaces takes USING TTL where a table has a TTL of its own, and so do tables that rotate.
func TestExpiryOfTablesThatRotateOnServer(t *testing.T) {
	t.Parallel()
	type bill struct {
		ID       string
		At, Ends time.Time
	}
	declared := Must(Declare(Sets(tables.Must(tables.New[bill]("bill", tables.ExpiresAt("ends"),
		tables.Table{Name: "bills", PartKey: []string{"id"}, SortKey: []string{"at"}, Rotate: tables.Month("at")})))))
	doubt, ok := dialect.Keyspaces.Against(dialect.Expiry)
	if !ok {
		t.Fatal("there is no note")
	}
	table := func(month, ttl string) Table {
		return Table{ID: ID{Name: "bills_" + month}, Options: map[string]string{optTTL: ttl}}
	}
	for name, test := range map[string]struct {
		live []Table
		want bool
	}{
		"none": {nil, true}, "one without": {[]Table{table("2026_01", "60"), table("2026_02", "0")}, true},
		"all with": {[]Table{table("2026_01", "60"), table("2026_02", "60")}, false},
	} {
		c := comparison{server: dialect.Keyspaces, declared: declared, live: &Schema{Tables: test.live}}
		c.onServer()
		if got := slices.ContainsFunc(c.found, func(d Difference) bool { return d.Fix == doubt.Statement("bills") && d.Impossible == doubt.Do }); got != test.want {
			t.Errorf("%s: %v, want %v: %v", name, got, test.want, c.found)
		}
	}
}

package cql_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cql"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		table, column bool
	}{
		{"orders", true, true},
		{"events_2024_01", true, true},
		{strings.Repeat("a", 48), true, true},
		{strings.Repeat("a", 49), false, true}, // only tables and keyspaces are directories
		{"", false, false},
		{"1st", false, false},
		{"_x", false, false},
		{"Orders", false, false}, // would be folded to lower case, or need quotes
		{"order", false, false},
		{"token", false, false},
		{"mbean", false, false},
		{"nan", false, false},
		{"true", false, false}, // a literal
		{"ordersé", false, false},
		{"a b", false, false},
		{"a;DROP TABLE b", false, false},
		{"a\n", false, false},
	} {
		if got := cql.IsTable(c.name); got != c.table {
			t.Errorf("IsTable(%q) = %v", c.name, got)
		}
		if got := cql.IsColumn(c.name); got != c.column {
			t.Errorf("IsColumn(%q) = %v", c.name, got)
		}
	}
}

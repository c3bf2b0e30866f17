package schema_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// All systems: declared, made into CQL, created, read back. Nothing differs, and what is read back makes CQL that is
// read as the same again.
func TestSystemsRoundTrip(t *testing.T) {
	t.Parallel()
	on := open(t)
	declared, keyspaces := systems(t)
	create(t, on, declared)
	wantNone(t, on, declared, "after Ensure")
	if err := ensure(t, on, declared); err != nil {
		t.Errorf("Ensure again: %v", err)
	}
	live, err := schema.Read(t.Context(), on, keyspaces...)
	if err != nil {
		t.Fatal(err)
	}
	if len(live.Tables) != len(declared.Tables) || len(live.Tables) < 30 {
		t.Errorf("%d tables live, %d declared", len(live.Tables), len(declared.Tables))
	}
	again, err := schema.Parse("live", live.CQL())
	if err != nil {
		t.Fatalf("the CQL of the live schema is not read: %v\n%s", err, live.CQL())
	}
	if found := schema.Compare(again, live); len(found) > 0 {
		t.Errorf("live, as CQL, read again: %s", &schema.DifferenceError{Differences: found})
	}
	wantFlaws(t, live)
	t.Logf("%d tables of 17 systems in %d keyspaces, no difference", len(declared.Tables), len(keyspaces))
}

// wantFlaws reviews the live tables, of which nothing is known but their schema: the errors are the three known flaws.
func wantFlaws(t *testing.T, live *schema.Schema) {
	t.Helper()
	var got []string
	for _, f := range lint.Check(live) {
		if f.Severity == lint.Error && f.Suppressed == "" {
			got = append(got, f.Code+" "+f.Table.Name)
		}
	}
	slices.Sort(got)
	if want := []string{"DN101 orders_by_status", "DN102 logs_bad", "DN201 orders_by_delivery_date"}; !slices.Equal(got, want) {
		t.Errorf("errors of the live tables: %v, want %v", got, want)
	}
}

// systems are all systems in keyspaces of the test's own. Two of them have a table of one name, so one gets a keyspace
// to itself.
func systems(t *testing.T) (all *schema.Schema, keyspaces []string) {
	t.Helper()
	files, err := filepath.Glob("../../../schema/testdata/systems/*.cql")
	if err != nil || len(files) != 17 {
		t.Fatalf("%d systems, %v", len(files), err)
	}
	in := make(map[string]string)
	var parts []*schema.Schema
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Parse(filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		to := make(map[string]string)
		for _, table := range s.Tables {
			name := table.Keyspace
			if filepath.Base(file) == "s12_conditional_insert.cql" {
				name = "s12"
			}
			if in[name] == "" {
				in[name] = cluster.Keyspace(t, 3)
				keyspaces = append(keyspaces, in[name])
			}
			to[table.Keyspace] = in[name]
		}
		parts = append(parts, s.In(to))
	}
	return schema.Add(parts...), keyspaces
}

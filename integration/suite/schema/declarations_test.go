package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

type review struct {
	ReviewID  gocql.UUID
	Status    string
	Email     string
	Written   time.Time
	Version   gocql.UUID
	UpdatedAt int64
}

// declarations are sets over tables of one name, as several processes may declare them.
func declarations(keyspace string) map[string]tables.Described {
	by := func(name, column string) tables.Table {
		return tables.Table{Name: name, Keyspace: keyspace, PartKey: []string{column}, SortKey: []string{"review_id"}}
	}
	set := func(options ...tables.Option) tables.Described {
		return tables.Must(tables.New[review]("review", append([]tables.Option{
			tables.Table{Name: "reviews", Keyspace: keyspace, PartKey: []string{"review_id"}},
			by("by_status", "status"), by("by_slot", "slot"),
			tables.Type("slot", "int"), tables.Stamp("updated_at"),
		}, options...)...))
	}
	account := func(options ...tables.Option) tables.Described {
		return tables.Must(tables.New[review]("account", append([]tables.Option{
			tables.Table{Name: "accounts", Keyspace: keyspace, PartKey: []string{"review_id"}}, tables.Type("version", "timeuuid"),
		}, options...)...))
	}
	email := tables.Table{Name: "accounts_by_email", Keyspace: keyspace, PartKey: []string{"email"}, Unique: true}
	domain, grown := tables.OneOf("status", "open", "it's"), tables.OneOf("status", "open", "hidden", "it's")
	since := tables.Since{Time: time.Now().Add(24 * time.Hour).Truncate(time.Second), Bucket: tables.Day("written")}
	return map[string]tables.Described{
		"made":         set(domain, tables.Derive("slot", tables.Every(48*time.Hour, "written"))),
		"grown":        set(grown, tables.Derive("slot", tables.Every(48*time.Hour, "written"), since)),
		"other bucket": set(domain, tables.Derive("slot", tables.Every(72*time.Hour, "written"))),
		"other domain": set(tables.OneOf("status", "open"), tables.SingleWriter("written"), tables.Derive("slot", tables.Every(48*time.Hour, "written"))),
		"contrary":     set(tables.OneOf("status", "open", "shut"), tables.Derive("slot", tables.Every(48*time.Hour, "written"))),
		"unique":       account(tables.Versioned("version"), email),
		"not unique":   account(tables.Versioned("version")),
		"plain":        account(),
		"plain email":  account(tables.Versioned("version"), by("accounts_by_email", "email")),
	}
}

// start is what a process does first: nil, or all that contradicts.
func start(t *testing.T, on *session.Session, set tables.Described) string {
	t.Helper()
	if err := schema.Validate(t.Context(), on, schema.Sets(set)); err != nil {
		return err.Error()
	}
	return ""
}

// notes are the statements that a start asks for.
func notes(t *testing.T, on *session.Session, set tables.Described) (fixes []string) {
	t.Helper()
	found, err := schema.Differences(t.Context(), on, schema.Sets(set))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		if d.Fix != "" && !d.Extra {
			fixes = append(fixes, d.Fix)
		}
	}
	return fixes
}

// Processes with several declarations meet the tables of one of them: those that contradict it do not start, and those
// that are older or newer do.
func TestDeclarationsOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	on := open(t)
	keyspace := cluster.Keyspace(t, 3)
	sets := declarations(keyspace)
	made := schema.Must(schema.Declare(schema.Sets(sets["made"], sets["unique"]),
		schema.With(keyspace+".by_status", schema.Options{Comment: "an editor's page"})))
	cluster.ChangeSchema(t, "", made.Statements()...)
	for name, want := range map[string]string{
		"made": "", "unique": "",
		"grown":        "put the Since into the fingerprint before a process with it starts",
		"other bucket": "column slot: this process uses every(72h0m0s, written), the table was made for every(48h0m0s, written)",
		"other domain": "column written: this process declares SingleWriter",
		"contrary":     `has "shut" and lacks "it's"`,
		"not unique":   "declares no Unique table, the table was made for Unique table(accounts_by_email)",
		"plain":        "column recent: is kept by a Versioned set",
		"plain email":  "column claim: is kept in a table of unique keys",
	} {
		if got := start(t, on, sets[name]); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}

	// The command writes the migration of the newer process, which is the same as that of its start. The older one starts
	// again.
	d := build(t, keyspace)
	migrate := func(set tables.Described) (string, int) {
		file := filepath.Join(t.TempDir(), "declared.cql")
		text := schema.Must(schema.Declare(schema.Sets(set, sets["unique"]))).CQL()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return d.run(t, "ddl", "--migrate", file)
	}
	if out, code := migrate(sets["contrary"]); code != 1 || !strings.Contains(out, `"shut"`) || strings.Contains(out, "\nALTER") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	fixes := notes(t, on, sets["grown"])
	out, code := migrate(sets["grown"])
	for _, fix := range fixes {
		if code != 1 || len(fixes) != 2 || !strings.Contains(out, "\n"+fix+";\n") {
			t.Errorf("exit code %d, want %s in\n%s", code, fix, out)
		}
	}
	cluster.ChangeSchema(t, "", fixes...)
	settled(t, on, sets["grown"])
	for _, name := range []string{"made", "grown"} {
		if got := start(t, on, sets[name]); got != "" {
			t.Errorf("%s, after the migration: %s", name, got)
		}
	}
	live, err := schema.Read(t.Context(), on, keyspace)
	if err != nil || live.Table(schema.ID{Keyspace: keyspace, Name: "by_status"}).Comment() != "an editor's page" {
		t.Errorf("%v: the service's own comment is gone:\n%s", err, live.CQL())
	}
	if out, _ := d.run(t, "ddl"); !strings.Contains(out, `'an editor''s page [denorm:1 one-of status "open" "it''s" "hidden"; stamp updated_at]'`) {
		t.Errorf("the text of the cluster:\n%s", out)
	}

	// A table from before has no fingerprint until the statement is run that a start gives.
	cluster.ChangeSchema(t, "", "ALTER TABLE "+keyspace+".by_slot WITH comment = ''")
	for len(notes(t, on, sets["grown"])) == 0 {
		<-time.After(100 * time.Millisecond) // until the node that is asked has heard of it
	}
	if got := start(t, on, sets["grown"]); got != "" {
		t.Errorf("without a fingerprint: %s", got)
	}
	cluster.ChangeSchema(t, "", notes(t, on, sets["grown"])...)
	settled(t, on, sets["grown"])
}

// settled waits until the nodes that are asked ask for nothing more.
func settled(t *testing.T, on *session.Session, set tables.Described) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(notes(t, on, set)) > 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still asked for: %v", notes(t, on, set))
		}
	}
}

package initialize_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/initialize"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema"
)

const root = "../../../.."

// review reads CQL.
func review(tb testing.TB, name, text string) *schema.Schema {
	tb.Helper()
	s, err := schema.Review(schema.Source{File: name, Text: text})
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return s
}

// corpus is the CQL that other tests of the repository have, by file.
func corpus(tb testing.TB) map[string]string {
	tb.Helper()
	texts := make(map[string]string)
	for _, pattern := range []string{
		"schema/lint/testdata/corpus/*.cql", "schema/lint/testdata/reviewed/*.cql", "schema/testdata/systems/*.cql", "schema/testdata/*.cql",
		"cmd/denorm/internal/diagram/testdata/*.cql", "cmd/denorm/command/testdata/*/*.cql",
	} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	return texts
}

// module makes a folder that is a module with this one.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	own, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			text = []byte(strings.Replace(string(text), "module github.com/denorm-go/denorm\n", "module example.org/shop\n", 1) +
				"\nrequire github.com/denorm-go/denorm v0.0.0\nreplace github.com/denorm-go/denorm => " + own + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is written for any schema compiles and passes vet, and the statements of migrate.cql end what Validate would
// find.
func TestCorpus(t *testing.T) {
	t.Parallel()
	dir, n := module(t), 0
	for file, text := range corpus(t) {
		s := review(t, file, text)
		plan := initialize.New(s, nil)
		if len(plan.Entities) == 0 {
			continue
		}
		n++
		folder := filepath.Join(dir, fmt.Sprintf("s%d", n))
		if _, err := plan.Write(folder, nil); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if n > 1 { // the program is the same for all
			if err := os.RemoveAll(filepath.Join(folder, "denorm")); err != nil {
				t.Fatal(err)
			}
		}
		declared, err := schema.Declare(schema.Sets(plan.Sets()...))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		migrated := review(t, file, text+";\n"+plan.Migration())
		for _, d := range schema.Breaking(schema.Compare(declared, migrated)) {
			t.Errorf("%s: after %s: %s", file, plan.Migration(), d)
		}
	}
	if n < 30 {
		t.Fatalf("entities in %d schemas only", n)
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", "-mod=mod", "./...")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What is written for a shop: with reasons at each guess, and no promise that is unsure.
func TestShop(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/shop.cql")
	if err != nil {
		t.Fatal(err)
	}
	plan := initialize.New(review(t, "shop.cql", string(text)), nil)
	dir := module(t)
	folder := filepath.Join(dir, "internal", "shop")
	files, err := plan.Write(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sets.go", "migrate.cql", "denorm/main.go", "ADOPT.md"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\n\n")
		golden.Check(t, "shop/"+filepath.Base(name)+".golden", rest)
	}
	golden.Check(t, "shop/report.golden", plan.String())
	if len(files) != 4 {
		t.Errorf("%v", files)
	}
}

// What is declared, offered and said follows from columns, statements and rows.
func TestSaid(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE k.logins (login_id uuid PRIMARY KEY, state text);
		CREATE TABLE k.logins_by_state (state text, login_id uuid, PRIMARY KEY (state, login_id));`
	const ends = "INSERT INTO k.logins (login_id, state) VALUES (?, ?) USING TTL 60;"
	with := func(column, cql string) string {
		return strings.Replace(cql, "state text)", "state text, "+column+")", 1)
	}
	for _, test := range []struct {
		what, cql     string
		rows          tablerow.Survey
		has, hasNever []string
	}{
		{"a key that may change", tables, tablerow.Survey{}, []string{
			`// tables.OneOf("state", ...),`, "// tables.UnstampedRows(), // with OneOf, until the rows are adopted", "Then remove `tables.UnstampedRows`",
			`// tables.Versioned("version"),`,
		}, []string{"microseconds"}},
		{
			"a list", with("notes list<text>", tables),
			tablerow.Survey{},
			[]string{`tables.ReadOnly("notes")`},
			[]string{`tables.Type("notes"`},
		},
		{"rows that end", tables + ends, tablerow.Survey{}, []string{`tables.ExpiresAt("expires_at")`}, []string{"tables.Versioned"}},
		{
			"rows that end, and a column of that name and another type", with("expires_at bigint", tables) + ends,
			tablerow.Survey{},
			[]string{`tables.ExpiresAt("ends_at")`, "rows expire: a statement inserts rows with a TTL"},
			nil,
		},
		{
			"columns that end", tables + ends,
			tablerow.Survey{Rows: 9, Ending: 5, Partly: 5},
			[]string{"a TTL on some columns, so no expiry fits: 5 of 9 rows"},
			[]string{"tables.ExpiresAt", "rows expire"},
		},
		{
			"a vector", with("place vector<float, 3>", tables),
			tablerow.Survey{},
			[]string{"no Go type for vector<float, 3>"},
			nil,
		},
		{
			"a key in quotes", strings.NewReplacer(" state", ` "toState"`, "(state", `("toState"`).Replace(tables),
			tablerow.Survey{},
			[]string{"key column toState needs quotes, and a set has no such column"},
			[]string{"tables.Derive"},
		},
		{
			"a table in quotes", strings.ReplaceAll(tables, "k.", `"K".`),
			tablerow.Survey{},
			[]string{
				`"K".logins (:1): its name needs quotes, and a set has no such table` + "\n",
				`"K".logins_by_state (:2): its name needs quotes, and a set has no such table` + "\n",
			},
			[]string{"fault(s)"},
		},
		{
			"a base table in quotes", strings.Replace(tables, "k.logins", `k."Logins_logins"`, 1),
			tablerow.Survey{},
			[]string{
				`k."Logins_logins" (:1): its name needs quotes, and a set has no such table` + "\n",
				"k.logins_by_state (:2): no set, until one of the tables above can join it\n",
			},
			nil,
		},
		{"rows that end by the table", strings.Replace(tables, "login_id));", "login_id)) WITH default_time_to_live = 60;", 1) +
			"ALTER TABLE k.logins WITH default_time_to_live = 60;", tablerow.Survey{}, []string{"tables.SingleWriter"}, []string{"tables.Versioned"}},
		{
			"a set that is adopted already", with("version timeuuid, pending blob, done timeuuid, recent map<tinyint, timeuuid>", tables) +
				"ALTER TABLE k.logins WITH comment = '[denorm:1 versioned version]';",
			tablerow.Survey{},
			[]string{`	tables.Versioned("version"),`},
			[]string{"Stamp", "may state change", "Pending", "Recent"},
		},
		{
			"a key that may follow from a time", with("day text, at timestamp", tables) + `
			CREATE TABLE k.logins_by_week (week text, login_id uuid, PRIMARY KEY (week, login_id));
			CREATE TABLE k.logins_by_day (day date, login_id uuid, state text, PRIMARY KEY (day, login_id));`,
			tablerow.Survey{},
			[]string{
				"its key has week, which k.logins lacks: if it follows from a time there, declare tables.Derive; else add it there and fill it\n",
				"its key has day, which k.logins lacks: it has one that is not the same\n",
			},
			nil,
		},
		{
			"write times of the service", tables + strings.Replace(ends, "TTL 60", "TIMESTAMP ?", 1),
			tablerow.Survey{},
			[]string{"`Logins` may have write times that are not in microseconds."},
			nil,
		},
		{
			"write times in milliseconds", tables,
			tablerow.Survey{Rows: 1, Units: map[string]int{"milliseconds": 1}},
			[]string{"`Logins` may have write times that are not in microseconds."},
			nil,
		},
	} {
		samples := map[schema.ID]*initialize.Sample{{Keyspace: "k", Name: "logins"}: {Survey: test.rows}}
		text, err := initialize.New(review(t, "", test.cql), samples).Text()
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
		}
		for _, want := range test.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", test.what, want, text)
			}
		}
		for _, never := range test.hasNever {
			if strings.Contains(text, never) {
				t.Errorf("%s: %s in\n%s", test.what, never, text)
			}
		}
	}
}

// A table that is not in a set, and a statement that the set does not replace, are named with what to do.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/stays.cql")
	if err != nil {
		t.Fatal(err)
	}
	plan := initialize.New(review(t, "stays.cql", string(text)), nil)
	folder := filepath.Join(module(t), "internal", "stays")
	if _, err := plan.Write(folder, nil); err != nil {
		t.Fatal(err)
	}
	steps, err := os.ReadFile(filepath.Join(folder, "ADOPT.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(steps), "\n\n")
	golden.Check(t, "stays.golden", plan.String()+"\n"+rest)
}

// Run twice nothing changes, a file that was edited stays, and one that was not is written again for another schema.
func TestEditedFilesStay(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE orders (order_id uuid PRIMARY KEY, user_id uuid);
		CREATE TABLE orders_by_user (user_id uuid, order_id uuid, PRIMARY KEY (user_id, order_id));`
	folder := filepath.Join(module(t), "shop")
	states := func(text string) string {
		t.Helper()
		files, err := initialize.New(review(t, "shop.cql", text), nil).Write(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range files {
			state, _, _ := strings.Cut(f.State, ",")
			out = append(out, filepath.Base(f.Name)+" "+state)
		}
		return strings.Join(out, " ")
	}
	want := func(text, want string) {
		t.Helper()
		if got := states(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	want(tables, "sets.go written migrate.cql written main.go written ADOPT.md written")
	want(tables, "sets.go unchanged migrate.cql unchanged main.go unchanged ADOPT.md unchanged")
	more := strings.Replace(tables, "user_id uuid)", "user_id uuid, total int)", 1)
	want(more, "sets.go written migrate.cql written main.go unchanged ADOPT.md unchanged")
	name := filepath.Join(folder, "sets.go")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(string(text) + "// mine\n")
	if err := os.WriteFile(name, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	want(more, "sets.go kept migrate.cql unchanged main.go unchanged ADOPT.md unchanged")
	other := more + strings.ReplaceAll(more, "order", "visit")
	const follows = " kept: sets.go was edited; delete it to have it written for the sets above "
	want(other, "sets.go kept migrate.cql"+follows+"main.go unchanged ADOPT.md"+strings.TrimSuffix(follows, " "))
	if got, err := os.ReadFile(name); err != nil || string(got) != string(changed) {
		t.Errorf("%v: %s", err, got)
	}
	if err := os.Remove(filepath.Join(folder, "ADOPT.md")); err != nil {
		t.Fatal(err)
	}
	want(other, "sets.go kept migrate.cql"+follows+"main.go unchanged ADOPT.md written")
	if steps, err := os.ReadFile(filepath.Join(folder, "ADOPT.md")); err != nil || !strings.Contains(string(steps), "for the sets `Orders`, `Visits`") {
		t.Errorf("%v, not for the sets of now:\n%s", err, steps)
	}
}

// The package is the one of the files that are there. One that cannot be imported is an error, before anything is read.
func TestPackageOfTheFolder(t *testing.T) {
	t.Parallel()
	const tables = "CREATE TABLE a (a_id uuid PRIMARY KEY, b int); CREATE TABLE a_by_b (b int, a_id uuid, PRIMARY KEY (b, a_id))"
	plan := initialize.New(review(t, "", tables), nil)
	for name, want := range map[string]string{"orders": `orders "example.org/x/some"`, "os": `ossets "example.org/x/some"`, "main": ""} {
		root := t.TempDir()
		folder := filepath.Join(root, "some")
		for file, text := range map[string]string{
			"go.mod": "module example.org/x // a comment\n", "some/a.go": "// Package.\npackage " + name + "\n", "some/a_test.go": "package " + name + "_test\n",
			"some/0.go": "//go:build ignore\n\npackage main\n",
		} {
			file = filepath.Join(root, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := plan.Write(folder, nil)
		if want == "" {
			if fault := initialize.Check(folder); err == nil || fault == nil || !strings.Contains(fault.Error(), "package main") {
				t.Errorf("package main: %v, %v", err, fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		main, err := os.ReadFile(filepath.Join(folder, "denorm", "main.go"))
		sets, missing := os.ReadFile(filepath.Join(folder, "sets.go"))
		if err != nil || missing != nil || !strings.Contains(string(main), want) || !strings.Contains(string(sets), "\npackage "+name+"\n") {
			t.Errorf("%s: %v, %v\n%s\n%s", name, err, missing, main, sets)
		}
		steps, err := os.ReadFile(filepath.Join(folder, "ADOPT.md"))
		if err != nil || !strings.Contains(string(steps), "--hosts HOST --keyspace KEYSPACE;") {
			t.Errorf("%s: %v\n%s", name, err, steps)
		}
	}
}

// A folder that is in no module is one clear error, and nothing is written.
func TestNoModule(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shop")
	plan := initialize.New(review(t, "", "CREATE TABLE a (a_id uuid PRIMARY KEY, b int); CREATE TABLE a_by_b (b int, a_id uuid, PRIMARY KEY (b, a_id))"), nil)
	if _, err := plan.Write(dir, nil); err == nil || !strings.Contains(err.Error(), "go mod init") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
}

// A statement that cannot be read is named with its place: what it would say of the tables is not known.
func TestUnreadStatement(t *testing.T) {
	t.Parallel()
	plan := initialize.New(review(t, "q.cql", "CREATE TABLE a (id int PRIMARY KEY);\nUPDATE a SET b = #x WHERE id = 1;\n"), nil)
	if f := plan.Findings; len(f) != 1 || f[0].Code != "DN508" || f[0].At != (schema.Position{File: "q.cql", Line: 2}) {
		t.Errorf("%+v", f)
	}
}

// Whatever CQL it is given, what is declared is a schema, and what is written is formatted.
func FuzzNew(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Add(`CREATE TYPE t (a frozen<t>); CREATE TABLE "a b".x (id uuid PRIMARY KEY, l list<frozen<t>>); CREATE TABLE "a b".x_by_l (l int, id uuid, PRIMARY KEY (l, id))`)
	f.Add("CREATE TYPE t (\"type\" int, a tuple<int, text>); CREATE TABLE xs (x_id uuid PRIMARY KEY, a frozen<t>, b text, \"b\n\" text); " +
		"CREATE TABLE xs_by_b (b text, x_id uuid, \"b\n\" text, PRIMARY KEY (b, x_id))")
	f.Add("CREATE TABLE func (func_id uuid PRIMARY KEY, _ int, a1 int, a_1 int, string text); CREATE TABLE func_by_a1 (a1 int, func_id uuid, PRIMARY KEY (a1, func_id))")
	nested := "CREATE TYPE t0 (a int, b int);"
	for n := range 40 {
		nested += fmt.Sprintf("CREATE TYPE t%d (a frozen<t%d>, b frozen<t%[2]d>);", n+1, n)
	}
	f.Add(nested + "CREATE TABLE xs (x_id uuid PRIMARY KEY, a frozen<t40>, b text); CREATE TABLE xs_by_b (b text, x_id uuid, PRIMARY KEY (b, x_id))")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schema.Review(schema.Source{Text: text})
		if err != nil {
			return
		}
		plan := initialize.New(s, nil)
		if _, err := schema.Declare(schema.Sets(plan.Sets()...)); err != nil && len(plan.Entities) > 0 {
			t.Error(err)
		}
		if _, err := plan.Text(); err != nil {
			t.Error(err)
		}
	})
}

package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/internal/testutil/golden"
)

// What lint and ddl say of files that are written in other ways than this project writes them.
func TestFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/files/*")
	if err != nil || len(files) != 8 {
		t.Fatalf("%v, %v", files, err)
	}
	var b strings.Builder
	for _, file := range files {
		for _, c := range []string{"lint", "ddl"} {
			out, _, err := run(t, nil, c, file)
			b.WriteString("$ denorm " + c + " " + file + "\n" + out)
			if err != nil && err.Error() != "" {
				b.WriteString(err.Error() + "\n")
			}
		}
	}
	golden.Check(t, "files.golden", b.String())
}

// A folder may be of whoever sends a change for review. A link in it must not put other files into the log.
func TestFolderFollowsNoLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write := func(folder, name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	secret := write(outside, "secret.cql", "TOKEN=ghp_secret")
	write(dir, "a.cql", "CREATE TABLE shop.t (id int PRIMARY KEY);")
	for link, target := range map[string]string{"b.cql": secret, "c": outside} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range []string{"text", "json", "sarif"} {
		out, code, err := run(t, nil, "lint", "--format", format, dir)
		if strings.Contains(out, "ghp_secret") || code != command.ExitError || !strings.Contains(err.Error(), "b.cql: a link, or no regular file") {
			t.Errorf("%s: exit code %d, %v\n%s", format, code, err, out)
		}
	}
	if out, code, err := run(t, nil, "lint", filepath.Join(dir, "a.cql"), filepath.Join(dir, "b.cql")); strings.Contains(out, "ghp_secret") ||
		code != command.ExitError || !strings.Contains(err.Error(), "b.cql: a link: name its target") {
		t.Errorf("a link that is named: exit code %d, %v\n%s", code, err, out)
	}
	if err := os.Symlink("a.cql", filepath.Join(dir, "inside")); err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{"inside", "c", "c/"} {
		if out, code, err := run(t, nil, "lint", dir+"/"+named); code != command.ExitError || strings.Contains(out, "ghp_secret") {
			t.Errorf("a link within its folder, or a folder that is one: exit code %d, %v\n%s", code, err, out)
		}
	}
	if err := os.Remove(filepath.Join(dir, "b.cql")); err != nil {
		t.Fatal(err)
	}
	if out, code, err := run(t, nil, "lint", dir); code != command.ExitFine || strings.Contains(out, "ghp_secret") {
		t.Errorf("a folder that is a link: exit code %d, %v\n%s", code, err, out)
	}
}

// What is no text, or is larger than any schema, is not read, and nothing of it is shown.
func TestFilesThatAreNotRead(t *testing.T) {
	t.Parallel()
	for says, text := range map[string]string{
		"no text: it has a byte 0": "HOME=/root\x00TOKEN=ghp_secret\x00",
		"larger than 16 MiB":       "-- " + strings.Repeat("ghp_secret ", 2<<20),
	} {
		file := filepath.Join(t.TempDir(), "x.cql")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, code, err := run(t, nil, "lint", file)
		if code != command.ExitError || !strings.HasSuffix(err.Error(), says) || strings.Contains(out+err.Error(), "ghp_secret") {
			t.Errorf("exit code %d, %.200v\n%.200s", code, err, out)
		}
	}
}

// The folders on the way to a file are of whoever sends a change, too, as far as they are below the working folder.
func TestFolderOnTheWayIsNoLink(t *testing.T) {
	t.Chdir(t.TempDir())
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "a.cql"), []byte("TOKEN=ghp_secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, "schema"); err != nil {
		t.Fatal(err)
	}
	whole, err := filepath.Abs("schema/a.cql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"schema/a.cql", "./schema/../schema/a.cql", whole} {
		out, code, err := run(t, nil, "lint", file)
		if strings.Contains(out, "ghp_secret") || code != command.ExitError || err.Error() != "schema: a link: name its target" {
			t.Errorf("%s: exit code %d, %v\n%s", file, code, err, out)
		}
	}
}

// A statement that begins with a misspelt word is a finding, as long as any other of its file is understood. Else it is
// an error that names the line, as the file may be no CQL.
func TestFilesWithAMisspeltWord(t *testing.T) {
	t.Parallel()
	for _, other := range []string{
		"", "-- nothing else", "CREATE TABEL a (b int PRIMARY KEY);", "ALTER TABLE products ADD a text;", "CREATE TYPE a (b int);", "CREATE INDEX ON products (name);",
		"CREATE MATERIALIZED VIEW v AS SELECT * FROM products WHERE name IS NOT NULL AND product_id IS NOT NULL PRIMARY KEY (name, product_id);", "USE shop;",
		"CREATE KEYSPACE a WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};", "SELECT * FROM products WHERE product_id = ?;",
		"CREATE TABLE a (b int PRIMARY KEY);", "CONSISTENCY ONE\nCREATE TABLE a (b int PRIMARY KEY);",
	} {
		understood := other != "" && !strings.HasPrefix(other, "--") && !strings.Contains(other, "TABEL")
		file := filepath.Join(t.TempDir(), "V7.sql")
		if err := os.WriteFile(file, []byte("\ufeff"+other+"\nCRATE TABLE b (a int PRIMARY KEY);\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{"lint", "diagram", "estimate", "init"} {
			out, code, err := run(t, nil, c, "testdata/clean.cql", file)
			if code == command.ExitError == understood {
				t.Errorf("%s: %s: exit code %d, %v\n%s", other, c, code, err, out)
			}
			if says := file + ": is not CQL (line 2: want a statement, not \"CRATE\")"; !understood && !strings.HasPrefix(fmt.Sprint(err), says) {
				t.Errorf("%s: %s: %v", other, c, err)
			}
			if c == "lint" && understood && !strings.Contains(out, ": warning DN508") {
				t.Errorf("%s:\n%s", other, out)
			}
		}
	}
}

// To comment one statement out must not copy the others: for four times as many it takes four times the bytes.
func TestWorkForManyCommands(t *testing.T) { //nolint:paralleltest // it counts what the whole process allocates
	allocated := func(n int) uint64 {
		file := filepath.Join(t.TempDir(), "x.cql")
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "CREATE TABLE k.t%d (a int PRIMARY KEY) WITH comment = '##[x';\n", i)
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, code, err := run(t, nil, "ddl", file)
		runtime.ReadMemStats(&after)
		commented := strings.Count(out, "\n-- CREATE TABLE")
		if n--; code != command.ExitError || commented != n { // the first begins the text
			t.Errorf("exit code %d, %v: %d of %d are commented out", code, err, commented, n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(500), allocated(2000); many > 6*few {
		t.Errorf("%d bytes, and %d for four times as much", few, many)
	}
}

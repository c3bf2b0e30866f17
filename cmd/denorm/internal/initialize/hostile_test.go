package initialize_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/initialize"
)

const pair = "CREATE TABLE a (a_id uuid PRIMARY KEY, b int); CREATE TABLE a_by_b (b int, a_id uuid, PRIMARY KEY (b, a_id))"

// A stamp or version that a fingerprint names and that needs quotes is no column of a set: another one is taken.
func TestRecordedColumnThatNeedsQuotes(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"stamp", "versioned"} {
		plan := initialize.New(review(t, "", `CREATE TABLE a (a_id uuid PRIMARY KEY, b int, "a+x" bigint) WITH comment = '[denorm:1 `+word+` a+x]';
			CREATE TABLE a_by_b (b int, a_id uuid, PRIMARY KEY (b, a_id))`), nil)
		if len(plan.Entities) != 1 || len(plan.Left) != 1 {
			t.Errorf("%s: %s", word, plan)
		}
	}
}

// Names of columns, types and files are text in ADOPT.md, and neither Markdown nor HTML.
func TestNamesAreNoMarkdown(t *testing.T) {
	t.Parallel()
	plan := initialize.New(review(t, "", "CREATE TABLE a (a_id uuid PRIMARY KEY, b int, \"x` <img src=y> **run** `curl`\" text,"+
		"u frozen<\"t` [click](https://evil.example) <img src=y> <a<img src=z> _run_ &lt;\">);"+
		"CREATE TABLE a_by_b (b int, a_id uuid, PRIMARY KEY (b, a_id))"), nil)
	text, err := plan.Text()
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _ := strings.Cut(text, "# Adopt")
	for _, want := range []string{"column `` x` <img src=y> **run** `curl` `` is", "t\\` \\[click\\](https\\://evil.example) \\<img src=y> <a\\<img src=z> \\_run\\_ \\&lt;"} {
		if !strings.Contains(steps, want) {
			t.Errorf("no %s in\n%s", want, steps)
		}
	}
}

// A link below the root of the module is neither followed nor read.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	plan := initialize.New(review(t, "", pair), nil)
	for _, name := range []string{"shop", "shop/denorm", "shop/sets.go", "shop/other.go", "shop/ADOPT.md"} {
		dir, outside := module(t), filepath.Join(t.TempDir(), "outside")
		target := outside
		if filepath.Ext(name) != "" {
			target += "/secret"
		}
		link := filepath.Join(dir, name)
		for _, folder := range []string{outside, filepath.Dir(link)} {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if target != outside {
			if err := os.WriteFile(target, []byte("hello world"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		_, err := plan.Write(filepath.Join(dir, "shop"), nil)
		if err == nil || !strings.Contains(err.Error(), "is a link") || strings.Contains(err.Error(), "hello") {
			t.Errorf("%s: %v", name, err)
		}
		if files, err := os.ReadDir(outside); err != nil || target == outside && len(files) > 0 {
			t.Errorf("%s: written to %v, %v", name, files, err)
		}
	}
}

// A link to another module is not followed either, where the working folder has it, or one above that is named.
func TestLinkToAnotherModuleIsNotFollowed(t *testing.T) {
	plan := initialize.New(review(t, "", pair), nil)
	dir, outside := module(t), module(t)
	err := errors.Join(os.Symlink(outside, filepath.Join(dir, "p")), os.Mkdir(filepath.Join(dir, "own"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for at, folders := range map[string][]string{
		dir:                       {"p", "p/sub", "./own/../p", filepath.Join(dir, "p"), filepath.Join(dir, "p", "sub")},
		filepath.Join(dir, "own"): {"../p", "../p/sub"},
	} {
		t.Chdir(at)
		for _, folder := range folders {
			_, err := plan.Write(folder, nil)
			if err == nil || !strings.HasSuffix(err.Error(), "p is a link: name its target, or remove it") {
				t.Errorf("%s: %v", folder, err)
			}
		}
		for _, folder := range []string{".", filepath.Join(outside, "q")} {
			if err := initialize.Check(folder); err != nil {
				t.Errorf("%s: %v", folder, err)
			}
		}
	}
	if files, err := os.ReadDir(outside); err != nil || len(files) != 2 { // go.mod and go.sum
		t.Errorf("written: %v, %v", files, err)
	}
}

// A package has a name that main.go can import, and a folder that cannot be imported is an error.
func TestNamesThatCannotBeImported(t *testing.T) {
	t.Parallel()
	plan, dir := initialize.New(review(t, "", pair), nil), module(t)
	for _, name := range []string{"init", "nil"} {
		if _, err := plan.Write(filepath.Join(dir, name), nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, name, "denorm", "main.go"))
		if err != nil || !strings.Contains(string(text), "\tsets"+name+" \"example.org/shop/"+name+"\"") {
			t.Errorf("%v: %s", err, text)
		}
	}
	for _, name := range []string{"we ird", "a;b", "$(x)"} {
		if err := initialize.Check(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), "cannot be imported") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

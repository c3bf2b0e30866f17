package files

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/internal/testutil/planted"
	"github.com/denorm-go/denorm/schema/lint"
)

// Whoever copies Go from the README or from docs/ gets what compiles, given what testdata/readme.go.txt takes for
// granted. A block that is a whole program takes nothing for granted; see TestReadmeRuns.
func TestReadmeCompiles(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/readme.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	declarations, code, blocks := "", "", 0
	texts := pages(t, "README.md", "docs/*.md", "docs/*/*.md")
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		top, body, n := program(path, texts[path])
		declarations, code, blocks = declarations+top, code+body, blocks+n
	}
	if blocks < 40 {
		t.Fatalf("found %d blocks of Go", blocks)
	}
	place, err := filepath.Abs("testdata/readme/readme.go") // where there is nothing
	if err != nil {
		t.Fatal(err)
	}
	// -e: all errors, for that a variable is not used is none here.
	out, err := planted.Overlay(t, place, string(source)+declarations+code, "build", "-gcflags=-e", "./testdata/readme")
	if err == nil || !strings.Contains(string(out), "declared and not used") {
		t.Errorf("the compiler has not seen the blocks, which do not use all that they declare: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "declared and not used") {
			t.Error(strings.TrimSpace(line))
		}
	}
	// The declarations alone: tables.Must panics for one that is not valid.
	alone := strings.Replace(string(source), "package readme", "package main", 1) + declarations + "\nfunc main() {}\n"
	alone = imported.ReplaceAllStringFunc(alone, func(line string) string {
		if name := imported.FindStringSubmatch(line)[1]; !strings.Contains(alone, name+".") {
			return ""
		}
		return line
	})
	if out, err := planted.Overlay(t, place, alone, "run", "./testdata/readme"); err != nil {
		t.Errorf("the declarations: %v\n%s", err, out)
	}
}

// imported matches a line of an import, with the name of its package.
var imported = regexp.MustCompile(`(?m)^\t"(?:[\w./-]+?/)?(\w+)(?:/v2|\.v0)?"$`)

// The README begins with a program, what it prints, and a picture of its tables. The command lint above them can be
// typed as it is, and works on the tables that the program creates.
func TestReadmeRuns(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	if len(readme) > 10_000 {
		t.Errorf("the README has %d bytes, want at most 10,000: details are for docs/", len(readme))
	}
	if rules := fmt.Sprintf("[%d rules](docs/ref/lint.md)", len(lint.Rules())); !strings.Contains(readme, rules) {
		t.Errorf("the README does not say %s", rules)
	}
	typed, rest := block(t, readme, "sh")
	source, rest := block(t, rest, "go")
	printed, _ := block(t, rest, "text")
	config := cassandratest.Listen(t, 1).Config()
	address := net.JoinHostPort(config.Hosts[0], strconv.Itoa(config.Port)) // 9042 may be taken, by real nodes
	for text, other := range map[string]string{
		`gocql.NewCluster("127.0.0.1")`: fmt.Sprintf("gocql.NewCluster(%q)", address),
		"import (\n":                    "import (\n\t\"os\"\n\t\"github.com/denorm-go/denorm/cmd/denorm/command\"\n",
		"func main() {\n":               "func main() {\n\tif len(os.Args) > 1 {\n\t\tcheck(command.New(command.Declared(Shop)).Execute())\n\t\treturn\n\t}\n",
	} {
		if strings.Count(source, text) != 1 {
			t.Fatalf("the program does not have once: %s", text)
		}
		source = strings.Replace(source, text, other, 1)
	}
	place, err := filepath.Abs("testdata/program/main.go") // where there is nothing
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if out, err := planted.Overlay(t, place, source, "build", "-o", program, "./testdata/program"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if got := run(); got != printed {
		t.Errorf("the program of the README prints\n%s\nwhere the README has\n%s", got, printed)
	}
	golden.Check(t, "../../../../docs/model/readme.svg", run("diagram"))

	denorm, out := command.New(), new(strings.Builder)
	denorm.SetArgs([]string{"lint", "--hosts", address})
	denorm.SetOut(out)
	if err := denorm.Execute(); command.ExitCode(err) != 1 || !strings.Contains(out.String(), "DN101 shop.orders_by_status") {
		t.Errorf("lint: %v, %s", err, out)
	}
	if !strings.HasSuffix(typed, "@latest lint --hosts 127.0.0.1\n") {
		t.Errorf("the README says to type %s", typed)
	}
}

// block is the first block of code in a language, and the text after it.
func block(t *testing.T, text, language string) (code, rest string) {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n```"+language+"\n")
	code, rest, ended := strings.Cut(rest, "\n```\n")
	if !found || !ended {
		t.Fatalf("the README has too few blocks of %s", language)
	}
	return code + "\n", rest
}

// The test in docs/ref/cassandratest.md is the one that runs.
func TestCassandratestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/ref/cassandratest.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../../cassandratest/example/users_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n```go\n"+string(source)+"```\n") {
		t.Error("docs/ref/cassandratest.md does not have the text of cassandratest/example/users_test.go: copy it")
	}
}

// program makes the Go blocks of a text into declarations, and a function of each block for what remains. Errors in it
// name the lines of the text. Blocks that are whole files are left out.
func program(name, text string) (declarations, functions string, blocks int) {
	var top, body strings.Builder
	const (
		prose = iota
		whole
		statements
		declaration
	)
	in := prose
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		// What is left out.
		line = strings.ReplaceAll(line, "{ ... }", "{ panic(0) }")
		at := fmt.Sprintf("//line %s:%d\n", name, i+1)
		switch {
		case in == prose && line == "```go" && strings.HasPrefix(lines[i+1], "package "):
			in = whole
		case in == prose && line == "```go":
			blocks++
			in = statements
			fmt.Fprintf(&body, "func _() {\n")
		case in == prose:
		case in == whole:
			if line == "```" {
				in = prose
			}
		case line == "```":
			in = prose
			body.WriteString("}\n")
		case in == declaration:
			top.WriteString(line + "\n")
			if line == "}" || line == "))" || line == ")" {
				in = statements
			}
		case strings.HasPrefix(line, "type ") || strings.HasPrefix(line, "var ") || strings.HasPrefix(line, "func "):
			top.WriteString(at + line + "\n")
			if strings.HasSuffix(line, "{") || strings.HasSuffix(line, ",") || strings.HasSuffix(line, "(") {
				in = declaration
			}
		default:
			body.WriteString(at + line + "\n")
		}
	}
	return top.String(), body.String(), blocks
}

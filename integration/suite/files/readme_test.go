package files

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/planted"
)

// Whoever copies Go from the README or from docs/ gets what compiles, given what testdata/readme.go.txt takes for granted. A block
// that is a whole program takes nothing for granted; see TestReadmeRuns.
func TestReadmeCompiles(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/readme.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	code, blocks := "", 0
	for _, path := range append(docs, "../../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, n := program(filepath.Base(path), string(text))
		code, blocks = code+c, blocks+n
	}
	if blocks < 7 {
		t.Fatalf("found %d blocks of Go", blocks)
	}
	place, err := filepath.Abs("testdata/readme/readme.go") // where there is nothing
	if err != nil {
		t.Fatal(err)
	}
	// -e: all errors, for that a variable is not used is none here.
	out, err := planted.Overlay(t, place, string(source)+code, "build", "-gcflags=-e", "./testdata/readme")
	if err == nil || !strings.Contains(string(out), "declared and not used") {
		t.Errorf("the compiler has not seen the blocks, which do not use all that they declare: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "declared and not used") {
			t.Error(strings.TrimSpace(line))
		}
	}
}

// The first block of the README is a program, and the block after it is what it prints.
func TestReadmeRuns(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(readme) > 8<<10 {
		t.Errorf("the README has %d bytes, want at most %d: details are for docs/", len(readme), 8<<10)
	}
	_, rest, found := strings.Cut(string(readme), "\n```go\n")
	source, rest, ended := strings.Cut(rest, "\n```\n")
	_, rest, printed := strings.Cut(rest, "\n```text\n")
	want, _, _ := strings.Cut(rest, "```\n")
	if !found || !ended || !printed || !strings.HasPrefix(source, "package main\n") {
		t.Fatal("the README does not begin with a program and its output")
	}
	// Port 9042 may be taken, by real nodes.
	const host = `gocql.NewCluster("127.0.0.1")`
	if strings.Count(source, host) != 1 {
		t.Fatalf("the program does not have once: %s", host)
	}
	config := cassandratest.Listen(t, 1).Config()
	address := net.JoinHostPort(config.Hosts[0], strconv.Itoa(config.Port))
	source = strings.Replace(source, host, fmt.Sprintf("gocql.NewCluster(%q)", address), 1)
	place, err := filepath.Abs("testdata/program/main.go") // where there is nothing
	if err != nil {
		t.Fatal(err)
	}
	got, err := planted.Overlay(t, place, source, "run", "./testdata/program")
	if err != nil || string(got) != want {
		t.Errorf("the program of the README ends with %v and prints\n%s\nwhere the README has\n%s", err, got, want)
	}
}

// The test in docs/cassandratest.md is the one that runs.
func TestCassandratestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/cassandratest.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../../cassandratest/example/users_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n```go\n"+string(source)+"```\n") {
		t.Error("docs/cassandratest.md does not have the text of cassandratest/example/users_test.go: copy it")
	}
}

// program makes the Go blocks of a text into declarations, and a function of each block for what remains. Errors in it name
// the lines of the text. Blocks that are whole files are left out.
func program(name, text string) (code string, blocks int) {
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
	return top.String() + body.String(), blocks
}

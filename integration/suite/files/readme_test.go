package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/planted"
)

// Whoever copies Go from the README gets what compiles, given what testdata/readme.go.txt takes for granted.
func TestReadmeCompiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/readme.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	code, blocks := program(string(readme))
	if blocks < 8 {
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

// program makes the Go blocks of a text into declarations, and a function of each block for what remains. Errors in it name
// the lines of the text.
func program(text string) (code string, blocks int) {
	var top, body strings.Builder
	const (
		prose = iota
		statements
		declaration
	)
	in := prose
	for i, line := range strings.Split(text, "\n") {
		// What is left out.
		line = strings.ReplaceAll(line, "{ ... }", "{ panic(0) }")
		at := fmt.Sprintf("//line README.md:%d\n", i+1)
		switch {
		case in == prose && line == "```go":
			blocks++
			in = statements
			fmt.Fprintf(&body, "func _() {\n")
		case in == prose:
		case line == "```":
			in = prose
			body.WriteString("}\n")
		case in == declaration:
			top.WriteString(line + "\n")
			if line == "}" || line == "))" {
				in = statements
			}
		case strings.HasPrefix(line, "type ") || strings.HasPrefix(line, "var "):
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

//go:build faults

// Package tutorial_test does what docs/tutorial.md says, as somebody who has nothing else.
package tutorial_test

import (
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/sleep"
)

var update = flag.Bool("update", false, "write what the commands print into the tutorial")

func TestMain(m *testing.M) {
	if os.Getenv(cqlshEnv) != "" {
		os.Exit(cqlsh(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// Each file of the tutorial is written, each edit made and each command given, in one shell. What is printed is what
// the page says, but for ids, tokens and times.
func TestTutorialNode(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	cluster.DropAfter(t, "shop")
	cluster.Nodes(t) // run again when the test ends
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	// The nodes run already, and the clone is this one.
	instead := map[string]string{
		"git clone https://github.com/denorm-go/denorm": "ln -s " + root + " denorm",
		"make -C denorm up":                             "(cd denorm/integration && go build -o ../bin/ ./cmd/cluster)",
		"make -C ../denorm down":                        "true",
	}
	p, sh, port := read(t), newShell(t), freePort(t)
	files, commands := 0, 0
	for i, s := range p.steps {
		switch {
		case s.command == "" && s.diff:
			sh.edit(s.file, strings.ReplaceAll(s.text, "8080", port))
		case s.command == "":
			files++
			sh.write(s.file, strings.ReplaceAll(s.text, "8080", port))
		default:
			commands++
			command := s.command
			if other := instead[command]; other != "" {
				delete(instead, s.command)
				command = other
			}
			if strings.Contains(command, "cluster kill") {
				// A node that is killed loses what it acknowledged in the last 100 ms. No reader types so fast.
				if err := sleep.For(t.Context(), time.Second); err != nil {
					t.Fatal(err)
				}
			}
			out, code := sh.run(strings.ReplaceAll(command, "8080", port))
			out = strings.ReplaceAll(out, port, "8080")
			said := strings.Contains(s.text, "exit status") || i+1 < len(p.steps) && p.steps[i+1].command == "echo $?"
			if code != 0 && !said && s.command != "echo $?" {
				t.Fatalf("line %d: %s: exit code %d\n%s", s.line, s.command, code, out)
			}
			if s.shown && *update {
				p.steps[i].text = out
			} else if s.shown && same(out) != same(s.text) {
				t.Fatalf("line %d: %s prints\n%s\nwhere the tutorial has\n%s", s.line, s.command, out, s.text)
			}
		}
	}
	if files < 8 || commands < 40 || len(instead) > 0 {
		t.Errorf("%d files, %d commands; not found: %v", files, commands, instead)
	}
	if *update {
		p.write(t)
	}
}

// vary are what each run prints otherwise.
var vary = []struct {
	text *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`next: \S+`), "next: TOKEN"},
	{regexp.MustCompile(`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d`), "DATE"},
	{regexp.MustCompile(`(?m)^DATE gocql: .*\n`), ""},         // the driver says that nodes are slow
	{regexp.MustCompile(`(?m)^\w+ order +\d+\.\d %.*\n`), ""}, // the progress of a run that takes ten seconds
	{regexp.MustCompile(`\b\d+(\.\d+)?m?s\b|\(cached\)`), "TIME"},
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`(?m)^ | $`), ""},
}

func same(text string) string {
	for _, v := range vary {
		text = v.text.ReplaceAllString(text, v.as)
	}
	return strings.TrimSpace(text)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

// tutorial is the page, as lines and as what a reader does.
type tutorial struct {
	lines []string
	steps []step
}

// step is a file to write, an edit of one, or a command.
type step struct {
	line    int // counted from 1
	file    string
	diff    bool
	command string
	shown   bool   // text is what the command prints
	text    string // lines of the page from first to end
	end     int
}

const path = "../../../docs/tutorial.md"

var named = regexp.MustCompile("`([a-z_/]+\\.go)`")

// read reads the page. A block of Go is the file that the text has named last; so is what a diff is of. A block of text
// has commands, each after a dollar, and what they print; one of sh has commands alone.
func read(t *testing.T) *tutorial {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &tutorial{lines: strings.Split(string(text), "\n")}
	file := ""
	for i := 0; i < len(p.lines); i++ {
		if m := named.FindAllStringSubmatch(p.lines[i], -1); m != nil {
			file = m[len(m)-1][1]
		}
		language, fenced := strings.CutPrefix(p.lines[i], "```")
		if !fenced {
			continue
		}
		first := i + 1
		length := slices.Index(p.lines[first:], "```")
		if length < 0 {
			t.Fatalf("line %d: the block does not end", first)
		}
		i = first + length
		block := p.lines[first:i]
		switch language {
		case "go", "diff":
			text := strings.Join(block, "\n") + "\n"
			p.steps = append(p.steps, step{line: first + 1, file: file, diff: language == "diff", text: text})
		case "sh", "text":
			p.commands(first, i, language == "text")
		default:
			t.Fatalf("line %d: a block of %q", first, language)
		}
	}
	return p
}

// commands reads the lines from first to end.
func (p *tutorial) commands(first, end int, shown bool) {
	for i := first; i < end; i++ {
		command := strings.TrimPrefix(p.lines[i], "$ ")
		s := step{line: i + 1, command: command, shown: shown, end: i + 1}
		if shown {
			for s.end < end && !strings.HasPrefix(p.lines[s.end], "$ ") {
				s.end++
			}
			s.text = strings.Join(p.lines[i+1:s.end], "\n")
			i = s.end - 1
		}
		p.steps = append(p.steps, s)
	}
}

// write writes the page with other outputs.
func (p *tutorial) write(t *testing.T) {
	t.Helper()
	for _, s := range slices.Backward(p.steps) {
		if s.shown {
			var out []string
			if s.text != "" {
				out = strings.Split(s.text, "\n")
			}
			p.lines = slices.Replace(p.lines, s.line, s.end, out...)
		}
	}
	text := strings.Join(p.lines, "\n")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	fmt.Println("read the difference before you commit it:", path)
}

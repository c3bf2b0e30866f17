package files

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/examples/orders"
)

// Flags that pages name exist, and so do commands with an argument in the table of docs/ref/command.md.
func TestPagesNameFlags(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	flag := func(f *pflag.Flag) { known[f.Name] = true }
	commands := make(map[string]bool)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		commands[c.Name()] = true
		c.Flags().VisitAll(flag)
		c.PersistentFlags().VisitAll(flag)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(command.New(command.Declared(orders.Schema)))
	named := regexp.MustCompile("denorm [a-z ]*[^`\n]* --([a-z][a-z-]+)|`--([a-z][a-z-]+)")
	found := 0
	for path, text := range pages(t, "README.md", "docs/*.md", "docs/ref/*.md") {
		if path == "docs/temporal.md" {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if name := m[1] + m[2]; !known[name] {
				t.Errorf("%s names --%s, which no command has", path, name)
			}
			found++
		}
	}
	page := pages(t, "docs/ref/command.md")["docs/ref/command.md"]
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)[ `]").FindAllStringSubmatch(page, -1) {
		if !commands[m[1]] {
			t.Errorf("docs/ref/command.md names %s, which is no command", m[1])
		}
		delete(commands, m[1])
	}
	for name := range commands {
		if !strings.Contains(page, "`"+name+" ") && name != "denorm" {
			t.Errorf("docs/ref/command.md does not name %s", name)
		}
	}
	if found < 60 {
		t.Errorf("found %d flags", found)
	}
}

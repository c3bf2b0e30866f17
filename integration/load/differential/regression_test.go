package differential

import (
	"bufio"
	"io"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// Regression is statements that the clusters once did not agree about.
type Regression struct {
	Name  string
	Steps []transcript.Step
}

// Regressions reads lines of statements, in groups that begin with a line of # and a name.
func Regressions(from io.Reader) (out []Regression, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if name, ok := strings.CutPrefix(line, "# "); ok {
			out = append(out, Regression{Name: name})
			continue
		}
		if line == "" {
			continue
		}
		step, err := transcript.Parse(line)
		if err != nil {
			return nil, err
		}
		if step.Batch != "" && strings.Contains(line, " IF ") {
			step.Columns = allNames()
		}
		last := &out[len(out)-1]
		last.Steps = append(last.Steps, step)
	}
	return out, lines.Err()
}

// allNames are the names of all columns of all tables.
func allNames() (out []string) {
	for _, t := range tables {
		out = append(out, names(t.columns())...)
	}
	return out
}

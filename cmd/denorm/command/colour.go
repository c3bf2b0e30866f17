package command

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/denorm-go/denorm/schema/lint"
)

// colours says how to colour text.
type colours bool

// colouring decides by --color, the environment and the kind of output.
func colouring(flag string, out io.Writer) (colours, error) {
	switch flag {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		_, no := os.LookupEnv("NO_COLOR")
		return colours(!no && isTerminal(out)), nil
	}
	return false, fmt.Errorf("unknown --color %q: auto, always or never", flag)
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// severity writes a severity, in its colour if there are any.
func (c colours) severity(s lint.Severity) string {
	if !c {
		return s.String()
	}
	return map[lint.Severity]string{lint.Error: "\x1b[1;31m", lint.Warning: "\x1b[1;33m", lint.Note: "\x1b[1;36m"}[s] + s.String() + "\x1b[0m"
}

// dim writes what matters less.
func (c colours) dim(s string) string {
	if !c {
		return s
	}
	return "\x1b[2m" + s + "\x1b[0m"
}

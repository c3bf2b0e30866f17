package ast

import (
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
)

// CommentLine is text as one line of a comment in CQL. Whatever the text, nothing of it leaves the comment: neither by a character that some
// reader of CQL takes for the end of a line, nor by the marks of another kind of comment. cqlsh looks for /* and */ before it looks for --:
// those in one comment would hide the statements after it, and what follows those in the next one would be executed.
func CommentLine(text string) string {
	return "-- " + strings.ReplaceAll(strings.ReplaceAll(printable.Line(text), "/*", `/\*`), "*/", `*\/`) + "\n"
}

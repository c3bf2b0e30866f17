package schema

import (
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
)

// comment is text as one line of comment. Whatever the text, nothing of it leaves the comment: neither by a character that
// some reader of CQL takes for the end of a line, nor by the marks of another kind of comment.
func comment(text string) string { return "-- " + inComment(text) + "\n" }

// inComment is text as written behind --. cqlsh looks for /* and */ before it looks for --: those in one comment would hide
// the statements after it, and what follows those in the next one would be executed.
func inComment(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(printable.Line(text), "/*", `/\*`), "*/", `*\/`)
}

// commentedOut is a statement as comment, and why it is one. A reader who runs it after all has to know if it is not spelled
// as it must be.
func commentedOut(why, statement string) string {
	if inComment(statement) != statement {
		why += " (what a comment cannot hold is written with a backslash)"
	}
	return comment(why+":") + comment(statement+";")
}

// marksComment says whether a statement has /* or */ in its names or texts. CQL knows no comment between quotes, but cqlsh
// does.
func marksComment(statement string) bool {
	return strings.Contains(statement, "/*") || strings.Contains(statement, "*/")
}

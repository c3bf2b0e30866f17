package schema

import (
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
)

func comment(text string) string { return ast.CommentLine(text) }

// commentedOut is a statement as comment, and why it is one. A reader who runs it after all has to know if it is not spelled
// as it must be.
func commentedOut(why, statement string) string {
	if comment(statement) != "-- "+statement+"\n" {
		why += " (what a comment cannot hold is written with a backslash)"
	}
	return comment(why+":") + comment(statement+";")
}

// marksComment says whether a statement has /* or */ in its names or texts. CQL knows no comment between quotes, but cqlsh
// does.
func marksComment(statement string) bool {
	return strings.Contains(statement, "/*") || strings.Contains(statement, "*/")
}

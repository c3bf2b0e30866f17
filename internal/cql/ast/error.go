package ast

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where a text is no statement. Its message is like Cassandra's: lines count from 1, columns from 0, and the
// end of the text is at line 0, column -1. Without both it is about an option.
type SyntaxError struct {
	Line, Column int
	Text         string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 && e.Column == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d:%d %s", e.Line, e.Column, e.Text)
}

// InvalidError is that of a statement which is CQL, and which Cassandra rejects whatever the schema, or which this package
// does not know.
type InvalidError struct {
	Text        string
	Unsupported bool // Cassandra accepts it
}

func (e *InvalidError) Error() string { return e.Text }

// Unsupported begins the message of an error about CQL that Cassandra accepts, and that the one in the process does not know.
const Unsupported = "not supported by the in-process Cassandra: "

// errorAt is a [SyntaxError] at an offset of the text.
func errorAt(text string, offset int, message string) *SyntaxError {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]), Text: message,
	}
}

package schema

import "strings"

// The characters that a reader of CQL may take for the end of a line: Cassandra's lexer, the lines of a text file, and
// those of Python, in which cqlsh is written.
var LineEnds = []string{"\n\r", "\n", "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"}

// SplitStatements cuts CQL text into statements by quotes, semicolons and comments alone; it has nothing in common with
// what writes or parses CQL otherwise.
func SplitStatements(text, lineEnds string) []string {
	var out []string
	var b strings.Builder
	finish := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			out = append(out, s)
		}
		b.Reset()
	}
	for text != "" {
		size := 1
		switch {
		case strings.HasPrefix(text, "--") || strings.HasPrefix(text, "//"):
			if size = strings.IndexAny(text, lineEnds); size < 0 {
				size = len(text)
			}
		case strings.HasPrefix(text, "/*"):
			if size = strings.Index(text, "*/") + 2; size < 4 {
				size = len(text)
			}
		case strings.HasPrefix(text, "$$"):
			size = 4 + strings.Index(text[2:], "$$")
			b.WriteString(text[:size])
		case text[0] == '\'' || text[0] == '"': // a doubled quote is the end of one piece and the beginning of another
			size = 2 + strings.IndexByte(text[1:], text[0])
			if size < 2 {
				size = len(text)
			}
			b.WriteString(text[:size])
		case text[0] == ';':
			finish()
		default:
			b.WriteByte(text[0])
		}
		text = text[size:]
	}
	finish()
	return out
}

// CqlshLines is what cqlsh makes of a text before it cuts it into statements: it takes /* and */ for marks of comments
// wherever they stand, line by line (strip_comment_blocks of cqlshmain.py).
func CqlshLines(text string) string {
	var b strings.Builder
	inside := false
	for _, line := range strings.SplitAfter(text, "\n") {
		from, to := strings.Index(line, "/*"), strings.LastIndex(line, "*/")
		if from >= 0 && to > from {
			line = line[:from] + line[to+2:]
			from, to = strings.Index(line, "/*"), strings.LastIndex(line, "*/")
		}
		if from >= 0 {
			line, inside = line[:from]+"\n", true
		}
		if to >= 0 {
			line, inside = line[to+2:], false
		} else if inside && from < 0 {
			line = ""
		}
		b.WriteString(line)
	}
	return b.String()
}

package transcript

import (
	"fmt"
	"strings"
)

// Parse reads a step as [Step.String] writes it. The names of the columns of an answer are not in it.
func Parse(line string) (Step, error) {
	var s Step
	rest := strings.TrimSpace(line)
	if n, after, ok := counted(rest, "after %d s "); ok {
		s.Wait, rest = n, after
	}
	for _, kind := range []string{"LOGGED", "UNLOGGED", "COUNTER"} {
		if after, ok := strings.CutPrefix(rest, kind+" BATCH "); ok {
			s.Batch, rest = kind, after
		}
	}
	if n, after, ok := counted(rest, "at %d "); ok {
		s.Timestamp, rest = int64(n), after
	}
	if n, after, ok := counted(rest, "by %d "); ok {
		s.PageSize, rest = n, after
	}
	if after, ok := strings.CutPrefix(rest, "level "); ok {
		s.Level, rest, _ = strings.Cut(after, " ")
		if _, err := level(s.Level); err != nil {
			return s, err
		}
	}
	parts := []string{rest}
	if s.Batch != "" {
		parts = strings.Split(rest, "; ")
	}
	for _, part := range parts {
		text, values, bound := strings.Cut(part, " <- ")
		statement := Statement{Text: text}
		if bound {
			for _, v := range strings.Split(values, ", ") {
				var value Value
				if err := value.UnmarshalText([]byte(v)); err != nil {
					return s, err
				}
				statement.Values = append(statement.Values, value)
			}
		}
		s.Statements = append(s.Statements, statement)
	}
	return s, nil
}

// counted cuts a number and the words around it off.
func counted(text, format string) (n int, rest string, ok bool) {
	if _, err := fmt.Sscanf(text, format, &n); err != nil {
		return 0, text, false
	}
	return n, strings.TrimPrefix(text, fmt.Sprintf(format, n)), true
}

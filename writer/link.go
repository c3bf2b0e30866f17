package writer

import (
	"strings"
)

// traceparent is a text that has the form of one, as version 00 of the W3C's Trace Context defines it; empty otherwise. Who can write to the storage of
// errors, or a tracer, could put anything there, and it goes where traces go.
func traceparent(text string) string {
	const form = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00"
	if len(text) != len(form) {
		return ""
	}
	for i := range len(form) {
		if dash := form[i] == '-'; dash != (text[i] == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(text[i])) {
			return ""
		}
	}
	if !strings.HasPrefix(text, "00-") {
		return ""
	}
	return text
}

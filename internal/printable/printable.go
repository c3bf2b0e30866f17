// Package printable writes text of others, such as the names in a live schema, in a form that is safe to show: no
// control characters that a terminal obeys, no line breaks that end a comment, no marks that turn the direction of what
// follows, no commands to the service whose job prints it: a line that begins with :: (GitHub), or has ##[ (GitHub),
// ##vso[ (Azure) or ##teamcity[ in it.
package printable

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line gives text as one line. Every character that cannot be printed is written as an escape of Go: \n, \x1b, \u2028.
// So is a # after another, and the first of :: at the beginning. Other text stays as it is.
func Line(text string) string { return escaped(text, "", escape) }

// Lines is [Line], but line breaks (\n) and tabs stay.
func Lines(text string) string { return escaped(text, "\n\t", escape) }

// Commands says whether text has what the service whose job prints it may take for a command.
func Commands(text string) bool {
	begins := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "::") }
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Contains(text, "##") || slices.ContainsFunc(lines, begins)
}

// JSON gives a JSON document with the same content, in which no character is left that cannot be printed. Package
// encoding/json escapes only some of them.
func JSON(document string) string { return escaped(document, "\n\t\r", escapeJSON) }

// escaped writes what cannot be printed, or would begin a command, with escape, except the characters of keep.
func escaped(text, keep string, escape func(b *strings.Builder, r rune, raw string)) string {
	var b strings.Builder
	var last rune
	begins := true // there were only blanks in this line
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		raw := text[i : i+size]
		command := r == '#' && last == '#' || begins && strings.HasPrefix(text[i:], "::")
		if (unicode.IsPrint(r) || strings.ContainsRune(keep, r)) && (r != utf8.RuneError || size > 1) && !command {
			b.WriteString(raw)
		} else {
			escape(&b, r, raw)
		}
		begins = r == '\n' || r == '\r' || begins && unicode.IsSpace(r)
		last, i = r, i+size
	}
	return b.String()
}

func escape(b *strings.Builder, r rune, raw string) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case len(raw) == 1: // ASCII, or no UTF-8
		fmt.Fprintf(b, `\x%02x`, raw[0])
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

func escapeJSON(b *strings.Builder, r rune, _ string) {
	if r <= 0xffff {
		fmt.Fprintf(b, `\u%04x`, r)
		return
	}
	high, low := utf16.EncodeRune(r)
	fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
}

// Enum is the name of a constant, or the name of its type with the number of one that has none, as one whose name is
// empty.
func Enum[T ~uint8](typeName string, value T, names []string) string {
	if int(value) < len(names) && names[value] != "" {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", typeName, value)
}

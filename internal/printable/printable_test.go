package printable_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/denorm-go/denorm/internal/printable"
)

func TestEscapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		`orders, "größe" 日本 \n ok`:    `orders, "größe" 日本 \n ok`,
		"a\nb\rc\td":                  `a\nb\rc\td`,
		"\x1b]0;title\x07":            `\x1b]0;title\x07`,
		"del\x7f c1\u009b nel\u0085":  `del\x7f c1\u009b nel\u0085`,
		"line\u2028paragraph\u2029":   `line\u2028paragraph\u2029`,
		"right\u202eleft\u2066\u200f": `right\u202eleft\u2066\u200f`,
		"not\xffutf8\xc3":             `not\xffutf8\xc3`,
		"tag\U000e0041 \ufffe \ufeff": `tag\U000e0041 \ufffe \ufeff`,
		"replacement \ufffd stays":    "replacement \ufffd stays",
		"##vso[task.prependpath]/tmp": `#\x23vso[task.prependpath]/tmp`,
		"a ###[set-output]b # c":      `a #\x23\x23[set-output]b # c`,
		" ::set-output name=a::b":     ` \x3a:set-output name=a::b`,
		"a\r::b":                      `a\r\x3a:b`,
	} {
		if got := printable.Line(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := printable.Lines("a::b\n \t::debug::"); got != "a::b\n \t\\x3a:debug::" {
		t.Errorf("%q", got)
	}
	if got := printable.JSON(`{"a": "##[b] ::"}`); got != `{"a": "#\u0023[b] ::"}` {
		t.Errorf("%q", got)
	}
	if got := printable.Lines("a\n\tb\r\x1b"); got != "a\n\tb\\r\\x1b" {
		t.Errorf("%q", got)
	}
}

// FuzzPrintable: whatever the text, what comes out can be printed, and a JSON document stays the same document.
func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[2J", "a\u202eb\u2028", "\xff\x80", "\U000e0041\u009b\x7f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := printable.Line(text)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q gives %q", text, line)
		}
		document, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		safe := printable.JSON(string(document))
		if printable.Line(safe) != safe {
			t.Errorf("%q gives the document %q", text, safe)
		}
		var before, after string
		if json.Unmarshal(document, &before) != nil || json.Unmarshal([]byte(safe), &after) != nil || before != after {
			t.Errorf("%s is %q, %s is %q", document, before, safe, after)
		}
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a # b::c": false, "a##b": true, "a\n \t::b": true, "::a": true, "": false,
		"a\r::b": true, "a\r\n::b": true, "a\rb::c": false, // GitHub's runner ends lines at a carriage return alone too
	} {
		if printable.Commands(text) != want || printable.Commands(printable.Lines(text)) {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

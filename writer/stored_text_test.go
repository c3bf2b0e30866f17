package writer

import (
	"hash/crc32"
	"strings"
	"testing"
	"unicode"

	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/tables"
)

// What a stored error says of itself is of whoever wrote it: it makes no line of its own in a log, and does nothing to a terminal.
func TestStoredTextsAreOneLine(t *testing.T) {
	t.Parallel()
	const text = "op\n12:00 INFO admin logged in\r\x1b[2J\u202e\u2028\xff"
	open, paid := move()
	before := newItem()
	after := before
	after.Shelf = "b"
	for name, test := range map[string]struct {
		change tables.Change
		forge  func(*wireError)
	}{
		"name of the write":  {orderSet(t).Update(open, paid), func(w *wireError) { w.Op = text }},
		"cause":              {orderSet(t).Update(open, paid), func(w *wireError) { w.Paths[0].Err = text }},
		"cause of condition": {itemSet(t).Update(before, after), func(w *wireError) { w.Decision.Err = text }},
		"table of a key":     {itemSet(t).Update(before, after), func(w *wireError) { w.Decision.Taken = text }},
	} {
		stored := storedOf(t, test.change)
		test.forge(&stored)
		forged := new(Error)
		if err := forged.UnmarshalBinary(sealed(stored)); err != nil {
			t.Fatal(err)
		}
		texts := []string{forged.Op, forged.Error()}
		for _, cause := range forged.Unwrap() {
			texts = append(texts, cause.Error())
		}
		w, _, x := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
		x.answer = fail("", errSimple, errSimple, errSimple)
		if _, err := w.Resume(t.Context(), forged); err != nil {
			texts = append(texts, err.Error())
		}
		for _, shown := range texts {
			if strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(shown, "\xff") {
				t.Errorf("%s: %q", name, shown)
			}
		}
		if !strings.Contains(strings.Join(texts, " "), `op\n12:00 INFO admin logged in\r\x1b[2J\u202e\u2028\xff`) {
			t.Errorf("%s: the text is lost: %q", name, texts)
		}
	}
}

// The tables of an entity with conditions are looked up for each table of the write.
func TestStoredEntityHasFewTables(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Shelf = "b"
	stored := storedOf(t, itemSet(t).Update(before, after))
	for n, refused := range map[int]bool{maxTables: false, maxTables + 1: true} {
		stored.Decision.Tables = make([]string, n)
		if err := new(Error).UnmarshalBinary(sealed(stored)); (err != nil) != refused {
			t.Errorf("%d tables: %v", n, err)
		}
	}
}

// storedOf is what is stored of a write of which no answer came.
func storedOf(t *testing.T, change tables.Change) wireError {
	t.Helper()
	w, _, x := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	x.answer = fail("", errSimple, errSimple, errSimple)
	_, err := w.Write(t.Context(), "op", change)
	data, err := asError(t, err).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stored wireError
	if _, err := wire.Decode(data[len(magic):len(data)-crc32.Size], &stored, maxParts); err != nil {
		t.Fatal(err)
	}
	return stored
}

// A tracer keeps the op of each write, so whoever writes to the queue must not choose what it keeps: the op of a stored error is short, and
// an error that is rejected has none of its own.
func TestOpOfStoredErrorIsBounded(t *testing.T) {
	t.Parallel()
	open, paid := move()
	stored := storedOf(t, orderSet(t).Update(open, paid))
	for n, refused := range map[int]bool{maxOp: false, maxOp + 1: true} {
		stored.Op = strings.Repeat("x", n)
		if err := new(Error).UnmarshalBinary(sealed(stored)); (err != nil) != refused {
			t.Errorf("op of %d bytes: %v", n, err)
		}
	}
	_, err := fakeWriter(&fakeExecutor{answer: fail("", errSimple)}, once()).Write(t.Context(), strings.Repeat("x", maxOp+1), orderSet(t).Insert(open))
	failed := transport(t, asError(t, err))
	if failed.Op != strings.Repeat("x", maxOp) {
		t.Errorf("op %q", failed.Op)
	}
	for want, w := range map[string]*Writer{failed.Op: fakeWriter(&fakeExecutor{}), "Resume": fakeWriter(&fakeExecutor{}, Resumes(itemSet(t)))} {
		r := &recorder{}
		_, _ = w.With(traced(r)).Resume(t.Context(), failed)
		if len(r.ends) != 1 || r.ends[0].Op != want || r.lines[0] != "start "+want+" of 0, resume true" {
			t.Errorf("told %q", r.lines)
		}
	}
}

package writer

import (
	"context"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/session"
)

const aLink = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// linking is a tracer that gives links and keeps those that it is told of.
type linking struct {
	give string
	mu   sync.Mutex
	told []string
}

func (l *linking) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, d.Link)
	return ctx
}

func (*linking) TraceEnd(context.Context, session.OperationEnd) {}

func (l *linking) TraceLink(context.Context) string { return l.give }

// The error of a write has its traceparent, stored or not, for each Resume of it. A Resume that fails leaves it, or adds its own where there
// is none.
func TestErrorsLinkToTheirWrite(t *testing.T) {
	t.Parallel()
	open, _ := move()
	another := strings.ReplaceAll(aLink, "4bf9", "5cf9")
	for name, test := range map[string]struct {
		first, second string
		want          []string // what three calls are told
	}{
		"traced":            {aLink, another, []string{"", aLink, aLink}},
		"resume traced":     {"", another, []string{"", "", another}},
		"not traced":        {"", "", []string{"", "", ""}},
		"not a traceparent": {"user 'ada'", "00" + aLink[:53], []string{"", "", ""}},
	} {
		for how, keep := range map[string]func(*Error) *Error{
			"stored": func(e *Error) *Error { return transport(t, e) }, "kept": func(e *Error) *Error { return e },
		} {
			x := &fakeExecutor{answer: fail("orders_by_user", errSyntax, errSyntax)}
			w, l := fakeWriter(x), &linking{give: test.first}
			_, err := w.With(traced(l)).Write(t.Context(), "op", orderSet(t).Insert(open))
			l.give = test.second
			for range 2 {
				if err == nil {
					t.Fatalf("%s, %s: no error", name, how)
				}
				_, err = w.With(traced(l)).Resume(t.Context(), keep(asError(t, err)))
			}
			if err != nil || !slices.Equal(l.told, test.want) {
				t.Errorf("%s, %s: %v, told %q, want %q", name, how, err, l.told, test.want)
			}
		}
	}
}

// Who can write to the storage could put anything in the place of a link: it is dropped, and the write is resumed.
func TestForgedLinksAreDropped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		aLink: aLink, "": "", "user 'ada'": "", strings.ToUpper(aLink): "", "01" + aLink[2:]: "", aLink + "-00": "", aLink[:54]: "",
		strings.Replace(aLink, "-", "0", 1): "", strings.Replace(aLink, "4", "\n", 1): "", strings.Replace(aLink, "4b", "-b", 1): "",
	} {
		if got := traceparent(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	open, _ := move()
	w := fakeWriter(&fakeExecutor{answer: fail("orders_by_user", errSyntax)})
	_, err := w.Write(t.Context(), "op", orderSet(t).Insert(open))
	data, err := asError(t, err).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stored wireError
	if _, err := wire.Decode(data[len(magic):len(data)-crc32.Size], &stored, maxParts); err != nil {
		t.Fatal(err)
	}
	stored.Link = "user 'ada'"
	forged, l := new(Error), &linking{}
	if err := forged.UnmarshalBinary(sealed(stored)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.With(traced(l)).Resume(t.Context(), forged); err != nil || !slices.Equal(l.told, []string{""}) {
		t.Errorf("%v, told %q", err, l.told)
	}
}

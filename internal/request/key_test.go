package request

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Cassandra's texts for a partition that nodetool denylist has (StorageProxy of 5.0) hold its key. A server may send
// line breaks and what a terminal obeys.
func TestErrorIsShown(t *testing.T) {
	t.Parallel()
	const key = "4b726575"
	for _, text := range []string{
		"Unable to write to denylisted partition [0xDecoratedKey(-42, " + key + ")] in shop/orders",
		"Unable to read denylisted partition [0x" + key + "] in shop/orders",
		"Unable to perform CAS write to denylisted partition [0x" + key + "] in shop/orders",
	} {
		cause := errors.New(text)
		r := New("shop", nil)
		r.Begin(context.Background())
		err := r.End(cause)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(verb, err); strings.Contains(got, key) ||
				!strings.HasSuffix(got, "partition [key left out] in shop/orders") {
				t.Errorf("%s: %s", verb, got)
			}
		}
		if !errors.Is(err, cause) {
			t.Errorf("%v is not its cause", err)
		}
	}
	forged := errors.New("x\n2026-11-27 ERROR forged \x1b[2J")
	r := New("shop", nil)
	r.Begin(context.Background())
	if err := r.End(forged); err.Error() != `x\n2026-11-27 ERROR forged \x1b[2J` || !errors.Is(err, forged) {
		t.Errorf("a text that forges a line of a log: %q", err)
	}
	for _, text := range []string{"unavailable", "denylisted partition [without an end"} {
		if cause := errors.New(text); Shown(cause) != cause { //nolint:errorlint // the same
			t.Errorf("%s was changed", text)
		}
	}
}

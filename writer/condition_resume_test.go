package writer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/tables"
)

// A write whose condition is not known to hold is stored, read back elsewhere and finished there with the same version.
func TestConditionIsStoredAndResumed(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Shelf = "b"
	counted := before
	counted.Count++
	for name, change := range map[string]tables.Change{
		"versioned": itemSet(t).Update(before, after), "delete": itemSet(t).Delete(before), "insert": itemSet(t).Insert(before),
		"compare": seatSet(t).Update(before, counted), "mark": markedSet(t).Update(before, counted), "compare: insert": seatSet(t).Insert(after),
	} {
		w, _, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
		result, err := w.Write(t.Context(), "moveItem", change)
		var failed, stored *Error
		if !errors.As(err, &failed) {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := failed.MarshalBinary()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		stored = new(Error)
		if err := stored.UnmarshalBinary(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if stored.Error() != failed.Error() {
			t.Errorf("%s: %v, stored %v", name, failed, stored)
		}
		want, got := failed.decision.First().Statements(), stored.decision.First().Statements()
		if strings.Join(got, "\n") != strings.ReplaceAll(strings.Join(want, "\n"), " = null, ", " = ?, ") { // of a delete the types are stored
			t.Errorf("%s: stored as\n%s\nwant\n%s", name, got, want)
		}
		again, _, e := conditional(nil)
		resumed, err := again.Resume(t.Context(), stored)
		if err != nil || resumed.Version != result.Version || resumed.Timestamp != result.Timestamp {
			t.Errorf("%s: resumed as %+v, %v, was %+v", name, resumed, err, result)
		}
		if wantSent := len(failed.requests); len(e.sent()) != wantSent {
			t.Errorf("%s: %d requests after the condition, want %d", name, len(e.sent()), wantSent)
		}
	}
}

// An insert with a condition that is older than deletes are surely remembered for is rejected, by At and by Resume.
func TestOldInsertsAreRefused(t *testing.T) {
	t.Parallel()
	then := time.Now().Add(-oldestInsert - time.Minute)
	w, x, _ := conditional(nil, At(then.UnixMicro()))
	if _, err := w.Write(t.Context(), "addItem", itemSet(t).Insert(newItem())); !errors.Is(err, ErrInvalid) || x.asked() != "" {
		t.Errorf("At: %v, sent %q", err, x.asked())
	}
	lost := []scripted{{err: errLost}, {err: errLost}, {err: errLost}}
	for name, change := range map[string]tables.Change{"insert": itemSet(t).Insert(newItem()), "delete": itemSet(t).Delete(newItem())} {
		if name == "delete" { // the version of its before-image has to be older
			before := newItem()
			before.Version = decide.Version(then.Add(-time.Hour).UnixMicro(), 1)
			change = itemSet(t).Delete(before)
		}
		w, _, _ := conditional(lost, WithClock(fixed(then)))
		_, err := w.Write(t.Context(), "addItem", change)
		var failed *Error
		if !errors.As(err, &failed) {
			t.Fatal(err)
		}
		later, _, _ := conditional(nil)
		if _, err := later.Resume(t.Context(), failed); errors.Is(err, ErrExpired) != (name == "insert") {
			t.Errorf("Resume of the %s: %v", name, err)
		}
	}
}

// What is not known of a condition stays so when a Resume cannot even begin: the schema cannot be read.
func TestResumeThatCannotBegin(t *testing.T) {
	t.Parallel()
	w, _, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	_, err := w.Write(t.Context(), "countItem", itemSet(t).Update(newItem(), newItem()))
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	blind, _, _ := conditional(nil)
	blind.live.read = func(context.Context, string, string) (liveTable, error) { return liveTable{}, errUnavailable }
	_, err = blind.Resume(t.Context(), failed)
	var again *Error
	if !errors.As(err, &again) || again.NotApplied() || !errors.Is(err, ErrUnknown) || len(again.Tables) != 2 || !again.Resumable() {
		t.Fatal(err)
	}
	able, _, _ := conditional(nil)
	if _, err := able.Resume(t.Context(), again); err != nil {
		t.Error(err)
	}
}

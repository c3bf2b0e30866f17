package writer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// transactionalItems is itemSet with a unique shelf, in transactions of Cassandra 6.
func transactionalItems(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "items_by_count", PartKey: []string{"count"}, SortKey: []string{"item_id"}},
		tables.Table{Name: "item_of_shelf", PartKey: []string{"shelf"}, Unique: true},
		tables.Versioned("version"), tables.Transactional(),
	)
}

// was is what a transaction finds: columns of the base row, and then those of claimed keys. Null is nil.
func was(columns ...[]byte) scripted {
	return scripted{found: func(dest []any) {
		for i, data := range columns {
			_ = dest[i].(gocql.Unmarshaler).UnmarshalCQL(nil, data) //nolint:forcetypeassert // that is what Dest gives
		}
	}}
}

// row are the columns of a base row: its version, shelf and count.
func row(p Piece) [][]byte {
	return [][]byte{p.Version.Bytes(), []byte(p.Shelf), {0, 0, 0, byte(p.Count)}}
}

// deleted are the columns of the base row of an item that was deleted at a version.
func deleted(version gocql.UUID) [][]byte { return [][]byte{version.Bytes(), nil, nil} }

// What a transaction finds says what has become of it.
func TestTransactions(t *testing.T) {
	t.Parallel()
	items, before, now := transactionalItems(t), newItem(), time.Now()
	moved := before
	moved.Shelf, moved.Count = "b", 9
	other, old, young := before, entity.Version(now.Add(-time.Hour).UnixMicro(), 3),
		entity.Version(now.Add(time.Second).UnixMicro(), 4)
	other.Version, other.Count = entity.Version(now.UnixMicro(), 2), 5
	taken := []byte("b")
	insert, update, remove := items.Insert(before), items.Update(before, moved), items.Delete(before)
	for _, test := range []struct {
		name   string
		change tables.Change
		steps  []scripted
		want   string
	}{
		{"an insert finds nothing", insert, []scripted{was()}, "applied, 1 request"},
		{"an update finds what was read", update, []scripted{was(row(before)...)}, "applied, 1 request"},
		{"a delete finds what was read", remove, []scripted{was(row(before)...)}, "applied, 1 request"},
		{
			"an insert finds a row without a version", insert,
			[]scripted{was(nil, nil, []byte{0, 0, 0, 5})},
			"conflict, the entity exists already, count 5, 1 request",
		},
		{
			"an insert finds an item", insert,
			[]scripted{was(row(other)...)},
			"conflict, the entity exists already, count 5, 1 request",
		},
		{
			"an update finds another version", update,
			[]scripted{was(row(other)...)},
			"conflict, another write came first, count 5, 1 request",
		},
		{"an update finds nothing", update, []scripted{was()}, "conflict, the entity does not exist, 1 request"},
		{
			"an update finds a deleted item", update,
			[]scripted{was(deleted(other.Version)...)},
			"conflict, the entity does not exist, 1 request",
		},
		{
			"a delete finds another version", remove,
			[]scripted{was(row(other)...)},
			"conflict, another write came first, count 5, 1 request",
		},
		{"a delete finds nothing", remove, []scripted{was()}, "applied, 1 request"},
		{"a delete finds a deleted item", remove, []scripted{was(deleted(other.Version)...)}, "applied, 1 request"},
		{
			"an insert finds an older delete", insert,
			[]scripted{was(deleted(old)...), was(deleted(old)...)},
			"applied, 2 requests",
		},
		{"an insert finds a younger delete", insert, []scripted{
			was(deleted(young)...), was(deleted(young)...),
			was(deleted(young)...),
		}, "applied, 3 requests"},
		{"an insert finds a taken key", insert, []scripted{was(nil, nil, nil, taken)}, "taken, item_of_shelf, 1 request"},
		{
			"an update finds a taken key", update,
			[]scripted{was(append(row(before), taken)...)},
			"taken, item_of_shelf, 1 request",
		},
		{
			"an insert over a delete finds a taken key", insert,
			[]scripted{was(append(deleted(old), taken)...)},
			"taken, item_of_shelf, 1 request",
		},
		{"an answer is lost, then nothing is found", insert, []scripted{{err: errLost}, was()}, "applied, 2 requests"},
		{
			"an answer is lost, then another version is found", update,
			[]scripted{{err: errLost}, was(row(other)...)},
			"unknown, another write came first, count 5, 2 requests",
		},
		{
			"an answer is lost, then a younger delete is found", insert,
			[]scripted{{err: errLost}, was(deleted(young)...)},
			"unknown, the entity does not exist, 2 requests",
		},
		{
			"rejected", update,
			[]scripted{{err: errUnavailableAt(gocql.ErrCodeInvalid)}},
			"not applied, bootstrapping, 1 request",
		},
		{"not known", update, []scripted{{err: errLost}, {err: errLost}, {err: errLost}}, "unknown, 3 requests"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, x, e := conditional(test.steps, WithClock(fixed(now)))
			result, err := w.Write(t.Context(), "changeItem", test.change)
			got := OutcomeOf(err).String()
			for _, text := range []string{
				decide.ErrChanged.Error(), decide.ErrGone.Error(), decide.ErrExists.Error(),
				"item_of_shelf", "bootstrapping",
			} {
				if short, _, _ := strings.Cut(text, ":"); err != nil && strings.Contains(err.Error(), short) {
					got += ", " + short
					break
				}
			}
			if now, ok := Current[Piece](err); ok {
				got += fmt.Sprint(", count ", now.Count)
			}
			got += fmt.Sprintf(", %d request%s", result.Attempts, map[bool]string{false: "s"}[result.Attempts == 1])
			if got != test.want {
				t.Errorf("%s, want %s: %v", got, test.want, err)
			}
			if len(e.sent()) > 0 || strings.Count(x.asked(), "BEGIN") != result.Attempts {
				t.Errorf("%d requests were sent beside %s", len(e.sent()), x.asked())
			}
			if result.Mode != Transaction || result.Requests != 1 {
				t.Errorf("%+v", result)
			}
			var failed *Error
			if errors.As(err, &failed) {
				for _, r := range failed.Tables {
					if r.Outcome != failed.Tables[0].Outcome {
						t.Errorf("%s is %v, and %s is %v", r.Table, r.Outcome, failed.Tables[0].Table, failed.Tables[0].Outcome)
					}
				}
			}
		})
	}
}

// A transaction whose answer was lost knows by the version that it was applied, also when it comes out of storage.
func TestTransactionsResume(t *testing.T) {
	t.Parallel()
	before := newItem()
	items := transactionalItems(t)
	moved := before
	moved.Count = 9
	w, x, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	result, err := w.Write(t.Context(), "changeItem", items.Update(before, moved))
	data, err := asError(t, err).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stored Error
	if err := stored.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	applied := moved
	applied.Version = result.Version
	for name, test := range map[string]struct {
		finds [][]byte
		want  error
	}{
		"its own version":     {row(applied), nil},
		"what it was made of": {row(before), nil},
		"another version": {
			row(Piece{ItemID: before.ItemID, Version: entity.Version(time.Now().UnixMicro(), 9)}),
			ErrUnknown,
		},
	} {
		x.steps = []scripted{was(test.finds...)}
		w = w.With(Resumes(items))
		if _, err := w.Resume(t.Context(), &stored); !errors.Is(err, test.want) && (err != nil || test.want != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := x.asked(); got != "BEGIN BEGIN BEGIN BEGIN BEGIN BEGIN" {
		t.Error(got)
	}
	if _, err := w.With(Resumes(itemSet(t))).Resume(t.Context(), &stored); !errors.Is(err, ErrInvalid) {
		t.Errorf("a set that is Versioned alone: %v", err)
	}
}

// Several entities of Transactional sets are one transaction, and no other set may change with them.
func TestTransactionOfSeveral(t *testing.T) {
	t.Parallel()
	items, one, two := transactionalItems(t), newItem(), newItem()
	two.ItemID, two.Shelf = mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ac"), "b"
	for name, test := range map[string]struct {
		finds [][]byte
		want  string
	}{
		"both hold": {append(row(one), nil, nil, nil, nil), ""},
		"the second one does not": {
			append(append(row(one), row(two)...), nil),
			"change 2 of the 2 with conditions: the entity exists already",
		},
	} {
		w, x, _ := conditional([]scripted{was(test.finds...)})
		_, err := w.Write(t.Context(), "swapItems", items.Delete(one), items.Insert(two))
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) ||
			!errors.Is(err, ErrConflict)) {
			t.Errorf("%s: %v", name, err)
		}
		if x.asked() != "BEGIN" {
			t.Error(x.asked())
		}
	}
	w, x, e := conditional([]scripted{was(append(deleted(one.Version), nil, nil, nil)...)})
	if _, err := w.Write(t.Context(), "removeItems", items.Delete(one), items.Delete(two)); err != nil {
		t.Errorf("both were deleted before: %v", err)
	}
	changed := one
	changed.Count = 9
	x.steps = []scripted{
		{err: errLost},
		{own: true, found: was(append(row(Piece{Version: entity.Version(time.Now().UnixMicro(), 9)}), row(two)...)...).found},
	}
	if result, err := w.Write(t.Context(), "changeItems", items.Update(one, changed),
		items.Update(two, two)); err != nil || result.Attempts != 2 {
		t.Errorf("the second item has the version of the write: %v", err)
	}
	x.sent = nil
	for _, changes := range [][]tables.Change{
		{items.Insert(one), noteSet(t).Insert(newNote())},
		{noteSet(t).Insert(newNote()), items.Insert(one)},
		{items.Insert(one), itemSet(t).Insert(two)},
		{items.Insert(one), items.Delete(one)},
	} {
		_, err := w.Write(t.Context(), "mix", changes...)
		wantRefusal(t, changes[1].String(), err)
	}
	same := two
	same.Shelf = one.Shelf
	_, err := w.Write(t.Context(), "both", items.Insert(one), items.Insert(same))
	wantRefusal(t, "two take one key", err)
	if len(e.sent()) > 0 || x.asked() != "" {
		t.Error("something was sent")
	}
}

// A before-image that has the version of the row, and other keys, is not valid; one that differs in bytes alone is sent
// again without them.
func TestTransactionsImage(t *testing.T) {
	t.Parallel()
	items, before := transactionalItems(t), newItem()
	moved := before
	moved.Count = 9
	null, shelf := row(before), row(before)
	null[2], shelf[1] = nil, []byte("z")
	for name, test := range map[string]struct {
		finds [][]byte
		now   gocql.UUID // the version of the row when it is read again
		want  error
		asked string
	}{
		"null for a zero":                {null, before.Version, nil, "BEGIN SELECT BEGIN"},
		"another value":                  {shelf, before.Version, ErrInvalid, "BEGIN SELECT"},
		"another writer came in between": {null, entity.Version(time.Now().UnixMicro(), 5), ErrUnknown, "BEGIN SELECT"},
	} {
		w, x, _ := conditional([]scripted{was(test.finds...), {found: item("a", test.now)}, was(test.finds...)})
		_, err := w.Write(t.Context(), "changeItem", items.Update(before, moved))
		if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) || x.asked() != test.asked {
			t.Errorf("%s: %v, %s", name, err, x.asked())
		}
	}
}

// A change gives up a key only if the row has it: null, which Go reads as zero, is no key.
func TestTransactionsGiveUpTheirOwn(t *testing.T) {
	t.Parallel()
	counts := mustSet[Piece](t, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "item_of_count", PartKey: []string{"count"}, Unique: true},
		tables.Versioned("version"), tables.Transactional())
	before := newItem()
	moved := before
	moved.Count = 5
	null := append(row(before), nil)
	null[2] = nil
	w, x, _ := conditional([]scripted{was(null...), {found: item("a", before.Version)}, was(null...)})
	if _, err := w.Write(t.Context(), "changeItem", counts.Update(before, moved)); err != nil ||
		x.asked() != "BEGIN SELECT BEGIN" {
		t.Errorf("%v, %s", err, x.asked())
	}
	if first, last := x.texts[0], x.texts[2]; !strings.Contains(first, "DELETE FROM shop.item_of_count") ||
		strings.Contains(last, "DELETE FROM") {
		t.Errorf("%s\n%s", first, last)
	}
}

// Two changes of which the first gives up a key that its row does not have, and the second takes it.
func TestTransactionsTakeWhatIsNotGivenUp(t *testing.T) {
	t.Parallel()
	counts := mustSet[Piece](t, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "item_of_count", PartKey: []string{"count"}, Unique: true},
		tables.Versioned("version"), tables.Transactional())
	before, other := newItem(), newItem()
	other.ItemID = mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ac")
	moved := before
	moved.Count = 5
	null := row(before)
	null[2] = nil
	first := was(append(append(slices.Clone(null), nil), nil, nil, nil)...)
	w, x, _ := conditional([]scripted{
		first,
		{found: item("a", before.Version)},
		was(append(append(slices.Clone(null), nil), nil, nil, nil, []byte{0, 0, 0, 0})...),
	})
	_, err := w.Write(t.Context(), "changeItems", counts.Update(before, moved), counts.Insert(other))
	if !errors.Is(err, ErrTaken) || x.asked() != "BEGIN SELECT BEGIN" || strings.Contains(x.texts[0], "key1_0") ||
		!strings.Contains(x.texts[2], "key1_0 IS NULL") {
		t.Errorf("%v, %s", err, x.asked())
	}
}

// Two inserts over younger deletes are made again above both.
func TestTransactionsAboveAllDeletes(t *testing.T) {
	t.Parallel()
	items, one, two, now := transactionalItems(t), newItem(), newItem(), time.Now()
	two.ItemID, two.Shelf = mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ac"), "b"
	young, younger := entity.Version(now.Add(time.Second).UnixMicro(), 4),
		entity.Version(now.Add(2*time.Second).UnixMicro(), 5)
	both := was(append(append(deleted(young), nil), append(deleted(younger), nil)...)...)
	w, _, _ := conditional([]scripted{both, both, both}, WithClock(fixed(now)))
	if result, err := w.Write(t.Context(), "addItems", items.Insert(one), items.Insert(two)); err != nil ||
		result.Timestamp <= entity.Timestamp(younger) {
		t.Errorf("%v at %d, the deletes were at %d", err, result.Timestamp, entity.Timestamp(younger))
	}
	far := entity.Version(now.Add(time.Hour).UnixMicro(), 6)
	w, _, _ = conditional([]scripted{was(append(deleted(far), nil)...)}, WithClock(fixed(now)))
	failed := failed(t, w, items.Insert(one))
	for _, r := range failed.Tables {
		if !strings.Contains(r.Err.Error(), "by a clock more than") {
			t.Errorf("%s: %v", r.Table, r.Err)
		}
	}
}

// A stored transaction that gives up a key with a column of the base key is read back.
func TestTransactionsOfTenantsAreStored(t *testing.T) {
	t.Parallel()
	type account struct {
		Tenant, Account, Mail string
		Version               gocql.UUID
	}
	accounts := mustSet[account](t, "account",
		tables.Table{Name: "accounts", PartKey: []string{"tenant", "account"}},
		tables.Table{Name: "account_of_mail", PartKey: []string{"tenant", "mail"}, Unique: true},
		tables.Versioned("version"), tables.Transactional())
	w, x, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	a := account{"t", "a", "old@example.org", newItem().Version}
	b := a
	b.Mail = "new@example.org"
	data, err := failed(t, w, accounts.Update(a, b)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stored Error
	if err := stored.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	x.steps = []scripted{was(a.Version.Bytes(), []byte(a.Mail), nil)}
	if _, err := w.With(Resumes(accounts)).Resume(t.Context(), &stored); err != nil {
		t.Error(err)
	}
}

// Several changes at a timestamp that the caller gives have one version in all tables, which each repeat gives them
// again.
func TestTransactionsAt(t *testing.T) {
	t.Parallel()
	items, one, two := transactionalItems(t), newItem(), newItem()
	two.ItemID, two.Shelf = mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ac"), "b"
	w, x, _ := conditional(nil)
	w = w.With(At(time.Now().UnixMicro()))
	var versions []gocql.UUID
	for _, changes := range [][]tables.Change{
		{items.Insert(one), items.Insert(two)},
		{items.Insert(two), items.Insert(one)},
	} {
		result, err := w.Write(t.Context(), "addItems", changes...)
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, result.Version)
	}
	seen := 0
	for _, args := range x.args {
		for _, a := range args {
			if v, ok := a.(*cqltype.Value); ok && v.Type.String() == "timeuuid" {
				id, _ := gocql.UUIDFromBytes(v.Data)
				versions, seen = append(versions, id), seen+1
			}
		}
	}
	if distinct := slices.Compact(slices.Clone(versions)); len(distinct) != 1 || seen != 8 {
		// two base rows and two others, twice
		t.Errorf("%d versions were bound: %v", seen, versions)
	}
}

// Result.Version is that of each row of a transaction, whatever version each had before.
func TestRowsOfATransactionHaveOneVersion(t *testing.T) {
	t.Parallel()
	items, one, two := transactionalItems(t), newItem(), newItem()
	two.ItemID, two.Shelf = gocql.MustRandomUUID(), "b"
	one.Version[15] = one.Version[15]&^15 | 3 // it was changed a few times
	changed := one
	changed.Count = 9
	p, err := fakeWriter(nopExecutor{}).plan("change", []tables.Change{items.Update(one, changed), items.Insert(two)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range p.decision.Parts {
		if part.Condition.Version != p.decision.Version() {
			t.Errorf("row %d gets %s, Result.Version is %s", i, part.Condition.Version, p.decision.Version())
		}
	}
}

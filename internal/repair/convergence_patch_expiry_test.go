package repair_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
)

// sessionRow is what [patchRow] is, and ends.
type sessionRow struct {
	ID        int32
	Owner     string
	Note      *string
	Total     *int32
	Items     map[string]int32
	Tags      map[string]struct{}
	UpdatedAt int64
	Ends      time.Time
}

var (
	sessionSet = tables.Must(tables.New[sessionRow]("session",
		tables.Table{Name: "sessions", PartKey: []string{"id"}},
		tables.Table{
			Name: "sessions_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"},
			Columns: []string{"items", "total", "ends"},
		},
		tables.Table{Name: "sessions_of_owner", PartKey: []string{"owner", "id"}, Columns: []string{"updated_at"}},
		tables.Stamp("updated_at"), tables.ExpiresAt("ends")))
	sessionCells = []string{
		"note", "total", "updated_at", "ends", "owner", "items.a", "items.b", "items.c", "tags.a",
		"tags.b", "tags.c",
	}
	sessionKeys = map[string][]string{
		"sessions": {"id"}, "sessions_by_owner": {"owner", "id"},
		"sessions_of_owner": {"owner", "id"},
	}
)

// sessionReplica is the three tables after some deliveries.
type sessionReplica map[string]*merge.Row

func newSessionReplica() sessionReplica {
	r := make(sessionReplica)
	for table := range sessionKeys {
		r[table] = merge.NewTable(len(sessionCells)).Row([]byte("k"))
	}
	return r
}

// send executes what is sent of the mutation in the second.
func (r sessionReplica) send(m *statement.Mutation, second int64) {
	text, args := m.At(time.Unix(second, 0))
	row, at, expires := r[m.Table], m.Timestamp, int64(0)
	marks := strings.NewReplacer("(", " ", ")", " ", ",", " ", "=", " ").Replace(text)
	cell := func(name string, at int64, value []byte, expires int64) {
		if n := slices.Index(sessionCells, name); n >= 0 {
			row.Set(n, merge.Cell{Timestamp: at, Value: value, Expires: expires})
		}
	}
	whole := func(name string, v *cqltype.Value) {
		if name != "items" && name != "tags" {
			cell(name, at, v.Data, expires)
			return
		}
		for _, key := range patchKeys {
			cell(name+"."+key, at-1, nil, 0)
		}
		if v.Data != nil {
			elements(v, name == "items", func(key string, value []byte) {
				cell(name+"."+key, at, append([]byte{}, value...), expires)
			})
		}
	}
	if i := strings.Index(text, "TTL ?"); i >= 0 {
		ttl, err := number(args[strings.Count(text[:i], "?")])
		if err != nil || ttl <= 0 {
			panic(text)
		}
		expires = second + ttl
	}
	switch {
	case strings.HasPrefix(text, "DELETE FROM "):
		row.Delete(at)
	case strings.HasPrefix(text, "INSERT INTO "):
		row.Mark(merge.Liveness{Timestamp: at, Expires: expires})
		columns, _, _ := strings.Cut(marks, "VALUES")
		for n, name := range strings.Fields(columns)[3:] {
			if v, ok := args[n].(*cqltype.Value); ok && !slices.Contains(sessionKeys[m.Table], name) {
				whole(name, v)
			}
		}
	case strings.HasPrefix(text, "UPDATE "):
		set := strings.Index(text, " SET ")
		n := strings.Count(text[:set], "?")
		for i, assignment := range strings.Split(text[set+5:strings.Index(text, " WHERE ")], ",") {
			name, what, _ := strings.Cut(assignment, "=")
			v, _ := args[n+i].(*cqltype.Value)
			switch what {
			case "?":
				whole(name, v)
			case name + "+?":
				elements(v, name == "items", func(key string, value []byte) {
					cell(name+"."+key, at, append([]byte{}, value...), expires)
				})
			case name + "-?":
				elements(v, false, func(key string, _ []byte) { cell(name+"."+key, at, nil, 0) })
			default:
				panic(text)
			}
		}
	default:
		panic(text)
	}
}

func (r sessionReplica) show(second int64) string {
	var b strings.Builder
	for _, table := range []string{"sessions", "sessions_by_owner", "sessions_of_owner"} {
		fmt.Fprintf(&b, "%s:", table)
		if r[table].Visible(second) {
			for n, name := range sessionCells {
				fmt.Fprintf(&b, " %s=%x", name, r[table].Value(n, second))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func drawSession(r *rand.Rand, first bool) tables.Change {
	row := sessionRow{
		ID: 1, Owner: "o", Items: map[string]int32{}, Tags: map[string]struct{}{},
		Ends: one(r, time.Time{}, lawSoon, lawSoon, lawLater),
	}
	row.Note, row.Total = perhaps(r, "x", "y"), perhaps(r, int32(1), 2)
	for _, key := range patchKeys {
		if r.IntN(2) == 0 {
			row.Items[key] = r.Int32N(100)
		}
		if r.IntN(2) == 0 {
			row.Tags[key] = struct{}{}
		}
	}
	switch n := r.IntN(10); {
	case first && n < 7:
		return sessionSet.Insert(row)
	case n < 1:
		return sessionSet.Delete(row)
	case n < 2:
		return sessionSet.Update(row, row)
	case n < 3:
		return sessionSet.Upsert(row)
	}
	var edits []tables.Edit
	for _, name := range []string{"items", "tags"} {
		there := slices.Collect(maps.Keys(row.Items))
		if name == "tags" {
			there = slices.Collect(maps.Keys(row.Tags))
		}
		others := slices.DeleteFunc(slices.Clone(patchKeys), func(key string) bool { return slices.Contains(there, key) })
		switch n := r.IntN(5); {
		case n == 0 && len(there) > 0:
			edits = append(edits, tables.Elements(name))
		case n == 4 && len(there) > 0 && len(others) > 0:
			edits = append(edits, tables.Without(name, others...), tables.Elements(name))
		case n == 1:
			edits = append(edits, tables.Without(name, patchKeys[r.IntN(3):]...))
		case n == 2:
			edits = append(edits, tables.Column(name))
		}
	}
	if r.IntN(2) == 0 || len(edits) == 0 {
		edits = append(edits, tables.Column(one(r, "total", "note")))
	}
	if row.Ends.IsZero() {
		edits = append(edits, tables.Column("ends"))
	}
	return sessionSet.Patch(row, edits...)
}

// TestConvergencePatchExpiry is the convergence law for sets that are patched and in which rows expire: whether a
// mutation arrives before its expiry or after it, once or often, in whatever order, also out of storage, the tables end
// the same.
func TestConvergencePatchExpiry(t *testing.T) {
	cases, late := length.Of(t, 5_000), 0
	for n := range cases {
		wrong, across := sessionCase(t, n)
		if wrong != "" {
			t.Fatalf("seed %d, case %d: %s", *lawSeed, n, wrong)
		}
		if across {
			late++
		}
	}
	if late < cases/20 {
		t.Errorf("a patch arrives after its expiry in %d of %d cases: too few to say anything", late, cases)
	}
	t.Logf("%d cases, a patch after its expiry in %d", cases, late)
}

// sessionCase draws case n and delivers it twice: each mutation in the second of its write, and in any second of the
// minute.
func sessionCase(t *testing.T, n int) (wrong string, late bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(*lawSeed, uint64(n)))
	type delivery struct {
		m      *statement.Mutation
		second int64
	}
	var all []delivery
	var story strings.Builder
	prompt, at := newSessionReplica(), int64(lawEpoch*1_000_000)
	for i := range 2 + r.IntN(5) {
		at += one[int64](r, 1, 1, 1, 2, 1000, 2_000_000)
		c := drawSession(r, i == 0)
		rendered, err := c.Internal().Render(at, nil)
		if err != nil {
			return err.Error(), false
		}
		fmt.Fprintf(&story, "%s %+v %v at %s\n", c, c.After(), c.Edits(), lawTime(at))
		for m := range rendered.Mutations {
			mutation := &rendered.Mutations[m]
			prompt.send(mutation, at/1_000_000)
			if r.IntN(4) == 0 {
				mutation = storedAndRead(t, mutation)
			}
			for range 1 + r.IntN(2) {
				second := at/1_000_000 + r.Int64N(lawDelivered-at/1_000_000)
				ends, expires := mutation.ExpiresAt()
				late = late || c.Kind() == tables.Patch && expires && ends.Unix() <= second
				all = append(all, delivery{mutation, second})
			}
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	other := newSessionReplica()
	for _, d := range all {
		other.send(d.m, d.second)
		fmt.Fprintf(&story, "%s at %s in second %d\n", d.m, lawTime(d.m.Timestamp), d.second-lawEpoch)
	}
	for _, second := range lawReads {
		if got, want := other.show(second), prompt.show(second); got != want {
			return fmt.Sprintf("in second %d\n%swant, as where nothing was late,\n%safter\n%s", second-lawEpoch, got, want,
				&story), late
		}
	}
	return "", late
}

func storedAndRead(t *testing.T, m *statement.Mutation) *statement.Mutation {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again := new(statement.Mutation)
	if err := again.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return again
}

package merge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
)

// op is one write of a row.
type op struct {
	text string
	do   func(*merge.Row)
}

func insert(ts, expires int64, values ...string) op {
	return op{fmt.Sprintf("insert@%d/%d%q", ts, expires, values), func(r *merge.Row) {
		r.Mark(merge.Liveness{Timestamp: ts, Expires: expires})
		update(ts, expires, values...).do(r)
	}}
}

// update sets columns: "-" is unset, "null" is null.
func update(ts, expires int64, values ...string) op {
	return op{fmt.Sprintf("update@%d/%d%q", ts, expires, values), func(r *merge.Row) {
		for i, v := range values {
			switch v {
			case "-":
			case "null":
				r.Set(i, merge.Cell{Timestamp: ts, Expires: expires})
			default:
				r.Set(i, merge.Cell{Timestamp: ts, Expires: expires, Value: []byte(v)})
			}
		}
	}}
}

func remove(ts int64) op {
	return op{fmt.Sprintf("delete@%d", ts), func(r *merge.Row) { r.Delete(ts) }}
}

// show is what a reader sees of the table's only row.
func show(tb testing.TB, table *merge.Table, now int64) string {
	tb.Helper()
	rows := slices.Collect(table.Visible(now))
	if len(rows) == 0 {
		return "no row"
	}
	if len(rows) > 1 || rows[0].Key() != "k" {
		tb.Fatalf("%d rows", len(rows))
	}
	var out []string
	for i := range 2 {
		v := rows[0].Value(i, now)
		if v == nil {
			out = append(out, "null")
			continue
		}
		out = append(out, string(v))
	}
	return strings.Join(out, " ")
}

const now = 1000

var rowTests = []struct {
	name string
	ops  []op
	want string
}{
	{"nothing", nil, "no row"},
	{"insert", []op{insert(10, 0, "a", "b")}, "a b"},
	{"insert of nulls has a marker", []op{insert(10, 0, "null", "null")}, "null null"},
	{"update of nulls has none", []op{update(10, 0, "null", "null")}, "no row"},
	{"update alone makes a row", []op{update(10, 0, "a", "-")}, "a null"},
	{
		"the last value leaves with an update, the row too",
		[]op{update(10, 0, "a", "-"), update(11, 0, "null", "-")},
		"no row",
	},
	{"a newer write wins cell by cell", []op{insert(10, 0, "a", "b"), insert(11, 0, "c", "-")}, "c b"},
	{"null clears", []op{insert(10, 0, "a", "b"), insert(11, 0, "c", "null")}, "c null"},
	{"two writers of one timestamp mix", []op{insert(10, 0, "a", "d"), insert(10, 0, "c", "b")}, "c d"},
	{"delete at the timestamp of the insert", []op{insert(10, 0, "a", "b"), remove(10)}, "no row"},
	{"delete below", []op{insert(10, 0, "a", "b"), remove(9)}, "a b"},
	{"delete between", []op{insert(10, 0, "a", "b"), remove(11), insert(12, 0, "c", "-")}, "c null"},
	{
		"row tombstone one below clears what is unset",
		[]op{insert(10, 0, "a", "b"), insert(11, 0, "c", "-"), remove(10)},
		"c null",
	},
	{
		"an update above a delete brings the row back",
		[]op{insert(10, 0, "a", "b"), remove(11), update(12, 0, "-", "c")},
		"null c",
	},
	{"tombstone below an older null", []op{update(12, 0, "null", "-"), insert(11, 0, "a", "b"), remove(10)}, "null b"},
	{"expired", []op{insert(10, now, "a", "b")}, "no row"},
	{"not yet expired", []op{insert(10, now+1, "a", "b")}, "a b"},
	{"expiry covers the statement's values only", []op{insert(10, 0, "a", "b"), update(11, now, "c", "-")}, "null b"},
	{"what expired still hides what is older", []op{insert(10, 0, "a", "b"), insert(11, now, "c", "d")}, "no row"},
	{"at a tie expiry wins", []op{insert(10, 0, "z", "z"), insert(10, now, "a", "a")}, "no row"},
}

// TestRow delivers the writes of each case in every order, with each of them repeated, and over two replicas.
func TestRow(t *testing.T) {
	t.Parallel()
	for _, tt := range rowTests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			table := merge.NewTable(2)
			permute(tt.ops, func(ops []op) {
				for repeat := range len(ops) + 1 {
					table.Reset()
					for _, o := range ops {
						o.do(table.Row([]byte("k")))
					}
					if repeat < len(ops) {
						ops[repeat].do(table.Row([]byte("k")))
					}
					if got := show(t, table, now); got != tt.want {
						t.Fatalf("%v, repeated %d: got %s, want %s", texts(ops), repeat, got, tt.want)
					}
				}
				for split := range len(ops) + 1 {
					table.Reset()
					other := merge.NewTable(2)
					for _, o := range ops[:split] {
						o.do(table.Row([]byte("k")))
					}
					for _, o := range ops[split:] {
						o.do(other.Row([]byte("k")))
					}
					table.Row([]byte("k")).Merge(other.Row([]byte("k")))
					if got := show(t, table, now); got != tt.want {
						t.Fatalf("%v, merged after %d: got %s, want %s", texts(ops), split, got, tt.want)
					}
				}
			})
		})
	}
}

// TestRowOrder delivers every set of three of these writes in every order: all must end in the same row.
func TestRowOrder(t *testing.T) {
	t.Parallel()
	ops := []op{
		insert(10, 0, "a", "b"), insert(10, 0, "c", "null"), insert(11, 0, "-", "d"), insert(11, now, "e", "e"),
		update(10, 0, "f", "-"), update(11, 0, "null", "g"), update(11, now+1, "h", "h"), remove(9), remove(10), remove(11),
	}
	table := merge.NewTable(2)
	for i := range ops {
		for j := range i {
			for k := range j {
				want := ""
				permute([]op{ops[i], ops[j], ops[k]}, func(ops []op) {
					table.Reset()
					for _, o := range ops {
						o.do(table.Row([]byte("k")))
					}
					got := show(t, table, now)
					if want == "" {
						want = got
					}
					if got != want {
						t.Fatalf("%v: %s, in another order %s", texts(ops), got, want)
					}
				})
			}
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := merge.NewTable(1)
	for _, key := range []string{"a", "b", "c"} {
		insert(10, 0, key).do(table.Row([]byte(key)))
	}
	table.Row([]byte("b")).Delete(10)
	table.Row([]byte("d")) // looked at, never written
	var keys []string
	for r := range table.Visible(now) {
		keys = append(keys, r.Key())
	}
	if slices.Sort(keys); !slices.Equal(keys, []string{"a", "c"}) {
		t.Errorf("visible: %v", keys)
	}
	for range table.Visible(now) {
		break
	}
	table.Reset()
	for r := range table.Visible(now) {
		t.Errorf("after Reset: %s", r.Key())
	}
	update(5, 0, "z").do(table.Row([]byte("b")))
	if got := slices.Collect(table.Visible(now)); len(got) != 1 || string(got[0].Value(0, now)) != "z" {
		t.Errorf("Reset has left a tombstone: %d rows", len(got))
	}
}

func texts(ops []op) []string {
	var out []string
	for _, o := range ops {
		out = append(out, o.text)
	}
	return out
}

// permute calls visit with every order of ops.
func permute(ops []op, visit func([]op)) {
	ops = slices.Clone(ops)
	var walk func(n int)
	walk = func(n int) {
		if n == len(ops) {
			visit(ops)
			return
		}
		for i := n; i < len(ops); i++ {
			ops[n], ops[i] = ops[i], ops[n]
			walk(n + 1)
			ops[n], ops[i] = ops[i], ops[n]
		}
	}
	walk(0)
}

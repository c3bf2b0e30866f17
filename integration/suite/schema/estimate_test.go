package schema_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// measured is a table to be filled, with what is said of it.
type measured struct {
	id      schema.ID
	columns []string // after the key
	rows    int      // of a partition
	width   map[string]int
}

const partitions = 24

// makeUp makes up tables of all kinds of columns, with a few rows a partition or many.
func makeUp(r *rand.Rand, keyspace string, n int) (text string, tables []measured) {
	types := strings.Fields("int bigint double text blob boolean timestamp uuid date smallint decimal set map frozenlist static")
	names := map[string]string{"set": "set<int>", "map": "map<text, int>", "frozenlist": "frozen<list<int>>", "static": "text static"}
	var b strings.Builder
	for i := range n {
		m := measured{id: schema.ID{Keyspace: keyspace, Name: fmt.Sprintf("sized_%d", i)}, rows: 20 + r.IntN(300), width: map[string]int{}}
		fmt.Fprintf(&b, "CREATE TABLE %s (part uuid, sort_a text, sort_b int", m.id)
		volume := fmt.Sprintf("-- denorm:volume %s rows=%d width.sort_a=9", m.id, m.rows)
		for c := range 1 + r.IntN(6) {
			typ := types[r.IntN(len(types))]
			name := fmt.Sprintf("v%d_%s", c, typ)
			m.columns = append(m.columns, name)
			if cql, ok := names[typ]; ok {
				fmt.Fprintf(&b, ", %s %s", name, cql)
			} else {
				fmt.Fprintf(&b, ", %s %s", name, typ)
			}
			switch typ {
			case "text", "blob", "static":
				m.width[name] = 5 + r.IntN(400)
				volume += fmt.Sprintf(" width.%s=%d", name, m.width[name])
			case "set", "map", "frozenlist":
				m.width[name] = 1 + r.IntN(8)
				volume += fmt.Sprintf(" elements.%s=%d", name, m.width[name])
				if typ == "map" {
					volume += fmt.Sprintf(" width.%s=4", name)
				}
			}
		}
		fmt.Fprintf(&b, ", PRIMARY KEY (part, sort_a, sort_b));\n%s\n", volume)
		tables = append(tables, m)
	}
	return b.String(), tables
}

// value makes up a value of the column.
func (m *measured) value(r *rand.Rand, name string) any {
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	n := m.width[name]
	switch _, typ, _ := strings.Cut(name, "_"); typ {
	case "int":
		return r.Int32()
	case "bigint":
		return r.Int64()
	case "double":
		return r.Float64()
	case "text", "static":
		return text(n)
	case "blob":
		return []byte(text(n))
	case "boolean":
		return r.IntN(2) == 0
	case "timestamp", "date":
		return time.Unix(r.Int64N(2e9), 0)
	case "uuid":
		return gocql.MustRandomUUID()
	case "smallint":
		return int16(r.IntN(1000))
	case "decimal":
		return inf.NewDec(r.Int64N(1<<20)+1<<20, 2)
	case "map":
		out := make(map[string]int)
		for len(out) < n {
			out[text(32)] = r.IntN(1000)
		}
		return out
	default:
		seen := make(map[int]bool)
		var out []int
		for len(out) < n {
			if v := int(r.Int32()); !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		}
		return out
	}
}

// fill writes the rows, a partition in a batch or several.
func (m *measured) fill(t *testing.T, on *session.Session, r *rand.Rand) {
	t.Helper()
	marks := strings.Repeat(", ?", len(m.columns))
	insert := fmt.Sprintf("INSERT INTO %s (part, sort_a, sort_b, %s) VALUES (?, ?, ?%s)", m.id, strings.Join(m.columns, ", "), marks)
	for range partitions {
		part := gocql.MustRandomUUID()
		batch := on.Reads().NewBatch(gocql.UnloggedBatch)
		for row := range m.rows {
			values := []any{part, fmt.Sprintf("row %05d", row), int(r.Int32())}
			for _, c := range m.columns {
				values = append(values, m.value(r, c))
			}
			batch.Query(insert, values...)
			if batch.Size() == 50 || row == m.rows-1 {
				if err := on.Reads().ExecuteBatch(batch); err != nil {
					t.Fatal(err)
				}
				batch = on.Reads().NewBatch(gocql.UnloggedBatch)
			}
		}
	}
}

// Tables are made up, filled, and flushed; then what was reckoned of their partitions is compared with what the nodes
// report of theirs. A node looks at the sizes of its files every 10 s, or every 5 minutes if it is none of the tests'
// own.
func TestEstimateIsWhatTheClusterReports(t *testing.T) {
	t.Parallel()
	on := open(t)
	keyspace := cluster.Keyspace(t, 3)
	r := rand.New(rand.NewPCG(7, 7))
	text, tables := makeUp(r, keyspace, 8)
	s, err := schema.Parse("generated", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	statements := s.Statements()
	var names []string
	for _, m := range tables { // a node that is short of memory flushes a part of a partition, which compaction joins
		names = append(names, m.id.Name)
		statements = append(statements, fmt.Sprintf(
			"ALTER TABLE %s WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 2}", m.id))
	}
	cluster.ChangeSchema(t, "", statements...)
	for _, m := range tables {
		m.fill(t, on, r)
	}
	flush(t, keyspace, names...)
	deadline := time.Now().Add(7 * time.Minute)
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	worst := 0.0
	for i, m := range tables {
		e, err := estimate.New(s, s.Volumes[i])
		if err != nil {
			t.Fatal(err)
		}
		want := e.Of(float64(m.rows)).Bytes
		var live estimate.Live
		var off float64
		for began := time.Now(); ; <-ticker.C {
			if live, err = estimate.Measure(t.Context(), on, m.id); err != nil {
				t.Fatal(err)
			}
			off = (want - live.MeanBytes) / live.MeanBytes
			if live.MeanBytes > 0 && (math.Abs(off) < 0.2 || time.Since(began) > time.Minute) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("no node reports the size of %s", m.id)
			}
		}
		worst = max(worst, math.Abs(off))
		t.Logf("%s, %d rows a partition, %d columns: reckoned %.0f bytes, reported %.0f: %+.1f %%", m.id.Name, m.rows, len(m.columns), want,
			live.MeanBytes, 100*off)
		if math.Abs(off) > 0.25 {
			t.Errorf("%s: more than 25 %% off:\n%s", m.id.Name, s.CQL())
		}
		if rows := e.Rows(live.MeanBytes); math.Abs(rows-float64(m.rows)) > 0.3*float64(m.rows) {
			t.Errorf("%s: the report is taken for %.0f rows a partition, there are %d", m.id.Name, rows, m.rows)
		}
	}
	t.Logf("the worst of %d is %.1f %% off", len(tables), 100*worst)
}

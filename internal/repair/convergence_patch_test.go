package repair_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
)

// patchRow has, alongside the key, two columns and a map whose keys are among patchKeys.
type patchRow struct {
	ID        int32
	Shop      string
	Owner     string
	Note      *string
	Total     *int32
	Items     map[string]int32
	UpdatedAt int64
}

var (
	patchKeys = []string{"a", "b", "c"}
	patchSet  = tables.Must(tables.New[patchRow]("cart",
		tables.Table{Name: "carts", PartKey: []string{"shop"}, SortKey: []string{"id"}},
		tables.Table{
			Name: "carts_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"},
			Columns: []string{"items", "total", "updated_at", "shop"},
		},
		tables.Table{Name: "carts_of_owner", PartKey: []string{"owner", "id"}, Columns: []string{"shop"}},
		tables.Table{Name: "carts_of_shop", PartKey: []string{"shop", "owner", "id"}, Columns: []string{}},
		tables.ID("id"), tables.Stamp("updated_at")))
	// With those that lead to the base row.
	patchKeyColumns = map[string]int{"carts": 2, "carts_by_owner": 3, "carts_of_owner": 3, "carts_of_shop": 3}
)

// patchCells are the cells that a row can have in the model: a map has one for each key.
var patchCells = []string{"note", "total", "updated_at", "items.a", "items.b", "items.c", "shop"}

// patchColumns are those of each table.
var patchColumns = map[string][]string{
	"carts": patchCells[:6], "carts_by_owner": patchCells[1:], "carts_of_owner": {"shop"}, "carts_of_shop": nil,
}

// patchReplica is the three tables after some deliveries.
type patchReplica map[string]*merge.Row

func newPatchReplica() patchReplica {
	r := make(patchReplica)
	for table := range patchColumns {
		r[table] = merge.NewTable(len(patchCells)).Row([]byte("k"))
	}
	return r
}

var assigned = regexp.MustCompile(`(\w+)=(\w+)([-+])\?`)

// apply does what the statement says. A map that is written whole replaces what is older by more than a microsecond, as
// a deletion just below the new elements does.
func (r patchReplica) apply(m *statement.Mutation) {
	row, at := r[m.Table], m.Timestamp
	cell := func(name string, at int64, value []byte) {
		row.Set(slices.Index(patchCells, name), merge.Cell{Timestamp: at, Value: value})
	}
	values := make(map[string]*cqltype.Value)
	for i, name := range m.Names {
		if v, ok := m.Args[i].(*cqltype.Value); ok {
			values[name] = v
		}
	}
	switch {
	case strings.HasPrefix(m.Statement, "DELETE FROM "):
		row.Delete(at)
	case strings.HasPrefix(m.Statement, "UPDATE "):
		for _, a := range assigned.FindAllStringSubmatch(m.Statement, -1) {
			if a[1] != a[2] {
				panic(m.Statement)
			}
			elements(values[a[1]], a[3] == "+", func(key string, value []byte) { cell(a[1]+"."+key, at, value) })
		}
	case strings.HasPrefix(m.Statement, "INSERT INTO "):
		row.Mark(merge.Liveness{Timestamp: at})
		for name, v := range values {
			switch {
			case name == "items":
				for _, key := range patchKeys {
					cell("items."+key, at-1, nil)
				}
				if v.Data != nil {
					elements(v, true, func(key string, value []byte) { cell("items."+key, at, value) })
				}
			case slices.Contains(patchCells, name):
				cell(name, at, v.Data)
			}
		}
	default:
		panic(m.Statement)
	}
}

// elements calls visit for those of an encoded map, or set with null values.
func elements(v *cqltype.Value, pairs bool, visit func(key string, value []byte)) {
	data := v.Data
	cut := func() (part []byte) {
		n := binary.BigEndian.Uint32(data)
		part, data = data[4:4+n], data[4+n:]
		return part
	}
	n := binary.BigEndian.Uint32(data)
	data = data[4:]
	for range n {
		key := cut()
		if pairs {
			visit(string(key), cut())
		} else {
			visit(string(key), nil)
		}
	}
}

// show is what a read of a table finds.
func (r patchReplica) show(table string) string {
	if !r[table].Visible(0) {
		return "no row"
	}
	var out []string
	for _, name := range patchColumns[table] {
		out = append(out, fmt.Sprintf("%s=%x", name, r[table].Value(slices.Index(patchCells, name), 0)))
	}
	return strings.Join(out, " ")
}

// patchTruth is an entity that is changed by one writer, in order of timestamps, without any tables.
type patchTruth struct {
	exists bool
	cells  map[string][]byte
}

func (p *patchTruth) put(name string, value []byte) {
	if p.cells[name] = value; value == nil {
		delete(p.cells, name)
	}
}

func (p *patchTruth) show(table string) string {
	if !p.exists {
		return "no row"
	}
	var out []string
	for _, name := range patchColumns[table] {
		out = append(out, fmt.Sprintf("%s=%x", name, p.cells[name]))
	}
	return strings.Join(out, " ")
}

// patchChange is a drawn change with what it does to the truth.
type patchChange struct {
	change tables.Change
	do     func(*patchTruth)
}

func number32(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) } // as the driver

func drawPatch(r *rand.Rand, at int64, first bool) patchChange {
	row := patchRow{ID: 1, Shop: "s", Owner: "o", Items: map[string]int32{}}
	if r.IntN(3) > 0 {
		row.Note = ptr(one(r, "x", "y"))
	}
	if r.IntN(3) > 0 {
		row.Total = ptr(r.Int32N(100))
	}
	for _, key := range patchKeys {
		if r.IntN(2) == 0 {
			row.Items[key] = r.Int32N(100)
		}
	}
	note := func(p *patchTruth) {
		if p.put("note", nil); row.Note != nil {
			p.put("note", []byte(*row.Note))
		}
	}
	total := func(p *patchTruth) {
		if p.put("total", nil); row.Total != nil {
			p.put("total", number32(*row.Total))
		}
	}
	add := func(p *patchTruth) {
		for key, n := range row.Items {
			p.put("items."+key, number32(n))
		}
	}
	items := func(p *patchTruth) {
		for _, key := range patchKeys {
			p.put("items."+key, nil)
		}
		add(p)
	}
	all := func(p *patchTruth) { note(p); total(p); items(p) }
	stamped := func(do ...func(*patchTruth)) func(*patchTruth) {
		return func(p *patchTruth) {
			p.exists = true
			p.put("shop", []byte(row.Shop))
			p.put("updated_at", binary.BigEndian.AppendUint64(nil, uint64(at)))
			for _, d := range do {
				d(p)
			}
		}
	}
	switch n := r.IntN(10); {
	case first && n < 6:
		return patchChange{patchSet.Insert(row), stamped(all)}
	case n < 2:
		return patchChange{patchSet.Delete(row), func(p *patchTruth) { *p = patchTruth{cells: map[string][]byte{}} }}
	case n < 3:
		return patchChange{patchSet.Update(row, row), stamped(all)}
	case n < 4:
		return patchChange{patchSet.Upsert(row), stamped(all)}
	}
	var edits []tables.Edit
	var do []func(*patchTruth)
	edit := func(e tables.Edit, d func(*patchTruth)) { edits, do = append(edits, e), append(do, d) }
	switch kind := r.IntN(4); {
	case kind == 0 && len(row.Items) > 0:
		edit(tables.Elements("items"), add)
	case kind == 1:
		keys := patchKeys[r.IntN(3):]
		edit(tables.Without("items", keys...), func(p *patchTruth) {
			for _, key := range keys {
				p.put("items."+key, nil)
			}
		})
	case kind == 2:
		edit(tables.Column("items"), items)
	case kind == 3 && len(row.Items) > 0: // all others go
		var others []string
		for _, key := range patchKeys {
			if _, put := row.Items[key]; !put {
				others = append(others, key)
			}
		}
		edit(tables.Elements("items"), add)
		if len(others) > 0 {
			edit(tables.Without("items", others...), func(p *patchTruth) {
				for _, key := range others {
					p.put("items."+key, nil)
				}
			})
		}
	}
	if r.IntN(2) == 0 {
		edit(tables.Column("total"), total)
	}
	if r.IntN(2) == 0 || len(edits) == 0 {
		edit(tables.Column("note"), note)
	}
	return patchChange{patchSet.Patch(row, edits...), stamped(do...)}
}

// TestConvergencePatch is the convergence law for sets that are patched: whatever is inserted, patched, updated and
// deleted at distinct timestamps, delivered in whatever order, each at least once, every table ends as if one writer
// had done it all in the order of the timestamps.
func TestConvergencePatch(t *testing.T) {
	cases := length.Of(t, 20_000)
	deleted := 0
	for n := range cases {
		wrong, revived := patchCase(n, nil)
		if wrong != "" {
			t.Fatalf("seed %d, case %d: %s", *lawSeed, n, wrong)
		}
		if revived {
			deleted++
		}
	}
	if deleted < cases/20 {
		t.Errorf("a patch follows a delete in %d of %d cases: too few to say anything", deleted, cases)
	}
	t.Logf("%d cases, a patch after a delete in %d", cases, deleted)
}

// TestConvergencePatchBroken breaks what is rendered: the check must see it.
func TestConvergencePatchBroken(t *testing.T) {
	for name, corrupt := range map[string]func(*statement.Mutation) bool{
		"no row marker where no column is edited": func(m *statement.Mutation) bool {
			return m.Kind == statement.Put && len(m.Names) == patchKeyColumns[m.Table]+1
		},
		"a table without the columns is left out": func(m *statement.Mutation) bool {
			return m.Table == "carts_of_owner" && m.Kind == statement.Put
		},
		"removed elements stay": func(m *statement.Mutation) bool {
			return m.Kind == statement.Merge && strings.Contains(m.Statement, "items-?")
		},
		"elements reach one table": func(m *statement.Mutation) bool {
			return m.Kind == statement.Merge && m.Table != "carts"
		},
		"a row does not lead to its base row": func(m *statement.Mutation) bool {
			if i := slices.Index(m.Names, "shop"); m.Kind == statement.Put && i >= 0 && m.Table == "carts_of_owner" {
				m.Args = slices.Clone(m.Args)
				m.Args[i] = gocql.UnsetValue
			}
			return false
		},
		"a timestamp of its own for elements": func(m *statement.Mutation) bool {
			if m.Kind == statement.Merge {
				m.Timestamp += 2
			}
			return false
		},
	} {
		found := false
		for n := 0; n < 4000 && !found; n++ {
			wrong, _ := patchCase(n, corrupt)
			found = wrong != ""
		}
		if !found {
			t.Errorf("%s: not seen", name)
		}
	}
}

// patchCase draws case n, delivers it and says what is wrong, and whether a patch follows a delete. Mutations of which
// corrupt says so are not delivered.
func patchCase(n int, corrupt func(*statement.Mutation) bool) (wrong string, revived bool) {
	r := rand.New(rand.NewPCG(*lawSeed, uint64(n)))
	truth := &patchTruth{cells: map[string][]byte{}}
	var delivered []*statement.Mutation
	var story strings.Builder
	at, dead := int64(lawEpoch*1_000_000), false
	for i := range 2 + r.IntN(5) {
		at += one[int64](r, 1, 1, 1, 2, 1000)
		c := drawPatch(r, at, i == 0)
		dead = dead || c.change.Kind() == tables.Delete
		revived = revived || dead && c.change.Kind() == tables.Patch
		rendered, err := c.change.Internal().Render(at, nil)
		if err != nil {
			return err.Error(), false
		}
		c.do(truth)
		fmt.Fprintf(&story, "%s %+v %v at %s\n", c.change, c.change.After(), c.change.Edits(), lawTime(at))
		for m := range rendered.Mutations {
			if corrupt != nil && corrupt(&rendered.Mutations[m]) {
				continue
			}
			for range 1 + r.IntN(2) {
				delivered = append(delivered, &rendered.Mutations[m])
			}
		}
	}
	r.Shuffle(len(delivered), func(i, j int) { delivered[i], delivered[j] = delivered[j], delivered[i] })
	replica := newPatchReplica()
	for _, m := range delivered {
		if stamp := m.Args[slices.Index(m.Names, "[timestamp]")].(*cqltype.Value); corrupt == nil && !bytes.Equal(stamp.Data,
			binary.BigEndian.AppendUint64(nil, uint64(m.Timestamp))) {
			return "a mutation is bound to another timestamp than its own", false
		}
		replica.apply(m)
	}
	for table := range patchColumns {
		if got, want := replica.show(table), truth.show(table); got != want {
			return fmt.Sprintf("%s holds\n\t%s, want\n\t%s, after\n%s", table, got, want, &story), revived
		}
	}
	return "", revived
}

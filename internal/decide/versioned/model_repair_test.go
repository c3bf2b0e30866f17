package versioned_test

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// spot is the row of the model as a set declares it.
type spot struct {
	ID                 int32
	A, B               *int32 // columns.places
	K0, K1, Count, One int32
	Version            gocql.UUID
}

var (
	spotTables = []string{"spots_by_a", "spots_by_b"}
	spots      = tables.Must(tables.New[spot]("spot",
		tables.Table{Name: "spots", PartKey: []string{"id"}},
		tables.Table{Name: spotTables[0], PartKey: []string{"a"}, SortKey: []string{"id"}},
		tables.Table{Name: spotTables[1], PartKey: []string{"b"}, SortKey: []string{"id"}},
		tables.Versioned("version"))).Internal()
)

// repairPlan says how a repairer differs from the real one. The zero value does not.
type repairPlan struct {
	damage    bool // rows of query tables get lost, and others come back
	baseFirst bool // the base row is read before the query tables
	nowGhost  bool // what is removed is removed at the present time
	nowPut    bool // what is put is put at the present time

	counts [len(repairCounts)]atomic.Int64
}

// repairCounts are what a repairer can meet. A row that is newer than the base row is not among them: only one who
// reads the base row first meets that, and leaves it.
var repairCounts = [...]string{
	"a write is rolled forward", "a delete is rolled forward", "a ghost is removed",
	"a row of a deleted entity is removed",
	"a row of an entity that is forgotten is left", "a row is put",
}

// repair compares an entity, at any moment and from reads that others overtake, and sends what package repair says.
// What it sends may arrive late, or never.
func (p *process) repair(e int) {
	w, s, plan := p.w, p.store(e), p.w.plan.repair
	if plan.damage && !p.calm && w.chance(200) {
		w.damage(e)
	}
	var base versioned.Row
	var err error
	if plan.baseFirst {
		if base, err = s.Read(p); err != nil {
			return
		}
	}
	var l repair.Look
	if p.request("scan", func() { l = w.look(e) }) != nil {
		return
	}
	if !plan.baseFirst {
		if base, err = s.Read(p); err != nil {
			return
		}
	}
	v := repair.Version{At: entity.Timestamp(base.Current()), Pending: base.Unfinished()}
	if c, _ := base.Columns.(*columns); c != nil {
		l.Base = &repair.Row{Row: spotRow("spots", e, c, v.At), At: v.At}
	}
	d, err := repair.DecideVersioned(l, v, repair.Rules{})
	if err != nil {
		panic(err)
	}
	plan.count(&l, &d, v)
	if d.RollForward {
		_ = versioned.RollForward(p, s, base)
	}
	for i := range d.Send {
		p.send(e, &d.Send[i])
	}
	for _, q := range l.Rows {
		if p.calm && d.Reason != "" && v.At == 0 { // a person, who knows that it is damage
			m, err := q.Remove(q.At, nil)
			if err != nil {
				panic(err)
			}
			p.send(e, &m)
		}
	}
}

// count notes what the repair met.
func (plan *repairPlan) count(l *repair.Look, d *repair.Repair, v repair.Version) {
	for i, met := range [len(repairCounts)]bool{
		d.RollForward && l.Base != nil, d.RollForward && l.Base == nil,
		len(d.Removes) > 0 && l.Base != nil, len(d.Removes) > 0 && l.Base == nil && v.At != 0, d.Reason != "" && v.At == 0,
		len(d.Send) > len(d.Removes),
	} {
		if met {
			plan.counts[i].Add(1)
		}
	}
}

// look reads the query tables.
func (w *world) look(e int) repair.Look {
	l := repair.Look{BaseTable: spotLayout("spots"), All: true}
	for t, name := range spotTables {
		l.Tables = append(l.Tables, spotLayout(name))
		for r := range w.tables[t].Visible(0) {
			if key := []byte(r.Key()); int(key[1]) == e {
				v, at := r.Value(0, 0), r.WriteTime(0)
				c := &columns{places: [2]uint8{v[0], v[1]}, keys: [2]uint8{v[2], v[3]}, count: int(v[4])}
				c.places[t] = key[0]
				l.Rows = append(l.Rows, repair.Row{Row: spotRow(name, e, c, at), At: at})
			}
		}
	}
	slices.SortFunc(l.Rows, func(a, b repair.Row) int { return slices.Compare([]byte(a.Key()), []byte(b.Key())) })
	return l
}

func spotLayout(table string) tablerow.Layout {
	l, ok := tablerow.LayoutOf(spots, table)
	if !ok {
		panic(table)
	}
	return l
}

// spotRow is a row of a table with the columns of e.
func spotRow(table string, e int, c *columns, at int64) tablerow.Row {
	number := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	place := func(n uint8) []byte {
		if n == 0 {
			return nil
		}
		return number(int(n))
	}
	values := map[string][]byte{
		"id": number(e), "a": place(c.places[0]), "b": place(c.places[1]), "k0": number(int(c.keys[0])),
		"k1":    number(int(c.keys[1])),
		"count": number(c.count), "one": number(1), "version": entity.Version(at, 0).Bytes(),
	}
	l := spotLayout(table)
	var row [][]byte
	for _, name := range l.AllColumns() {
		row = append(row, values[name])
	}
	out, err := tablerow.Read(l, row)
	if err != nil {
		panic(err)
	}
	return out
}

// send sends a mutation of a query table.
func (p *process) send(e int, m *statement.Mutation) {
	w, table := p.w, slices.Index(spotTables, m.Table)
	value := func(name string) int {
		v, _ := m.Args[slices.Index(m.Names, name)].(*cqltype.Value)
		if v == nil || v.Data == nil {
			return 0
		}
		return int(binary.BigEndian.Uint32(v.Data))
	}
	at, place := m.Timestamp, uint8(value([]string{"a", "b"}[table]))
	if m.Kind == statement.Put {
		if w.plan.repair.nowPut {
			at = w.now + p.skew
		}
		c := &columns{
			places: [2]uint8{uint8(value("a")), uint8(value("b"))}, keys: [2]uint8{uint8(value("k0")), uint8(value("k1"))},
			count: value("count"),
		}
		_ = p.request(w.describe(m.String), func() { w.put(table, e, c, at) })
		return
	}
	if w.plan.repair.nowGhost {
		at = w.now + p.skew
	}
	_ = p.request(w.describe(m.String), func() { w.remove(table, e, place, at) })
}

// damage loses a query table with its tombstones, or puts a row there that is older than all others.
func (w *world) damage(e int) {
	t := w.rand.IntN(len(w.tables))
	if w.chance(200) {
		w.logf("table %d is lost", t)
		w.tables[t].Reset()
		return
	}
	c := &columns{places: [2]uint8{uint8(1 + w.rand.IntN(3)), uint8(1 + w.rand.IntN(3))}, count: 1}
	w.logf("an old row is in table %d under %d", t, c.places[t])
	w.put(t, e, c, w.now-(10*time.Minute).Microseconds()-w.rand.Int64N(second))
}

// repairAll repairs, without any fault, until nothing is found.
func (w *world) repairAll(p *process) {
	for e := range w.rows {
		for range 3 {
			p.repair(e)
		}
	}
}

// TestRepairVersioned lets repairers work among the clients of the model. The tables end as they do without them, and
// what was lost, or came back, is repaired. Naive repairers damage tables.
func TestRepairVersioned(t *testing.T) {
	cases, naive := length.Of(t, 60_000), 10_000
	for _, tt := range []struct {
		name  string
		naive bool
		plan  *repairPlan
	}{
		{"by the rules", false, new(repairPlan)},
		{"by the rules, in damaged tables", false, &repairPlan{damage: true}},
		{"the base row is read before the query tables", false, &repairPlan{baseFirst: true}},
		{"a ghost is removed at the present time", true, &repairPlan{nowGhost: true, damage: true}},
		{"a missing row is put at the present time", true, &repairPlan{nowPut: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := cases
			if tt.naive {
				n = naive
			}
			r := runModel(&modelPlan{repair: tt.plan}, n, length.Of(t, naive) < naive)
			t.Logf("%d of %d runs go wrong", r.wrong, r.cases)
			if tt.naive != (r.wrong > 0) {
				t.Errorf("unexpected; %s", r.report)
			}
			for i, met := range repairCounts {
				n := tt.plan.counts[i].Load()
				t.Logf("%7d %s", n, met)
				if n == 0 && tt.plan.damage {
					t.Error("never")
				}
			}
		})
	}
}

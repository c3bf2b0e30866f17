package soak_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// shop is one order of each service that was created at 100 and paid at 200, both acknowledged, in all tables.
type shop struct {
	*testing.T
	contents *history.Contents[orders.Order]
	writes   []history.Write[orders.Order]
}

const (
	byID = iota
	byUser
	byStatus
)

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t}
	var err error
	if s.contents, err = history.Describe(orders.Orders); err != nil {
		t.Fatal(err)
	}
	for n := range soak.Services {
		s.did(n, tables.Insert, 100, orders.Open)
		s.did(n, tables.Update, 200, orders.Paid)
		s.put(n, 200, orders.Paid, byID, byUser, byStatus)
	}
	return s
}

func order(service int, status orders.Status, at int64) orders.Order {
	id := gocql.UUID{6: 0x10, 15: byte(service + 1)}
	return orders.Order{OrderID: id, UserID: id, Status: status, Total: inf.NewDec(at, 0), UpdatedAt: at}
}

// did adds an acknowledged write by a client of a service, and returns it to be changed.
func (s *shop) did(service int, kind tables.Kind, at int64, status orders.Status) *history.Write[orders.Order] {
	s.writes = append(s.writes, history.Write[orders.Order]{
		By: soak.Services[service].Name + "/1.1/0", Kind: kind, Row: order(service, status, at), Timestamp: at, Outcome: writer.Applied,
	})
	return &s.writes[len(s.writes)-1]
}

func (s *shop) put(service int, at int64, status orders.Status, in ...int) {
	s.Helper()
	o := order(service, status, at)
	fields := map[string]any{
		"order_id": o.OrderID, "user_id": o.UserID, "status": o.Status, "total": o.Total, "updated_at": o.UpdatedAt,
	}
	for _, n := range in {
		t := &s.contents.Tables[n]
		row := history.Row{Values: make(map[string][]byte), Times: make(map[string]int64)}
		for _, c := range t.Columns {
			value, err := gocql.Marshal(c.Type.Info(), fields[c.Name])
			if err != nil {
				s.Fatal(err)
			}
			row.Values[c.Name] = value
			if !c.Key {
				row.Times[c.Name] = at
			}
		}
		t.Rows = append(t.Rows, row)
	}
}

// remove removes the row of a service's order.
func (s *shop) remove(service int, from ...int) {
	for _, n := range from {
		t := &s.contents.Tables[n]
		t.Rows = slices.DeleteFunc(t.Rows, func(r history.Row) bool { return r.Values["order_id"][15] == byte(service+1) })
	}
}

// differ puts another of the written totals into a row.
func (s *shop) differ(service, table int) {
	value, err := gocql.Marshal(gocql.NewNativeType(4, gocql.TypeDecimal, ""), inf.NewDec(100, 0))
	if err != nil {
		s.Fatal(err)
	}
	for _, r := range s.contents.Tables[table].Rows {
		if r.Values["order_id"][15] == byte(service+1) {
			r.Values["total"] = value
		}
	}
}

// half is a move to shipped that was sent to the base table alone.
func (s *shop) half(service int) *history.Write[orders.Order] {
	s.remove(service, byID)
	s.put(service, 300, orders.Shipped, byID)
	w := s.did(service, tables.Update, 300, orders.Shipped)
	w.Outcome = writer.Unknown
	return w
}

// told is what the client of a write knew last: that it is applied to the base table, or nothing for sure.
func tell(w *history.Write[orders.Order], base writer.Outcome) {
	w.Tables = map[string]writer.Outcome{"orders_by_id": base, "orders_by_user": writer.Unknown, "orders_by_status": writer.Unknown}
}

// Each corruption is found in every service, and is allowed only where an unfinished write has left it and nobody
// finishes it.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happen func(s *shop, service int)
		kind   history.Kind // empty: nothing is found
		cause  history.Cause
	}{
		"nothing":       {func(*shop, int) {}, "", 0},
		"lost":          {func(s *shop, n int) { s.remove(n, byID, byUser, byStatus) }, history.Lost, 0},
		"a lost row":    {func(s *shop, n int) { s.remove(n, byUser) }, history.Missing, history.None},
		"a ghost":       {func(s *shop, n int) { s.put(n, 100, orders.Open, byStatus) }, history.Ghost, history.None},
		"another value": {func(s *shop, n int) { s.differ(n, byUser) }, history.Differing, history.None},
		"not applied, and there": {func(s *shop, n int) {
			s.did(n, tables.Update, 300, orders.Shipped).Outcome = writer.NotApplied
			s.remove(n, byID, byUser, byStatus)
			s.put(n, 300, orders.Shipped, byID, byUser, byStatus)
		}, history.Unsound, 0},
		"applied to a table, and not there": {func(s *shop, n int) {
			w := s.did(n, tables.Update, 300, orders.Shipped)
			w.Outcome = writer.Unknown
			tell(w, writer.Applied)
		}, history.Unsound, 0},
		"in flight":              {func(s *shop, n int) { s.half(n) }, history.Ghost, history.InFlight},
		"partial":                {func(s *shop, n int) { tell(s.half(n), writer.Applied) }, history.Ghost, history.Partial},
		"unknown":                {func(s *shop, n int) { tell(s.half(n), writer.Unknown) }, history.Ghost, history.Open},
		"acknowledged by halves": {func(s *shop, n int) { s.half(n).Outcome = writer.Applied }, history.Ghost, history.None},
		"an older one in flight, which an acknowledged one has replaced": {func(s *shop, n int) {
			s.did(n, tables.Update, 150, orders.Shipped).Outcome = writer.Unknown
			s.put(n, 150, orders.Shipped, byStatus)
		}, history.Ghost, history.None},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, service := range soak.Services {
				s := newShop(t)
				c.happen(s, n)
				report, err := history.Check(s.contents, s.writes)
				if err != nil {
					t.Fatal(err)
				}
				tallies, wrong := soak.Judge(soak.Services, s.writes, report.Findings)
				diverges := c.kind == history.Ghost || c.kind == history.Missing || c.kind == history.Differing
				allowed := c.kind == "" || diverges && c.cause != history.None && !service.Whole()
				if len(wrong) == 0 != allowed {
					t.Errorf("%s: wrong are %q", service.Name, wrong)
				}
				if c.kind == "" {
					continue
				}
				if tallies[n].Found[c.kind] == 0 {
					t.Errorf("%s: nothing of kind %v in %v", service.Name, c.kind, report)
				}
				if diverges && tallies[n].By[c.cause] != len(report.Findings) {
					t.Errorf("%s: not put down to %v: %v, %v", service.Name, c.cause, tallies[n].By, report)
				}
			}
		})
	}
}

// A client of no service is not passed over.
func TestStrangeClient(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.writes[0].By = "somebody"
	if _, wrong := soak.Judge(soak.Services, s.writes, nil); len(wrong) != 1 {
		t.Errorf("wrong are %q", wrong)
	}
}

// A seed stands for one schedule, which has every kind of fault, silences of 5 to 30 s, and hardly an equal.
func TestSchedule(t *testing.T) {
	t.Parallel()
	schedules := make(map[string]bool)
	text := func(faults []Fault) string {
		var b strings.Builder
		for _, f := range faults {
			b.WriteString(f.String() + "; ")
		}
		return b.String()
	}
	for seed := range uint64(200) {
		for _, long := range []bool{false, true} {
			faults := Schedule(seed, 3, long)
			kinds := make(map[Kind]bool)
			for _, f := range faults {
				kinds[f.Kind] = true
				if f.Kind == Silence && (f.For < 5*time.Second || f.For > 30*time.Second) || f.Node > 2 {
					t.Errorf("%v", f)
				}
			}
			if len(kinds) != 4 || text(faults) != text(Schedule(seed, 3, long)) {
				t.Errorf("seed %d: %s", seed, text(faults))
			}
			schedules[text(faults)] = true
		}
	}
	if len(schedules) < 300 {
		t.Errorf("%d schedules of 400", len(schedules))
	}
}

// The report says what is wrong, and that nothing is.
func TestReport(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.half(3)
	found, err := history.Check(s.contents, s.writes)
	if err != nil {
		t.Fatal(err)
	}
	r := Report{Seed: 7, Before: new(soak.AccountReport), After: new(soak.AccountReport), Events: []Event{
		{At: time.Second, Took: 2 * time.Second, What: Fault{Kind: Silence, Node: 1, For: 5 * time.Second}.String()},
	}}
	r.Tallies, r.Wrong = soak.Judge(soak.Services, s.writes, found.Findings)
	r.After.Unclaimed, r.Released = make([]string, 1), 1
	text := r.String()
	for _, want := range []string{
		"seed 7", "| SIGSTOP of node 2 for 5 s | 1 | 2 |", "| fan-out, left | 0 | 2 | 0 | 0 | 1 | 0 | 0 |",
		"| fan-out, left | 0 | 0 | 1 | 1 | 1 | 0 | 0 | 0 | 3 | 0 | 0 |", "Nothing that the library does not allow",
		"Addresses still claimed for somebody without them 1, of which 1 went to",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	r.Wrong = []string{"a fault"}
	if text := r.String(); !strings.Contains(text, "**Faults: 1**") || !strings.Contains(text, "- a fault\n") {
		t.Error(text)
	}
}

package history_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// What is sound is not found fault with, however close it is to what is not.
func TestNearMiss(t *testing.T) {
	t.Parallel()
	for name, happen := range map[string]func(*shop){
		"nothing else": func(*shop) {},
		"an unknown write that is not there": func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 9).Outcome = writer.Unknown
		},
		"an unknown write that is there": func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 9).Outcome = writer.Unknown
			s.remove(moved)
			s.put(moved, 400, orders.Paid, 9)
		},
		"an unknown write that was overtaken": func(s *shop) {
			s.did(moved, tables.Update, 250, orders.Paid, 9).Outcome = writer.Unknown
		},
		"a write that was not applied": func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 9).Outcome = writer.NotApplied
		},
		"a write that was not applied, beside an equal one at its timestamp": func(s *shop) {
			s.did(moved, tables.Update, 300, orders.Shipped, 3).Outcome = writer.NotApplied
		},
		"a write that was refused": func(s *shop) {
			s.did(moved, tables.Update, 0, orders.Paid, 9).Outcome = writer.NotApplied
		},
		"the write of a killed client, not there": func(s *shop) {
			s.did(moved, tables.Update, 0, orders.Paid, 9).Outcome = writer.Unknown
		},
		"the write of a killed client, there": func(s *shop) {
			s.did(moved, tables.Update, 0, orders.Paid, 9).Outcome = writer.Unknown
			s.remove(moved)
			s.put(moved, 444, orders.Paid, 9)
		},
		"a table that was told to have a write, which was overtaken": func(s *shop) {
			w := s.did(moved, tables.Update, 250, orders.Paid, 9)
			w.Outcome, w.Tables = writer.Unknown, map[string]writer.Outcome{"orders_by_id": writer.Applied}
		},
		"a table that was told to have a write, which was deleted": func(s *shop) {
			w := s.did(deleted, tables.Update, 175, orders.Paid, 9)
			w.Outcome, w.Tables = writer.Unknown, map[string]writer.Outcome{"orders_by_user": writer.Applied}
		},
		"an unknown delete that happened": func(s *shop) {
			s.did(moved, tables.Delete, 400, orders.Shipped, 3).Outcome = writer.Unknown
			s.remove(moved)
		},
		"the delete of a killed client that happened": func(s *shop) {
			s.did(moved, tables.Delete, 0, orders.Shipped, 3).Outcome = writer.Unknown
			s.remove(moved)
		},
		"an unknown delete that did not": func(s *shop) {
			s.did(moved, tables.Delete, 400, orders.Shipped, 3).Outcome = writer.Unknown
		},
		"written again after its delete": func(s *shop) {
			s.did(deleted, tables.Upsert, 190, orders.Open, 7)
			s.put(deleted, 190, orders.Open, 7)
		},
		"an insert that is only attempted, and nowhere": func(s *shop) {
			s.did(strange, tables.Insert, 0, orders.Open, 7).Outcome = writer.Unknown
		},
		"an absent value": func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 0)
			s.remove(moved)
			s.put(moved, 400, orders.Paid, 0)
		},
		// The base row keeps the greater value of each column; the greater status has only what was written with it.
		"two writes at one timestamp": func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 9)
			s.did(moved, tables.Update, 400, orders.Shipped, 8)
			s.remove(moved)
			s.put(moved, 400, orders.Shipped, 9, byID, byUser)
			s.put(moved, 400, orders.Shipped, 8, byStatus)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			happen(s)
			if report := s.check(); len(report.Findings) > 0 {
				t.Error(report)
			}
		})
	}
}

// Every fault is found, and as one finding of its kind.
func TestFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happen func(*shop)
		kind   history.Kind
		says   string // in the report
	}{
		"acknowledged, and nowhere": {func(s *shop) { s.remove(moved) }, history.Lost, "has no row, want this write"},
		"acknowledged, and all tables have the row before it": {func(s *shop) {
			s.remove(moved)
			s.put(moved, 200, orders.Paid, 2)
		}, history.Lost, "update by test at 300 (applied)"},
		"acknowledged, and only its delete that was not applied could have removed it": {func(s *shop) {
			s.remove(moved)
			s.did(moved, tables.Delete, 400, orders.Shipped, 3).Outcome = writer.NotApplied
		}, history.Unsound, "delete by test at 400"},
		"acknowledged, and the delete was before it": {func(s *shop) {
			s.remove(moved)
			s.did(moved, tables.Delete, 250, orders.Paid, 2).Outcome = writer.Unknown
		}, history.Lost, "at 300"},
		"deleted, and there": {func(s *shop) { s.put(deleted, 170, orders.Cancelled, 6) }, history.Lost, "want no row"},

		"a row of nobody's": {
			func(s *shop) { s.put(strange, 100, orders.Open, 1, byUser) }, history.Phantom,
			"nobody wrote this entity",
		},
		"a base row of nobody's": {
			func(s *shop) { s.put(strange, 100, orders.Open, 1, byID) }, history.Phantom,
			"nobody wrote this entity",
		},
		"a row under a status that nobody wrote": {
			func(s *shop) { s.put(moved, 300, orders.Cancelled, 3, byStatus) },
			history.Phantom, "status='cancelled'",
		},
		"a value that nobody wrote": {func(s *shop) { s.total(byUser, 77) }, history.Phantom, "total=77 @300"},
		"a value of another order":  {func(s *shop) { s.total(byUser, 4) }, history.Phantom, "total=4 @300"},
		"a value that nobody wrote in the base table": {
			func(s *shop) { s.total(byID, 77) }, history.Phantom,
			"orders_by_id",
		},
		"a status that nobody wrote in the base table": {func(s *shop) {
			s.row(moved, byID).Values["status"] = []byte("stolen")
		}, history.Phantom, "status='stolen' @300"},
		"a row of two writes, alike in all tables": {func(s *shop) {
			for _, table := range all {
				s.total(table, 2)
			}
		}, history.Phantom, "want the whole row of one write"},

		"a row of an older write under another status": {
			func(s *shop) { s.put(moved, 200, orders.Paid, 2, byStatus) },
			history.Ghost, "status='paid'",
		},
		"a row of a deleted order": {
			func(s *shop) { s.put(deleted, 170, orders.Cancelled, 6, byStatus) }, history.Ghost,
			"the base table has no row",
		},
		"an insert that is only attempted, in a query table": {func(s *shop) {
			s.did(strange, tables.Insert, 0, orders.Open, 7).Outcome = writer.Unknown
			s.put(strange, 123, orders.Open, 7, byUser)
		}, history.Ghost, "insert by test at 123 (unknown)"},

		"no row by user":   {func(s *shop) { s.remove(moved, byUser) }, history.Missing, "orders_by_user"},
		"no row by status": {func(s *shop) { s.remove(created, byStatus) }, history.Missing, "orders_by_status"},
		"an insert that is only attempted, in two tables": {func(s *shop) {
			s.did(strange, tables.Insert, 0, orders.Open, 7).Outcome = writer.Unknown
			s.put(strange, 123, orders.Open, 7, byID, byStatus)
		}, history.Missing, "orders_by_user"},

		"a row of an older write": {func(s *shop) {
			s.remove(moved, byUser)
			s.put(moved, 200, orders.Paid, 2, byUser)
		}, history.Differing, "status='paid' total=2 updated_at=200 @200, want status='shipped' total=3 updated_at=300 @300"},
		"a value of an older write": {func(s *shop) { s.total(byUser, 2) }, history.Differing, "has total=2 @300, want total=3 @300"},
		"a value of an older write in the base table, and by status": {func(s *shop) {
			s.total(byID, 2)
			s.total(byStatus, 2)
		}, history.Differing, "orders_by_user"},
		"a null": {func(s *shop) {
			delete(s.row(moved, byStatus).Values, "total")
			delete(s.row(moved, byStatus).Times, "total")
		}, history.Differing, "total=null"},
		"two writes at one timestamp, and an older value": {func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 9)
			s.did(moved, tables.Update, 400, orders.Shipped, 8)
			s.remove(moved)
			s.put(moved, 400, orders.Shipped, 9, byID, byUser)
			s.put(moved, 400, orders.Shipped, 3, byStatus)
		}, history.Differing, "total=3 @400"},

		"not applied, and there": {func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 9).Outcome = writer.NotApplied
			s.remove(moved)
			s.put(moved, 400, orders.Paid, 9)
		}, history.Unsound, "the row in orders_by_id, orders_by_user, orders_by_status"},
		"not applied in one table, and there": {func(s *shop) {
			w := s.did(moved, tables.Update, 400, orders.Paid, 9)
			w.Outcome, w.Tables = writer.Unknown, map[string]writer.Outcome{"orders_by_user": writer.NotApplied}
			s.remove(moved)
			s.put(moved, 400, orders.Paid, 9)
		}, history.Unsound, "the row in orders_by_user,"},
		"applied in two tables, and not there": {func(s *shop) {
			w := s.did(moved, tables.Update, 400, orders.Paid, 9)
			w.Outcome = writer.Unknown
			w.Tables = map[string]writer.Outcome{"orders_by_id": writer.Applied, "orders_by_user": writer.Applied}
		}, history.Unsound, "in orders_by_id, orders_by_user,"},
		"deleted in one table, and there": {func(s *shop) {
			w := s.did(moved, tables.Delete, 400, orders.Shipped, 3)
			w.Outcome, w.Tables = writer.Unknown, map[string]writer.Outcome{"orders_by_id": writer.Applied}
		}, history.Unsound, "in orders_by_id,"},

		"a later WRITETIME": {
			func(s *shop) { s.at(moved, byUser, "total", 301) }, history.Unequal,
			"total=3 @301, want WRITETIME 300",
		},
		"an earlier one":     {func(s *shop) { s.at(moved, byUser, "total", 299) }, history.Unequal, "total=3 @299"},
		"in the base table":  {func(s *shop) { s.at(moved, byID, "status", 301) }, history.Unequal, "orders_by_id"},
		"of all but one row": {func(s *shop) { s.at(moved, byStatus, "updated_at", 5) }, history.Unequal, "orders_by_status"},
		"of a write that was not applied": {func(s *shop) {
			s.did(moved, tables.Update, 400, orders.Paid, 9).Outcome = writer.NotApplied
			s.at(moved, byUser, "total", 400)
		}, history.Unequal, "total=3 @400, want WRITETIME 300"},
		"of a single, old id": {func(s *shop) { s.at(created, byID, "user_id", 5) }, history.Unequal, "user_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			c.happen(s)
			report := s.check()
			if len(report.Findings) != 1 || report.Count(c.kind) != 1 {
				t.Fatalf("want one finding of kind %s, got %v", c.kind, report)
			}
			if text := report.String(); !strings.Contains(text, c.says) {
				t.Errorf("want %q in %s", c.says, text)
			}
		})
	}
}

// All tables agree on a WRITETIME, of all columns or of one, and it is not the write's.
func TestUnequalEverywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column string // empty: all
		at     int64
	}{{"", 301}, {"total", 301}, {"total", 1}, {"updated_at", 301}, {"updated_at", 1}} {
		s := newShop(t)
		for _, table := range all {
			for _, column := range s.contents.Tables[table].Columns {
				if !column.Key && (c.column == "" || c.column == column.Name) {
					s.at(moved, table, column.Name, c.at)
				}
			}
		}
		if report := s.check(); len(report.Findings) != len(all) || report.Count(history.Unequal) != len(all) {
			t.Errorf("%q at %d: want a finding a table, got %v", c.column, c.at, report)
		}
	}
}

// Several faults are distinguished.
func TestSeveralFindings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.put(moved, 200, orders.Paid, 2, byStatus)
	s.put(moved, 100, orders.Open, 1, byStatus)
	s.remove(created, byUser)
	s.put(strange, 1, orders.Open, 1, byID)
	report := s.check()
	want := "4 entities, 8 rows, 7 writes, 0 ties: 1 phantom, 2 ghost, 1 missing"
	if got := report.Summary(); got != want {
		t.Errorf("%s, want %s", report, want)
	}
}

func TestReportIsCut(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for id := byte(10); id < 25; id++ {
		s.put(id, 1, orders.Open, 1, byID)
	}
	text := s.check().String()
	if n := strings.Count(text, "\n"); n != 11 || !strings.HasSuffix(text, "phantom: 5 more") {
		t.Errorf("want a summary, ten findings and how many more there are:\n%s", text)
	}
}

// A checker that cannot tell says so.
func TestColumnThatIsNoField(t *testing.T) {
	t.Parallel()
	if contents, err := history.Describe(orders.Bucketed); err == nil {
		t.Errorf("described: %v", contents.Tables)
	}
}

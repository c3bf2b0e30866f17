//go:build faults

package drift_test

import (
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/reconcile"
)

// read reads rows. On a busy machine it is patient.
func (x *trial) read(statement string, row func(gocql.Scanner) error, values ...any) {
	x.Helper()
	var err error
	for range 20 {
		if err = x.tryRead(statement, row, values...); err == nil {
			return
		}
		<-time.After(time.Second)
	}
	x.Fatal(err)
}

func (x *trial) tryRead(statement string, row func(gocql.Scanner) error, values ...any) error {
	scanner := x.Session.Reads().Query(statement, values...).Consistency(gocql.Quorum).Iter().Scanner()
	for scanner.Next() {
		if err := row(scanner); err != nil {
			return err
		}
	}
	return scanner.Err()
}

// runs are those of a kind that are stored, by their set.
func (x *trial) runs(kind string) map[string]gocql.UUID {
	x.Helper()
	out := make(map[string]gocql.UUID)
	x.read("SELECT run, kind, entity FROM denorm_run", func(s gocql.Scanner) error {
		var run gocql.UUID
		var of, set string
		if err := s.Scan(&run, &of, &set); err != nil || of != kind {
			return err
		}
		out[set] = run
		return nil
	})
	return out
}

// same sees that runs were continued, and none was begun.
func (x *trial) same(all []drift.Done, runs map[string]gocql.UUID) {
	x.Helper()
	for _, d := range all {
		if d.Run != runs[d.Set] {
			x.Errorf("%s: run %s was not continued, but %s begun", d.Set, runs[d.Set], d.Run)
		}
	}
}

// ranges are those that runs of a kind have stored as done, and when.
func (x *trial) ranges(kind string) map[string]int64 {
	x.Helper()
	out := make(map[string]int64)
	mine := make(map[gocql.UUID]bool)
	x.read("SELECT run, kind FROM denorm_run", func(s gocql.Scanner) error {
		var run gocql.UUID
		var of string
		err := s.Scan(&run, &of)
		mine[run] = of == kind
		return err
	})
	x.read("SELECT run, tbl, low, WRITETIME(rows) FROM denorm_run_segment", func(s gocql.Scanner) error {
		var run gocql.UUID
		var table string
		var low, at int64
		if err := s.Scan(&run, &table, &low, &at); err != nil || !mine[run] {
			return err
		}
		out[fmt.Sprint(run, table, low)] = at
		return nil
	})
	return out
}

// continued runs what continues runs, and sees that what is done is not done again.
func (x *trial) continued(kind string, f func() []drift.Done) {
	x.Helper()
	before, runs := x.ranges(kind), x.runs(kind)
	x.same(f(), runs)
	after := x.ranges(kind)
	for at, when := range before {
		if after[at] != when {
			x.Errorf("the range %s was done at %d, and again at %d", at, when, after[at])
		}
	}
	x.Logf("%d of %d ranges were done when the process was killed", len(before), len(after))
	if len(after) <= len(before) {
		x.Errorf("nothing was done after the process was killed")
	}
}

// repaired are the rows that a repair has stored as repaired.
func (x *trial) repaired() map[string]bool {
	x.Helper()
	out := make(map[string]bool)
	x.read("SELECT tbl, entity, outcome FROM denorm_finding", func(s gocql.Scanner) error {
		var table, outcome string
		var entity []byte
		if err := s.Scan(&table, &entity, &outcome); err != nil || outcome != reconcile.Repaired.String() {
			return err
		}
		id, err := gocql.UUIDFromBytes(entity[len(entity)-16:])
		out[table+" "+id.String()] = true
		return err
	})
	return out
}

package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// byText is tickets with another query table.
var byText = tables.Must(tables.New[ticket]("ticket",
	tables.Table{Name: "tickets", PartKey: []string{"id"}},
	tables.Table{Name: "tickets_by_agent", PartKey: []string{"agent"}, SortKey: []string{"id"}},
	tables.Table{Name: "tickets_by_text", PartKey: []string{"text"}, SortKey: []string{"id"}, Hidden: true},
	tables.Versioned("version"),
))

// versionedDesk makes random writes to 40 tickets of a set with Versioned, some of which their clients leave in the
// middle.
type versionedDesk struct {
	*writer.Writer
	t      *testing.T
	writes atomic.Int32
}

func (d *versionedDesk) act(set *tables.Set[ticket], r *rand.Rand) {
	o := ticket{ID: r.IntN(40), Agent: fmt.Sprint("agent", r.IntN(3)), Text: fmt.Sprint("text", r.IntN(3))}
	w, ctx := d.With(writer.Timeout(3*time.Second)), context.Background()
	loaded, err := writer.Load(ctx, w, "load", set, o)
	switch {
	case err != nil:
		_, err = w.Write(ctx, "create", set.Insert(o))
	case r.IntN(6) == 0:
		_, err = w.Write(ctx, "delete", set.Delete(loaded))
	default:
		o.Version = loaded.Version
		_, err = w.Write(ctx, "change", set.Update(loaded, o))
	}
	if err == nil {
		d.writes.Add(1)
	}
}

// busy writes with several goroutines until the function that it returns is called.
func (d *versionedDesk) busy(set *tables.Set[ticket], writers int) (stop func()) {
	ended := make(chan struct{})
	var group sync.WaitGroup
	for n := range writers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(n)))
			for {
				select {
				case <-ended:
					return
				case <-time.After(time.Duration(r.IntN(300)) * time.Millisecond):
					d.act(set, r)
				}
			}
		})
	}
	return func() { close(ended); group.Wait() }
}

// A new table of a set with Versioned is filled while writers write, of which some die between the transaction and the
// tables. After repairs next to them the table has the rows of the base table, and readers may use it.
func TestBackfillVersioned(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprintf("clients die %t", dies), func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s, w, r := openSet(t, c, byText, reconcile.Settle(10*time.Second), handed)
				d := &versionedDesk{Writer: w, t: t}
				random := rand.New(rand.NewPCG(1, 2))
				for range 300 {
					d.act(tickets, random)
				}
				began := reconcile.Writers(time.Now())
				stop := d.busy(byText, 4)
				if dies {
					lost := c.When(cassandratest.Execute, cassandratest.Where(func(r cassandratest.Request) bool {
						// By a hash: each 19th would be each attempt at one request, where the heartbeats between two are 18.
						chosen := rand.New(rand.NewPCG(4, uint64(r.Number))).IntN(19) == 0
						return chosen && (r.On("tickets_by_agent") || r.On("tickets_by_text"))
					})).Do(cassandratest.Drop)
					last := stop
					stop = func() {
						last()
						if lost.End(); lost.Handled() == 0 {
							t.Error("no request was lost")
						}
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 11*time.Second) // 10 s are for Settle
				report, err := r.Backfill(ctx, byText, "tickets_by_text", began, reconcile.Rate(10))
				if cancel(); err == nil {
					t.Error("the first run was not stopped half-way")
				}
				put := report.Put
				for range 5 {
					if report, err = r.Backfill(t.Context(), byText, "tickets_by_text", began); !errors.Is(err, reconcile.ErrDrift) {
						break
					}
					put += report.Put
					if _, err := r.Repair(t.Context(), byText); err != nil && !errors.Is(err, reconcile.ErrDrift) {
						t.Fatal(err)
					}
				}
				if put += report.Put; err != nil && (!dies || !errors.Is(err, reconcile.ErrDrift)) { // somebody may just have died
					t.Errorf("%v\n%v", err, report)
				}
				stop()
				<-time.After(10 * time.Minute)
				if report, err = r.Repair(t.Context(), byText); err != nil || !dies && len(slices.Collect(report.Findings())) > 0 {
					t.Errorf("%v\n%v", err, report)
				}
				want := rowsOf(t, s, "tickets")
				for _, table := range []string{"tickets_by_agent", "tickets_by_text"} {
					if got := rowsOf(t, s, table); !slices.Equal(got, want) || len(got) == 0 {
						t.Errorf("%s has\n%s\nand tickets\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
				t.Logf("%d writes, %d rows put", d.writes.Load(), put)
			})
		})
	}
}

package reconcile_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/reconcile"
)

// tokens is the range of tokens that a request reads.
func tokens(r cassandratest.Request) (low, high int64, scans bool) {
	if len(r.Statements) != 1 || !strings.Contains(r.Statements[0].Text, "token(") {
		return 0, 0, false
	}
	v := r.Statements[0].Values
	return int64(binary.BigEndian.Uint64(v[0].Bytes)), int64(binary.BigEndian.Uint64(v[1].Bytes)), true
}

// scans matches the reads of ranges that a token is in, for pages of more than so many rows.
func scans(token int64, above int) cassandratest.Matcher {
	return cassandratest.Where(func(r cassandratest.Request) bool {
		low, high, scans := tokens(r)
		return scans && low < token && token <= high && r.PageSize > above
	})
}

// No request asks for more rows than PageSize, also after pages that went well, and all rows are read.
func TestPageSize(t *testing.T) {
	t.Parallel()
	either(t, func(t *testing.T, x *world, options ...reconcile.Option) {
		t.Helper()
		for _, o := range x.orders[:5] {
			x.remove("orders_by_user", o, o.UpdatedAt)
		}
		<-time.After(time.Minute)
		scan := func(above int) cassandratest.Matcher {
			return cassandratest.Where(func(r cassandratest.Request) bool {
				_, _, scans := tokens(r)
				return scans && r.PageSize > above
			})
		}
		large, small := x.When(scan(3)).Do(cassandratest.Answer), x.When(scan(2)).Do(cassandratest.Answer)
		report, err := x.r.Verify(t.Context(), orders.Orders, append(options, reconcile.PageSize(3))...)
		if !errors.Is(err, reconcile.ErrDrift) || report.Tables[1].Found[reconcile.Missing] != 5 || report.Tables[0].Rows != 60 {
			t.Errorf("%v\n%v", err, report)
		}
		if large.Handled() > 0 || small.Handled() < (60+55+60)/3 {
			t.Errorf("%d requests for more than 3 rows, %d for 3", large.Handled(), small.Handled())
		}
	})
}

func either(t *testing.T, test func(t *testing.T, x *world, options ...reconcile.Option)) {
	t.Helper()
	for name, options := range map[string][]reconcile.Option{"digest": nil, "lookup": {reconcile.Lookup()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				test(t, newWorld(t, c, 60), append(options, reconcile.Ranges(2))...)
			})
		})
	}
}

// Where a replica meets too many tombstones for a page, or answers too late, the scan takes smaller ones and misses
// nothing.
func TestScanOfTombstonesByPage(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]cassandratest.Step{
		"read failure": cassandratest.Fail(cassandratest.ReadFailure(1, 2, 1)), "read timeout": cassandratest.Fail(cassandratest.ReadTimeout(1, 2)),
		"no answer": cassandratest.Drop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			either(t, func(t *testing.T, x *world, options ...reconcile.Option) {
				t.Helper()
				for _, o := range x.orders[:5] {
					x.remove("orders_by_status", o, o.UpdatedAt)
				}
				<-time.After(time.Minute)
				rule := x.When(cassandratest.Table("orders_by_status"), scans(murmur3.Token([]byte("open")), 3)).Do(step)
				report, err := x.r.Verify(t.Context(), orders.Orders, options...)
				if !errors.Is(err, reconcile.ErrDrift) || errors.Is(err, reconcile.ErrIncomplete) || report.Tables[2].Found[reconcile.Missing] != 5 ||
					report.Tables[2].Rows != 55 || rule.Handled() == 0 {
					t.Errorf("%v\n%v", err, report)
				}
			})
		})
	}
}

// A partition that cannot be read row by row either is named, and the rest of its range is read. The run is incomplete;
// once the partition can be read, it is resumed and finds what is there.
func TestScanOfTombstonesByRange(t *testing.T) {
	t.Parallel()
	for _, pages := range []int{0, 4} { // that can be read before the tombstones
		t.Run(fmt.Sprint(pages, " pages"), func(t *testing.T) {
			t.Parallel()
			either(t, func(t *testing.T, x *world, options ...reconcile.Option) {
				t.Helper()
				x.Create(reconcile.StateSchema("shop"))
				open := murmur3.Token([]byte("open"))
				for _, o := range x.orders[:8] { // a ghost each, in a partition of which some is read
					for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
						o.Status = orders.Cancelled
						x.put(table, o, o.UpdatedAt+9)
					}
				}
				for _, o := range x.orders[8:10] { // rows in the other partitions that no base row names
					o.Status = orders.Shipped
					x.put("orders_by_status", o, o.UpdatedAt-9)
				}
				<-time.After(time.Minute)
				var mu sync.Mutex
				seen := 0
				mended := false
				table := cassandratest.Table("orders_by_status")
				x.When(table, scans(open, 0)).Choose(func(r cassandratest.Request) []cassandratest.Step {
					mu.Lock()
					defer mu.Unlock()
					if r.PageSize < 8 {
						seen++
					}
					if mended || r.PageSize < 8 && seen <= pages {
						return []cassandratest.Step{cassandratest.Answer}
					}
					return []cassandratest.Step{cassandratest.Fail(cassandratest.ReadFailure(1, 2, 1))}
				})
				r, err := reconcile.New(x.s, append(options, reconcile.Settle(30*time.Second), reconcile.State("shop"), reconcile.Ranges(1))...)
				if err != nil {
					t.Fatal(err)
				}
				began := len(x.Journal(table))
				report, err := r.Verify(t.Context(), orders.Orders)
				if n := len(x.Journal(table)) - began; n > 400 {
					t.Errorf("%d requests", n)
				}
				failed := new(gocql.RequestErrReadFailure)
				if !errors.Is(err, reconcile.ErrIncomplete) || !errors.As(err, &failed) || report.Uncovered != 1 ||
					!strings.Contains(err.Error(), "shop.orders_by_status, tokens above") || !strings.Contains(err.Error(), "tombstone_failure_threshold") {
					t.Fatalf("%v\n%v", err, report)
				}
				low, high := int64(0), int64(0)
				_, text, _ := strings.Cut(err.Error(), "tokens above ")
				if _, err := fmt.Sscanf(text, "%d up to %d", &low, &high); err != nil || low >= open || open > high || uint64(high-low) > math.MaxUint64>>19 {
					t.Errorf("%v: %d is not in a small range of %s", err, open, text)
				}
				if n := report.Tables[2].Rows; n < 10 || pages > 0 && n < 30 {
					t.Errorf("%d rows are read", n)
				}
				if !slices.ContainsFunc(slices.Collect(report.Findings()), func(f reconcile.Finding) bool { return strings.Contains(f.Key(), "'shipped'") }) {
					t.Errorf("no row of other partitions is found\n%v", report)
				}
				mu.Lock()
				mended = true
				mu.Unlock()
				report, err = r.Verify(t.Context(), orders.Orders, reconcile.Resume(report.Run))
				ghosts := slices.DeleteFunc(slices.Collect(report.Findings()), func(f reconcile.Finding) bool { return f.Class != reconcile.Ghost })
				if errors.Is(err, reconcile.ErrIncomplete) || len(ghosts) != 10 {
					t.Errorf("%v, %d ghosts\n%v", err, len(ghosts), report)
				}
			})
		})
	}
}

// All nodes that answer nothing are not asked forevery row: the run ends, and says so.
func TestScanOfAnOutage(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 5)
		rule := c.When(cassandratest.Table("orders_by_user")).Do(cassandratest.Fail(cassandratest.ReadTimeout(0, 2)))
		report, err := x.r.Verify(t.Context(), orders.Orders, reconcile.InFlight(8))
		if !errors.Is(err, reconcile.ErrIncomplete) || errors.Is(err, reconcile.ErrDrift) || report.Uncovered != 256 || rule.Handled() > 256*8 {
			t.Errorf("%v\n%v, %d requests", err, report, rule.Handled())
		}
	})
}

// A run that ends while an entity that differs is looked at again says that it does not know about that one.
func TestEndDuringALook(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 60)
		x.remove("orders_by_status", x.orders[0], x.orders[0].UpdatedAt)
		<-time.After(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		x.When(cassandratest.Where(func(r cassandratest.Request) bool {
			looks := r.Kind == cassandratest.Execute && len(r.Statements) == 1 && strings.HasPrefix(r.Statements[0].Text, "SELECT") && !strings.Contains(r.Statements[0].Text, "token(") &&
				r.Statements[0].Keyspace == "shop"
			if looks {
				cancel()
			}
			return looks
		})).Do(cassandratest.Delay(time.Hour))
		report, err := x.r.Verify(ctx, orders.Orders)
		if !errors.Is(err, context.Canceled) || report.Uncovered == 0 {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

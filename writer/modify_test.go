package writer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// guest stands in two tables, of which one is keyed by what may change.
type guest struct {
	GuestID gocql.UUID
	City    string
	Version gocql.UUID
}

func guestSet(options ...tables.Option) *tables.Set[guest] {
	return tables.Must(tables.New[guest]("guest", append([]tables.Option{
		tables.Table{Name: "guests", PartKey: []string{"guest_id"}},
		tables.Table{Name: "guests_by_city", PartKey: []string{"city"}, SortKey: []string{"guest_id"}},
	}, options...)...))
}

// A row made again by the function, without its key, is named as what the function returned.
func TestModifyReturnsARowWithoutKey(t *testing.T) {
	t.Parallel()
	id := tables.Type("guest_id", "timeuuid")
	for name, set := range map[string]*tables.Set[guest]{
		"plain": guestSet(tables.SingleWriter("city"), id), "versioned": guestSet(tables.Versioned("version"), id),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
				create(c, set)
				w, _ := open(t, c)
				ann := guest{GuestID: gocql.TimeUUID(), City: "Bonn"}
				if _, err := w.Write(t.Context(), "create", set.Insert(ann)); err != nil {
					t.Fatal(err)
				}
				wantError(t, name, func() error {
					_, err := writer.Modify(t.Context(), w, "move", set, ann, func(guest) (guest, error) { return guest{City: "Kiel"}, nil })
					return err
				}, "denorm: move: invalid: the row that the function returned: entity guest: column guest_id: a key column must not be the zero UUID")
			})
		})
	}
}

// A read that fails, or finds nothing, ends Modify and Load with an Error: nothing was sent, so many attempts, this cause.
func TestFailedReadIsAnError(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]*tables.Set[guest]{
		"plain": guestSet(tables.SingleWriter("city")), "versioned": guestSet(tables.Versioned("version")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				w, _ := open(t, c)
				key := guest{GuestID: gocql.MustRandomUUID()}
				over, cancel := context.WithCancel(t.Context())
				cancel()
				unauthorized := cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized))
				for _, fault := range []struct {
					name     string
					ctx      context.Context
					step     []cassandratest.Step
					is       error
					attempts int
				}{
					{"unavailable", t.Context(), []cassandratest.Step{cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1))}, nil, 2},
					{"not allowed", t.Context(), []cassandratest.Step{unauthorized}, nil, 1},
					{"cancelled", over, []cassandratest.Step{cassandratest.Drop}, context.Canceled, 0},
					{"no row", t.Context(), nil, writer.ErrNotFound, 1},
				} {
					end := func() {}
					if len(fault.step) > 0 {
						end = c.When(cassandratest.Table("guests")).Do(fault.step...).End
					}
					_, modified := writer.Modify(fault.ctx, w, "move", set, key, func(g guest) (guest, error) { return g, nil })
					_, loaded := writer.Load(fault.ctx, w, "show", set, key)
					end()
					for op, err := range map[string]error{"move": modified, "show": loaded} {
						failed := failedWrite(t, err)
						if !failed.NotApplied() || failed.Resumable() || failed.Op != op || errors.Is(err, writer.ErrInvalid) || errors.Is(err, writer.ErrUnknown) {
							t.Errorf("%s, %s: not applied %t, resumable %t: %v", fault.name, op, failed.NotApplied(), failed.Resumable(), err)
						}
						if len(failed.Tables) != 1 || failed.Tables[0].Table != "guests" || failed.Tables[0].Attempts != fault.attempts || failed.Tables[0].Err == nil {
							t.Errorf("%s, %s: want guests after %d attempts: %+v", fault.name, op, fault.attempts, failed.Tables)
						}
						_, answered := driver.RequestError(err)
						if fault.is != nil && !errors.Is(err, fault.is) || fault.is == nil && !answered {
							t.Errorf("%s, %s: the cause is lost: %v", fault.name, op, err)
						}
						if !strings.Contains(err.Error(), "read") || strings.Contains(err.Error(), key.GuestID.String()) {
							t.Errorf("%s, %s: %v", fault.name, op, err)
						}
						if _, err := failed.MarshalBinary(); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
							t.Errorf("%s, %s: stored: %v", fault.name, op, err)
						}
						if _, err := w.Resume(t.Context(), failed); !errors.Is(err, writer.ErrInvalid) {
							t.Errorf("%s, %s: resumed: %v", fault.name, op, err)
						}
					}
				}
			})
		})
	}
}

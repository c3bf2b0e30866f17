package writer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/driver"
	testshop "github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/retry"
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
					_, err := writer.Modify(t.Context(), w, "move", set, ann, func(guest) (guest, error) {
						return guest{City: "Kiel"}, nil
					})
					return err
				}, "denorm: move: invalid: the row that the function returned: entity guest: column guest_id: a key column must "+
					"not be the zero UUID")
			})
		})
	}
}

// A read that fails, or finds nothing, ends Modify and Load with an Error: nothing was sent, so many attempts, this
// cause.
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
					{"unavailable", t.Context(), []cassandratest.Step{
						cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)),
					}, nil, 2},
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
						if !failed.NotApplied() || failed.Resumable() || failed.Op != op || errors.Is(err, writer.ErrInvalid) ||
							errors.Is(err, writer.ErrUnknown) {
							t.Errorf("%s, %s: not applied %t, resumable %t: %v", fault.name, op, failed.NotApplied(), failed.Resumable(),
								err)
						}
						if len(failed.Tables) != 1 || failed.Tables[0].Table != "guests" || failed.Tables[0].Attempts != fault.attempts ||
							failed.Tables[0].Err == nil {
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

// member has fields that share memory with their copies, in keys and alongside them.
type member struct {
	MemberID gocql.UUID
	Name     string
	Card     *string // a pointer
	Photo    []byte  // a slice
	Notes    notes   // a map
	Version  gocql.UUID
}

// notes encode themselves: a map has no order that Go and Cassandra share, and is no key without.
type notes map[string]string

func (n notes) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return []byte(n["desk"]), nil }

func (n *notes) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*n = notes{"desk": string(data)}
	return nil
}

// inPlace are changes that change what a copy of the row shares with it.
var inPlace = map[string]func(*member){
	"pointer": func(m *member) { *m.Card = "L2" },
	"slice":   func(m *member) { m.Photo[0] = '2' },
	"map":     func(m *member) { m.Notes["desk"] = "2" },
}

// memberSet has a query table, or a Unique one, keyed by each of the fields that share memory.
func memberSet(unique bool, options ...tables.Option) *tables.Set[member] {
	by := func(name, column string) tables.Table {
		if unique {
			return tables.Table{Name: name, PartKey: []string{column}, Unique: true}
		}
		return tables.Table{Name: name, PartKey: []string{column}, SortKey: []string{"member_id"}}
	}
	return tables.Must(tables.New[member]("member", append([]tables.Option{
		tables.Table{Name: "members", PartKey: []string{"member_id"}},
		by("members_by_card", "card"),
		by("members_by_photo", "photo"), by("members_by_notes", "notes"), tables.Type("notes", "text"),
	}, options...)...))
}

func newMember() member {
	card := "L1"
	return member{MemberID: gocql.MustRandomUUID(), Name: "A", Card: &card, Photo: []byte("1"), Notes: notes{"desk": "1"}}
}

// A function that changes the row in place, by a pointer, a slice or a map, does not change what the row was: it moves,
// and leaves nothing behind.
func TestModifyInPlaceLeavesNoGhost(t *testing.T) {
	t.Parallel()
	for rule, set := range map[string]*tables.Set[member]{
		"SingleWriter": memberSet(false, tables.SingleWriter("card"), tables.SingleWriter("photo"),
			tables.SingleWriter("notes")),
		"Versioned": memberSet(false, tables.Versioned("version")),
	} {
		for name, change := range inPlace {
			t.Run(rule+" "+name, func(t *testing.T) {
				t.Parallel()
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					create(c, set)
					w, s := open(t, c)
					m := newMember()
					if _, err := w.Write(t.Context(), "join", set.Insert(m)); err != nil {
						t.Fatal(err)
					}
					if _, err := writer.Modify(t.Context(), w, "move", set, m, func(m member) (member, error) {
						change(&m)
						return m, nil
					}); err != nil {
						t.Fatal(err)
					}
					for _, table := range []string{"members_by_card", "members_by_photo", "members_by_notes"} {
						var rows int
						if err := s.Query("SELECT count(*) FROM " + table).Scan(&rows); err != nil || rows != 1 {
							t.Errorf("%s has %d rows of one member (%v)", table, rows, err)
						}
					}
				})
			})
		}
	}
}

// A key of a Unique table that is changed in place is claimed: another entity that has it keeps it.
func TestModifyInPlaceClaims(t *testing.T) {
	t.Parallel()
	set := memberSet(true, tables.Versioned("version"))
	for name, change := range inPlace {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				w, _ := open(t, c)
				owner, other := newMember(), newMember()
				change(&owner) // has the key that the other one is about to want, and no other of its keys
				card := "other"
				if name != "pointer" {
					other.Card = &card
				}
				if name != "slice" {
					other.Photo = []byte("other")
				}
				if name != "map" {
					other.Notes = notes{"desk": "other"}
				}
				for _, m := range []member{owner, other} {
					if _, err := w.Write(t.Context(), "join", set.Insert(m)); err != nil {
						t.Fatal(err)
					}
				}
				_, err := writer.Modify(t.Context(), w, "move", set, other, func(m member) (member, error) {
					change(&m)
					return m, nil
				})
				if failed := failedWrite(t, err); !errors.Is(err, writer.ErrTaken) || !failed.NotApplied() {
					t.Errorf("two owners of one key, or not known: %v", err)
				}
			})
		})
	}
}

// An Update or Delete whose before-image was changed in place would leave its row, or its claim, under the former key.
// In a Versioned set it is rejected, also when it comes out of storage, and changes nothing.
func TestUpdateInPlace(t *testing.T) {
	t.Parallel()
	for _, unique := range []bool{false, true} {
		set := memberSet(unique, tables.Versioned("version"))
		for name, change := range inPlace {
			for verb, of := range map[string]func(member) tables.Change{
				"update": func(m member) tables.Change { return set.Update(m, m) }, "delete": set.Delete,
			} {
				t.Run(fmt.Sprintf("unique %t, %s, %s", unique, name, verb), func(t *testing.T) {
					t.Parallel()
					cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
						create(c, set)
						w, s := open(t, c)
						joined := newMember()
						if _, err := w.Write(t.Context(), "join", set.Insert(joined)); err != nil {
							t.Fatal(err)
						}
						m, err := writer.Load(t.Context(), w, "show", set, joined)
						if err != nil {
							t.Fatal(err)
						}
						change(&m)
						_, err = w.Write(t.Context(), "move", of(m))
						failed := failedWrite(t, err)
						if !errors.Is(err, writer.ErrInvalid) || writer.OutcomeOf(err) != writer.Invalid || !failed.NotApplied() ||
							failed.Resumable() {
							t.Errorf("outcome %v: %v", writer.OutcomeOf(err), err)
						}
						if _, err := w.Resume(t.Context(), delivered(t, failed)); !errors.Is(err, writer.ErrInvalid) ||
							failedWrite(t, err).Resumable() {
							t.Errorf("resumed: %v", err)
						}
						if now, err := writer.Load(t.Context(), w, "show", set, m); err != nil || *now.Card != "L1" ||
							now.Photo[0] != '1' || now.Notes["desk"] != "1" {
							t.Errorf("%+v, %v", now, err)
						}
						if _, err := writer.Modify(t.Context(), w, "move", set, m, func(m member) (member, error) {
							change(&m)
							return m, nil
						}); err != nil {
							t.Error(err)
						}
						for _, table := range []string{"members_by_card", "members_by_photo", "members_by_notes"} {
							var rows int
							if err := s.Query("SELECT count(*) FROM " + table).Scan(&rows); err != nil || rows != 1 {
								t.Errorf("%s has %d rows of one member (%v)", table, rows, err)
							}
						}
					})
				})
			}
		}
	}
}

// box has a key that is no pointer: null is read as 0.
type box struct {
	BoxID   gocql.UUID
	Shelf   int32
	Name    string
	Version gocql.UUID
}

// A row that something else has written, with null where Go reads a zero value, is the row as it was read.
func TestUpdateOfARowWithNulls(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[box]("box", tables.Table{Name: "boxes", PartKey: []string{"box_id"}},
		tables.Table{Name: "boxes_by_shelf", PartKey: []string{"shelf"}, SortKey: []string{"box_id"}},
		tables.Versioned("version")))
	both(t, func(t *testing.T, c *cassandratest.Cluster, again func(*writer.Error) *writer.Error) {
		t.Helper()
		create(c, set)
		w, s := open(t, c)
		b := box{BoxID: gocql.MustRandomUUID(), Name: "A"}
		if _, err := w.Write(t.Context(), "store", set.Insert(b)); err != nil {
			t.Fatal(err)
		}
		if err := s.Query("UPDATE boxes SET shelf = null WHERE box_id = ?", b.BoxID).Exec(); err != nil {
			t.Fatal(err)
		}
		read, err := writer.Load(t.Context(), w, "show", set, b)
		if err != nil {
			t.Fatal(err)
		}
		next := read
		next.Name = "B"
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = w.Write(over, "rename", set.Update(read, next))
		if _, err := w.Resume(t.Context(), again(failedWrite(t, err))); err != nil {
			t.Error(err)
		}
		if now, err := writer.Load(t.Context(), w, "show", set, b); err != nil || now.Name != "B" {
			t.Errorf("%+v, %v", now, err)
		}
	})
}

// seat is reserved by a Compare of a column that shares memory with copies of the row.
type seat struct {
	SeatID gocql.UUID
	Guest  *string
	Price  int32
}

// A compared column that is changed in place is compared with what was read, again after each conflict.
func TestModifyInPlaceCompares(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[seat]("seat",
		tables.Table{Name: "seats", PartKey: []string{"seat_id"}}, tables.Compare("price", "guest"),
	))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		nobody := ""
		s := seat{SeatID: gocql.MustRandomUUID(), Price: 1, Guest: &nobody}
		if _, err := w.Write(t.Context(), "build", set.Insert(s)); err != nil {
			t.Fatal(err)
		}
		rounds := 0
		after, err := writer.Modify(t.Context(), w, "reserve", set, s, func(s seat) (seat, error) {
			if rounds++; rounds == 1 { // a conflict, so that the row is frozen twice
				other, _ := open(t, c)
				if _, err := writer.Modify(t.Context(), other, "move", set, s, func(s seat) (seat, error) {
					s.Price++
					return s, nil
				}); err != nil {
					t.Error(err)
				}
			}
			*s.Guest = "A"
			return s, nil
		})
		now, unread := writer.Load(t.Context(), w, "show", set, s)
		if err != nil || unread != nil || rounds != 2 || now.Price != 2 || *now.Guest != "A" || *after.Guest != "A" {
			t.Errorf("after %d rounds %+v, %v, %v", rounds, now, err, unread)
		}
	})
}

// A Modify that meets a conflict each time ends with it. Nothing is sent that the deadline would end unanswered, and
// a round begins as long as there is time for it.
func TestModifyEndsWithAConflict(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"seat_id"}}, tables.Compare("price")))
	for name, test := range map[string]struct {
		timeout, caller, round time.Duration
		least, most            int // rounds
	}{
		"Timeout":        {5 * time.Second, time.Hour, 300 * time.Millisecond, 10, 15},
		"slow":           {5 * time.Second, time.Hour, 1700 * time.Millisecond, 2, 2},
		"the caller's":   {5 * time.Second, 2 * time.Second, 300 * time.Millisecond, 4, 6},
		"MaxElapsedTime": {time.Minute, time.Hour, 2 * time.Second, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				w, s := open(t, c)
				w = w.With(writer.Timeout(test.timeout), writer.Retry(retry.Policy{AttemptTimeout: 4 * time.Second}))
				id := gocql.MustRandomUUID()
				if err := s.Query("INSERT INTO seats (seat_id, price) VALUES (?, 0)", id).Exec(); err != nil {
					t.Fatal(err)
				}
				c.When(cassandratest.Text(" IF ")).Do(cassandratest.Delay(test.round))
				for range 10 {
					ctx, cancel := context.WithTimeout(t.Context(), test.caller)
					rounds := 0
					_, err := writer.Modify(ctx, w, "raise", set, seat{SeatID: id}, func(read seat) (seat, error) {
						rounds++
						read.Price++ // as another client does first, by a statement that is not delayed
						return read, s.Query("UPDATE seats SET price = ? WHERE seat_id = ?\nIF EXISTS", read.Price, id).Exec()
					})
					cancel()
					if writer.OutcomeOf(err) != writer.Conflict || rounds < test.least || rounds > test.most {
						t.Errorf("after %d rounds: %v", rounds, err)
					}
				}
			})
		})
	}
}

type parcel struct {
	ParcelID  gocql.UUID
	State     string
	UpdatedAt int64
}

func parcelSet(more ...tables.Option) *tables.Set[parcel] {
	return tables.Must(tables.New[parcel]("parcel", append([]tables.Option{
		tables.Table{Name: "parcels", PartKey: []string{"parcel_id"}},
		tables.Table{Name: "parcels_by_state", PartKey: []string{"state"}, SortKey: []string{"parcel_id"}},
		tables.OneOf("state", "open", "sent"), tables.Stamp("updated_at"),
	}, more...)...))
}

// A row that was written without the library has no stamp: Modify says what to declare, and sends nothing until it is.
func TestModifyOfARowWithoutStamp(t *testing.T) {
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, parcelSet())
		w, reads := open(t, c)
		p := parcel{ParcelID: gocql.MustRandomUUID(), State: "open"}
		for _, statement := range []string{
			`INSERT INTO parcels (parcel_id, state) VALUES (?, ?)`,
			`INSERT INTO parcels_by_state (parcel_id, state) VALUES (?, ?)`,
		} {
			if err := reads.Query(statement, p.ParcelID, p.State).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		send := func(p parcel) (parcel, error) {
			p.State = "sent"
			return p, nil
		}
		_, err := writer.Modify(t.Context(), w, "send", parcelSet(), p, send)
		if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "declare UnstampedRows") {
			t.Errorf("%v, want ErrInvalid that says what to declare", err)
		}
		if got := rows(t, reads, "parcels_by_state", "state"); len(got) != 1 || !strings.Contains(got[0], "open") {
			t.Errorf("after the rejected write: %v", got)
		}
		sent, err := writer.Modify(t.Context(), w, "send", parcelSet(tables.UnstampedRows()), p, send)
		if err != nil || sent.UpdatedAt == 0 {
			t.Errorf("with UnstampedRows: stamp %d, %v", sent.UpdatedAt, err)
		}
		if got := rows(t, reads, "parcels_by_state", "state"); len(got) != 1 || !strings.Contains(got[0], "sent") {
			t.Errorf("after the write: %v", got)
		}
		if _, err := writer.Modify(t.Context(), w, "send", parcelSet(), p, send); err != nil {
			t.Errorf("the row has a stamp now: %v", err)
		}
	})
}

// A Modify that changes nothing repairs an entity, as the runbook says: rows that are missing, differ, are newer than
// the base row or are under another status become what the base row says.
func TestModifyOfNothingRepairs(t *testing.T) {
	t.Parallel()
	set := testshop.Orders()
	for name, damage := range map[string]string{
		"missing":   "DELETE FROM orders_by_user WHERE user_id = %[2]v AND order_id = %[1]v",
		"differing": "DELETE total FROM orders_by_user WHERE user_id = %[2]v AND order_id = %[1]v",
		"ghost":     "INSERT INTO orders_by_status (status, order_id, user_id, updated_at) VALUES ('paid', %[1]v, %[2]v, 1)",
		"newer":     "UPDATE orders_by_user SET total = 7 WHERE user_id = %[2]v AND order_id = %[1]v",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				w, session := open(t, c)
				order := testshop.NewOrder()
				if _, err := w.Write(t.Context(), "createOrder", set.Insert(order)); err != nil {
					t.Fatal(err)
				}
				agree := func() string {
					t.Helper()
					base := fmt.Sprint(rows(t, session, "orders_by_id", "*"))
					for _, table := range []string{"orders_by_user", "orders_by_status"} {
						if got := fmt.Sprint(rows(t, session, table, "*")); got != base {
							return fmt.Sprintf("%s has %s, the base table %s", table, got, base)
						}
					}
					return ""
				}
				if err := session.Query(fmt.Sprintf(damage, order.OrderID, order.UserID)).Exec(); err != nil {
					t.Fatal(err)
				}
				if agree() == "" {
					t.Fatal("nothing was damaged")
				}
				same := func(o orders.Order) (orders.Order, error) { return o, nil }
				if _, err := writer.Modify(t.Context(), w, "repair", set, order, same); err != nil {
					t.Fatal(err)
				}
				if problem := agree(); problem != "" {
					t.Error(problem)
				}
				if got := rows(t, session, "orders_by_status", "status"); len(got) != 1 || !strings.Contains(got[0], "open") {
					t.Errorf("statuses %v", got)
				}
			})
		})
	}
}

// In other sets a ghost is deleted by hand at its own time, as the runbook says: nothing that is written later under
// its key is hidden, also if it arrives before the delete.
func TestGhostIsDeletedAtItsOwnTime(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[orders.Order]("order",
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
		tables.SingleWriter("status"), tables.Stamp("updated_at")))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, session := open(t, c)
		write := func(change tables.Change) {
			t.Helper()
			if _, err := w.Write(t.Context(), "change", change); err != nil {
				t.Fatal(err)
			}
		}
		order := testshop.NewOrder()
		write(set.Insert(order))
		paid, shipped := order, order
		paid.Status, shipped.Status = orders.Paid, orders.Shipped
		write(set.Update(order, paid))
		write(set.Update(order, shipped)) // from a before-image that paid has overtaken
		var at int64
		if err := session.Query("SELECT updated_at FROM orders_by_status WHERE status = 'paid'").Scan(&at); err != nil {
			t.Fatal("there is no ghost:", err)
		}
		remove := func() {
			t.Helper()
			if err := session.Query("DELETE FROM orders_by_status USING TIMESTAMP ? WHERE status = 'paid' AND order_id = ?", at,
				order.OrderID).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		remove()
		if got := rows(t, session, "orders_by_status", "status"); len(got) != 1 || !strings.Contains(got[0], "shipped") {
			t.Errorf("statuses %v", got)
		}
		write(set.Update(shipped, paid))
		remove()
		if got := rows(t, session, "orders_by_status", "status"); len(got) != 1 || !strings.Contains(got[0], "paid") {
			t.Errorf("paid again, statuses %v", got)
		}
	})
}

// An update of an entity that does not exist is a conflict that says so, and not that another write came first.
func TestUpdateOfAnAbsentRow(t *testing.T) {
	t.Parallel()
	seats := tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"seat_id"}},
		tables.Compare("price")))
	members := memberSet(false, tables.Versioned("version"))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, seats, members)
		w, _ := open(t, c)
		s, m := seat{SeatID: gocql.MustRandomUUID(), Price: 1}, newMember()
		dearer, renamed := s, m
		m.Version = gocql.TimeUUID()
		dearer.Price, renamed.Name = 2, "B"
		for name, change := range map[string]tables.Change{
			"Compare":   seats.Update(s, dearer),
			"Versioned": members.Update(m, renamed),
		} {
			_, err := w.Write(t.Context(), "change", change)
			if !errors.Is(err, writer.ErrConflict) || !failedWrite(t, err).NotApplied() ||
				!strings.Contains(err.Error(), "the entity does not exist") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Two changes of one entity are what is wrong with a write, also where one of them lacks what the other would give it.
func TestChangedTwice(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		u := user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome"}
		moved := u
		moved.City = "oslo"
		for name, changes := range map[string][]tables.Change{
			"insert first": {users.Insert(u), users.Update(u, moved)},
			"update first": {users.Update(u, moved), users.Insert(u)},
		} {
			_, err := s.w.Write(t.Context(), "join", changes...)
			if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "entity user: changed twice in one write") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// What was not written because a condition did not hold says that it did not, and not that this is not known.
func TestConditionDidNotHold(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := start(t, c)
		u := user{UserID: gocql.MustRandomUUID(), Email: "a@x", City: "rome"}
		if _, err := s.w.Write(t.Context(), "join", users.Insert(u)); err != nil {
			t.Fatal(err)
		}
		_, err := s.w.Write(t.Context(), "join", users.Insert(u))
		if !errors.Is(err, writer.ErrConflict) ||
			!strings.Contains(err.Error(), "users_by_city not applied, not sent: the condition of the write did not hold") {
			t.Error(err)
		}
	})
}

// Modify of a counter set is rejected, whether there is a row or not.
func TestModifyOfCounters(t *testing.T) {
	t.Parallel()
	type hits struct {
		PageID string
		Hits   int64
	}
	set := tables.Must(tables.New[hits]("hits", tables.Table{Name: "hits", PartKey: []string{"page_id"}},
		tables.Type("hits", "counter")))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, _ := open(t, c)
		for _, there := range []bool{false, true} {
			if there {
				if _, err := w.Write(t.Context(), "count", set.Add(hits{"a", 1})); err != nil {
					t.Fatal(err)
				}
			}
			_, err := writer.Modify(t.Context(), w, "count", set, hits{PageID: "a"}, func(h hits) (hits, error) {
				t.Error("called")
				return h, nil
			})
			if !errors.Is(err, writer.ErrInvalid) ||
				!strings.Contains(err.Error(), "update of counters: Add is their only verb") {
				t.Errorf("a row %t: %v", there, err)
			}
		}
	})
}

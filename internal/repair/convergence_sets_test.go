package repair_test

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/bucket"
	"github.com/denorm-go/denorm/tables"
	"gopkg.in/inf.v0"
)

// This file declares the sets over which the convergence law is tested.

// lawFamilies are the sets of which each case takes one.
var lawFamilies = sync.OnceValue(func() []*lawFamily {
	return []*lawFamily{
		// One OneOf column, one value that may be absent.
		newFamily("orders", tables.Must(tables.New[lawOrder]("order",
			tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
			tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
			tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
			tables.OneOf("status", lawOpen, lawPaid, lawShipped, lawCancelled),
			tables.Stamp("updated_at"),
			tables.Type("order_id", "timeuuid"),
		)), []string{"status"}, 1, drawOrder),
		// Two OneOf columns in different tables; -1 sorts above 7; three values that may be absent.
		newFamily("parcels", tables.Must(tables.New[lawParcel]("parcel",
			tables.Table{Name: "parcels", PartKey: []string{"id"}},
			tables.Table{Name: "parcels_by_state", PartKey: []string{"state"}, SortKey: []string{"id"}},
			tables.Table{Name: "parcels_by_zone", PartKey: []string{"zone"}, SortKey: []string{"id"}},
			tables.OneOf("state", "new", "sent", "lost"),
			tables.OneOf[int32]("zone", 7, 0, -1),
			tables.Stamp("updated_at"),
		)), []string{"state", "zone"}, 1, func(r *rand.Rand, _ int) lawParcel {
			return lawParcel{
				lawUUID(1), one(r, "new", "sent", "lost"), one[int32](r, -1, 0, 7), perhaps(r, "a", "b"), perhaps[int32](r, 1, 2),
				one(r, time.Time{}, time.UnixMilli(1), time.UnixMilli(2)), r.Int64(),
			}
		}),
		// Two OneOf columns in one table, one of them clustering, and each alone.
		newFamily("tasks", tables.Must(tables.New[lawTask]("task",
			tables.Table{Name: "tasks", PartKey: []string{"id"}},
			tables.Table{Name: "tasks_on_board", PartKey: []string{"state"}, SortKey: []string{"lane", "id"}},
			tables.Table{Name: "tasks_in_lane", PartKey: []string{"lane"}, SortKey: []string{"id"}},
			tables.OneOf("state", lawOpen, lawPaid, lawCancelled),
			tables.OneOf[int32]("lane", 1, 2),
			tables.Stamp("updated_at"),
		)), []string{"state", "lane"}, 1, func(r *rand.Rand, _ int) lawTask {
			return lawTask{
				lawUUID(1), one(r, lawOpen, lawPaid, lawCancelled), one[int32](r, 1, 2), perhaps(r, "a", "b"), r.Int64(),
			}
		}),
		// A hash bucket that follows from a OneOf column and from the id. The draw computes it by itself.
		newFamily("jobs", tables.Must(tables.New[lawJob]("job",
			tables.Table{Name: "jobs", PartKey: []string{"id"}},
			tables.Table{Name: "jobs_by_queue", PartKey: []string{"queue", "slot"}, SortKey: []string{"id"}},
			tables.OneOf("queue", lawOpen, lawPaid, lawShipped, lawCancelled),
			tables.Derive("slot", tables.Hash(3, "queue", "id")),
			tables.Stamp("updated_at"),
		)), []string{"queue"}, 1, func(r *rand.Rand, _ int) lawJob {
			queue := one(r, lawOpen, lawPaid, lawShipped, lawCancelled)
			return lawJob{
				lawUUID(1), queue, bucket.Hash(3, []byte(queue), lawUUID(1).Bytes()), time.UnixMilli(1), perhaps(r, "a", "b"),
				r.Int64(),
			}
		}, bucketed(3, "queue", "id")),
		// A hash bucket that is a field, of a OneOf column that may be absent, alongside the key in another table.
		newFamily("errands", tables.Must(tables.New[lawErrand]("errand",
			tables.Table{Name: "errands", PartKey: []string{"id"}},
			tables.Table{Name: "errands_by_state", PartKey: []string{"state", "slot"}, SortKey: []string{"id"}},
			tables.Table{Name: "errands_by_zone", PartKey: []string{"zone"}, SortKey: []string{"id"}},
			tables.OneOf("state", lawOpen, lawPaid),
			tables.OneOf[int32]("zone", 1, 2),
			tables.Derive("slot", tables.Hash(3, "state")),
			tables.Stamp("updated_at"),
		)), []string{"state", "zone"}, 1, func(r *rand.Rand, _ int) lawErrand {
			state := perhaps(r, lawOpen, lawPaid)
			var slot *int32
			if state != nil {
				slot = ptr(bucket.Hash(3, []byte(*state)))
			}
			return lawErrand{lawUUID(1), state, slot, one[int32](r, 1, 2), perhaps(r, "a", "b"), r.Int64()}
		}, bucketed(3, "state")),
		// A hash bucket under two functions, which sweeps also where nothing moves, in inserts too.
		newFamily("chores", chores(), []string{"queue", "lane"}, 1, drawChore, bucketed(7, "queue")),
		newFamily("swept chores", chores(tables.SweepInserts()), []string{"queue", "lane"}, 1, drawChore, upserting,
			bucketed(7, "queue")),
		// OneOf columns of other types.
		newFamily("days", tables.Must(tables.New[lawDay]("day",
			tables.Table{Name: "days", PartKey: []string{"id"}},
			tables.Table{Name: "days_by_flag", PartKey: []string{"flag"}, SortKey: []string{"day DESC", "id"}},
			tables.Table{Name: "days_by_day", PartKey: []string{"day"}, SortKey: []string{"id"}},
			tables.OneOf("flag", true, false),
			tables.OneOf("day", lawDays...),
			tables.Stamp("updated_at"),
		)), []string{"flag", "day"}, 1, func(r *rand.Rand, _ int) lawDay {
			return lawDay{lawUUID(1), one(r, true, false), one(r, lawDays...), perhaps(r, "a", "b"), r.Int64()}
		}),
		// A OneOf column in clustering position only: all rows of the entity in one partition.
		newFamily("tickets", tables.Must(tables.New[lawTicket]("ticket",
			tables.Table{Name: "tickets", PartKey: []string{"id"}},
			tables.Table{Name: "tickets_by_agent", PartKey: []string{"agent"}, SortKey: []string{"status DESC", "id"}},
			tables.OneOf("status", lawOpen, lawPaid, lawShipped, lawCancelled),
			tables.Stamp("updated_at"),
		)), []string{"status"}, 1, func(r *rand.Rand, _ int) lawTicket {
			return lawTicket{
				lawUUID(1), lawUUID(2), one(r, lawOpen, lawPaid, lawShipped, lawCancelled), perhaps(r, "a", "b"),
				perhaps[int32](r, 1, 2),
				r.Int64(),
			}
		}),
		// A sparse table by a OneOf column that may be nil, and a second OneOf column in another one.
		newFamily("rides", tables.Must(tables.New[lawRide]("ride",
			tables.Table{Name: "rides", PartKey: []string{"id"}},
			tables.Table{Name: "rides_by_driver", PartKey: []string{"driver"}, SortKey: []string{"id"}},
			tables.Table{Name: "rides_by_city", PartKey: []string{"city"}, SortKey: []string{"state", "id"}},
			tables.OneOf("state", lawOpen, lawPaid, lawCancelled),
			tables.OneOf("driver", "ann", "bob", "eve"),
			tables.Stamp("updated_at"),
		)), []string{"state", "driver"}, 1, func(r *rand.Rand, _ int) lawRide {
			return lawRide{
				lawUUID(1), "bern", one(r, lawOpen, lawPaid, lawCancelled), perhaps(r, "ann", "bob", "eve"), perhaps(r, "a", "b"),
				perhaps[int32](r, 1, 2), r.Int64(),
			}
		}),
		// A sparse table by an immutable column, which half of the entities have, alone and alongside a OneOf column.
		newFamily("vouchers", tables.Must(tables.New[lawVoucher]("voucher",
			tables.Table{Name: "vouchers", PartKey: []string{"id"}},
			tables.Table{Name: "vouchers_by_campaign", PartKey: []string{"campaign"}, SortKey: []string{"id"}},
			tables.Table{Name: "vouchers_by_progress", PartKey: []string{"campaign"}, SortKey: []string{"state", "id"}},
			tables.Table{Name: "vouchers_by_state", PartKey: []string{"state"}, SortKey: []string{"id"}},
			tables.OneOf("state", lawOpen, lawPaid, lawCancelled),
			tables.Stamp("updated_at"),
		)), []string{"state"}, 2, func(r *rand.Rand, world int) lawVoucher {
			return lawVoucher{
				lawUUID(1), in(world, lawUUID(3)), one(r, lawOpen, lawPaid, lawCancelled), perhaps(r, "a", "b"), r.Int64(),
			}
		}),
		// Tables that hold a part of the columns, one of them nothing but its key.
		newFamily("invoices", tables.Must(tables.New[lawInvoice]("invoice",
			tables.Table{Name: "invoices", PartKey: []string{"id"}},
			tables.Table{
				Name: "invoices_by_state", PartKey: []string{"state"}, SortKey: []string{"id"},
				Columns: []string{"total"},
			},
			tables.Table{
				Name: "invoices_by_customer", PartKey: []string{"customer"}, SortKey: []string{"id"},
				Columns: []string{"state", "memo"},
			},
			tables.Table{
				Name: "invoice_ids", PartKey: []string{"customer", "state"}, SortKey: []string{"id"},
				Columns: []string{},
			},
			tables.OneOf("state", lawOpen, lawPaid, lawCancelled),
			tables.Stamp("updated_at"),
		)), []string{"state"}, 1, func(r *rand.Rand, _ int) lawInvoice {
			return lawInvoice{
				lawUUID(1), "acme", one(r, lawOpen, lawPaid, lawCancelled), one[int32](r, 10, 20), perhaps(r, "a", "b"),
				perhaps(r, "a", "b"),
				r.Int64(),
			}
		}),
		// Blind Upsert and sweeping Insert over two OneOf columns, one of them sparse and clustering.
		newFamily("devices", tables.Must(tables.New[lawDevice]("device",
			tables.Table{Name: "devices", PartKey: []string{"id"}},
			tables.Table{Name: "devices_on_site", PartKey: []string{"site"}, SortKey: []string{"mode", "id"}},
			tables.Table{
				Name: "devices_by_shard", PartKey: []string{"shard"}, SortKey: []string{"id"},
				Columns: []string{"name", "mode"},
			},
			tables.OneOf("mode", lawOpen, lawShipped),
			tables.OneOf[int32]("shard", -2, 0, 3),
			tables.SweepInserts(),
			tables.Stamp("updated_at"),
		)), []string{"mode", "shard"}, 1, func(r *rand.Rand, _ int) lawDevice {
			return lawDevice{
				"device-1", "bern", perhaps(r, lawOpen, lawShipped), one[int32](r, -2, 0, 3), perhaps(r, "a", "b"),
				perhaps[int32](r, 1, 2),
				r.Int64(),
			}
		}, upserting),
		// A set that may expire, whose rows do not.
		newFamily("sessions", sessions(), []string{"phase"}, 1, func(r *rand.Rand, _ int) lawSession {
			return lawSession{lawUUID(1), "joe", one[int32](r, 1, 2, 300), perhaps(r, "a", "b"), nil, r.Int64()}
		}),
		// No column moves: any Upsert is allowed. No stamp either.
		newFamily("profiles", tables.Must(tables.New[lawProfile]("profile",
			tables.Table{Name: "profiles", PartKey: []string{"id"}},
			tables.Table{
				Name: "profiles_by_email", PartKey: []string{"email"}, SortKey: []string{"id"},
				Columns: []string{"name", "height"},
			},
		)), nil, 2, func(r *rand.Rand, world int) lawProfile {
			return lawProfile{
				lawUUID(1), in(world, "joe@example.org"), perhaps(r, "a", "b"), perhaps[int32](r, 1, 2), one(r, true, false),
			}
		}, upserting),
		// Tables that share an id alone: two of them have the rest of the base key alongside theirs.
		newFamily("runs", tables.Must(tables.New[lawRun]("run",
			tables.Table{Name: "runs", PartKey: []string{"domain"}, SortKey: []string{"ended DESC", "id"}},
			tables.Table{Name: "runs_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}},
			tables.Table{
				Name: "runs_by_state", PartKey: []string{"domain", "state"}, SortKey: []string{"id"},
				Columns: []string{"ended", "note"},
			},
			tables.ID("id"),
			tables.OneOf("state", lawOpen, lawPaid, lawCancelled),
			tables.Stamp("updated_at"),
		)), []string{"state"}, 2, func(r *rand.Rand, world int) lawRun {
			return lawRun{
				"d", time.UnixMilli(5), lawUUID(1), in(world, "k"), one(r, lawOpen, lawPaid, lawCancelled),
				perhaps(r, "a", "b"), r.Int64(),
			}
		}),
		// All at once.
		newFamily("bookings", tables.Must(tables.New[lawBooking]("booking",
			tables.Table{Name: "bookings", PartKey: []string{"hotel"}, SortKey: []string{"id"}},
			tables.Table{Name: "bookings_by_room", PartKey: []string{"hotel", "room"}, SortKey: []string{"state DESC", "id"}},
			tables.Table{
				Name: "bookings_by_state", PartKey: []string{"region", "state"}, SortKey: []string{"hotel", "id"},
				Columns: []string{"guest"},
			},
			tables.Table{Name: "bookings_by_agency", PartKey: []string{"agency"}, SortKey: []string{"room DESC", "hotel", "id"}},
			tables.OneOf("state", lawOpen, lawPaid, lawCancelled),
			tables.OneOf[int32]("room", 101, 202),
			tables.Stamp("updated_at"),
		)), []string{"state", "room"}, 2, func(r *rand.Rand, world int) lawBooking {
			return lawBooking{
				lawUUID(1), 5, "south", in(world, lawUUID(3)), one(r, lawOpen, lawPaid, lawCancelled), perhaps[int32](r, 101, 202),
				perhaps(r, "a", "b"), perhaps(r, "a", "b"), r.Int64(),
			}
		}),
	}
})

// lawExpiring are sets whose rows expire: some soon, while writes are still under way, some later, some never.
var lawExpiring = sync.OnceValue(func() []*lawFamily {
	return []*lawFamily{
		newFamily("expiring sessions", sessions(), []string{"phase"}, 1, func(r *rand.Rand, _ int) lawSession {
			expiry := perhaps(r, lawSoon, lawLater)
			if expiry != nil {
				at := expiry.Add(time.Duration(r.IntN(5000)) * time.Millisecond)
				expiry = &at
			}
			return lawSession{lawUUID(1), "joe", one[int32](r, 1, 2, 300), perhaps(r, "a", "b"), expiry, r.Int64()}
		}),
	}
})

func sessions() *tables.Set[lawSession] {
	return tables.Must(tables.New[lawSession]("session",
		tables.Table{Name: "sessions", PartKey: []string{"id"}},
		tables.Table{Name: "sessions_by_login", PartKey: []string{"login"}, SortKey: []string{"phase", "id"}},
		tables.Table{
			Name: "sessions_by_phase", PartKey: []string{"phase"}, SortKey: []string{"id"},
			Columns: []string{"login"},
		},
		tables.OneOf[int32]("phase", 1, 2, 300),
		tables.ExpiresAt("expires_at"),
		tables.Stamp("updated_at"),
	))
}

func chores(options ...tables.Option) *tables.Set[lawChore] {
	return tables.Must(tables.New[lawChore]("chore", append(options,
		tables.Table{Name: "chores", PartKey: []string{"id"}},
		tables.Table{Name: "chores_by_queue", PartKey: []string{"queue", "slot"}, SortKey: []string{"id"}},
		tables.Table{Name: "chores_by_slot", PartKey: []string{"slot"}, SortKey: []string{"lane DESC", "queue", "id"}},
		tables.OneOf("queue", lawOpen, lawPaid, lawShipped),
		tables.OneOf[int32]("lane", -1, 4),
		tables.Derive("slot", tables.Hash(3, "queue", "id"), tables.Since{Bucket: tables.Hash(7, "queue")}),
		tables.Stamp("updated_at"),
	)...))
}

func drawChore(r *rand.Rand, _ int) lawChore {
	queue := one(r, lawOpen, lawPaid, lawShipped)
	return lawChore{
		lawUUID(1), queue, bucket.Hash(7, []byte(queue)), perhaps[int32](r, -1, 4), perhaps(r, "a", "b"),
		r.Int64(),
	}
}

var lawDays = []time.Time{time.UnixMilli(-5), time.UnixMilli(0), time.UnixMilli(5)}

func drawOrder(r *rand.Rand, _ int) lawOrder {
	return lawOrder{
		lawUUID(1), lawUUID(2), one(r, lawOpen, lawPaid, lawShipped, lawCancelled),
		one(r, nil, inf.NewDec(1995, 2), inf.NewDec(-1, 0)), r.Int64(),
	}
}

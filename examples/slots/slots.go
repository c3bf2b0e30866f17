// Package slots is an example: delivery slots of a supermarket, each of which is reserved for a customer for a while,
// and then confirmed or free again. Whoever finds the slot as it was read gets it, and everybody else learns who has
// it.
package slots

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Slot is a stretch of time in which a team delivers to one customer.
type Slot struct {
	DeliveryDate      time.Time
	StartTime         time.Duration // since midnight
	DeliveryTeamID    gocql.UUID
	Confirmed         bool
	CustomerID        *gocql.UUID // nil: nobody's
	ReservationExpiry *time.Time
	ChangeID          gocql.UUID // filled by the library: which change made the row
}

// Slots are changed by lightweight transactions only: a change applies if these columns are as they were read.
// Confirmed is never absent, so a slot that was never planned cannot pass for a free one.
var Slots = tables.Must(tables.New[Slot]("slot",
	tables.Table{
		Name: "delivery_timeslots", Keyspace: "order_delivery",
		PartKey: []string{"delivery_date"}, SortKey: []string{"start_time", "delivery_team_id"},
	},
	tables.Type("delivery_date", "date"),
	tables.Type("start_time", "time"),
	tables.Compare("confirmed", "customer_id", "reservation_expiry"),
	tables.Mark("change_id"),
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Slots)))

// Why a slot is not to be had.
var (
	ErrReserved = errors.New("the slot is reserved for somebody else")
	ErrLost     = errors.New("the slot is not reserved for this customer any more")
)

// Plan makes a slot that nobody has. To plan it again is no fault, and changes nothing.
func Plan(ctx context.Context, w *writer.Writer, s Slot) error {
	s.Confirmed, s.CustomerID, s.ReservationExpiry = false, nil, nil
	_, err := w.Write(ctx, "planSlot", Slots.Insert(s))
	if errors.Is(err, writer.ErrConflict) {
		return nil
	}
	return err
}

// Reserve gives the slot to a customer until a moment. One whose reservation has expired by now is free. A customer who
// has the slot already keeps it, until that moment.
func Reserve(ctx context.Context, w *writer.Writer, slot Slot, customer gocql.UUID, now, until time.Time) (Slot, error) {
	until = until.UTC().Truncate(time.Millisecond) // as it is stored
	reserved, err := writer.Modify(ctx, w, "reserveSlot", Slots, slot, func(s Slot) (Slot, error) {
		if s.CustomerID != nil && *s.CustomerID != customer && (s.Confirmed || s.ReservationExpiry == nil || s.ReservationExpiry.After(now)) {
			return s, ErrReserved
		}
		if s.has(customer, until) {
			return s, errAlready
		}
		s.CustomerID, s.ReservationExpiry = &customer, &until
		return s, nil
	})
	if errors.Is(err, errAlready) {
		return reserved, nil
	}
	return reserved, err
}

var errAlready = errors.New("the customer has the slot until then")

// has says whether a customer has the slot until a moment.
func (s Slot) has(customer gocql.UUID, until time.Time) bool {
	return s.CustomerID != nil && *s.CustomerID == customer && s.ReservationExpiry != nil && s.ReservationExpiry.Equal(until)
}

// Confirm makes a reservation last. It is a change and no write, for a write that confirms the slot and does the rest
// of an order with it.
func Confirm(reserved Slot) tables.Change {
	confirmed := reserved
	confirmed.Confirmed, confirmed.ReservationExpiry = true, nil
	return Slots.Update(reserved, confirmed)
}

// Release gives a reservation back.
func Release(ctx context.Context, w *writer.Writer, slot Slot, customer gocql.UUID) (Slot, error) {
	return writer.Modify(ctx, w, "releaseSlot", Slots, slot, func(s Slot) (Slot, error) {
		if s.Confirmed || s.CustomerID == nil || *s.CustomerID != customer {
			return s, ErrLost
		}
		s.CustomerID, s.ReservationExpiry = nil, nil
		return s, nil
	})
}

// Move gives the customer of one slot another of the same day in its place, both as they were read: both change, or
// neither. A day is one partition, so one transaction can hold the conditions of both. Let no two moves have the same
// until: then a move never finds the slots as an earlier one did, and one whose answer was lost is not made a second
// time, see [tables.Compare].
func Move(ctx context.Context, w *writer.Writer, from, to Slot, until time.Time) error {
	moved, left := to, from
	moved.CustomerID, moved.Confirmed, moved.ReservationExpiry = from.CustomerID, from.Confirmed, &until
	left.CustomerID, left.Confirmed, left.ReservationExpiry = nil, false, nil
	_, err := w.Write(ctx, "moveReservation", Slots.Update(from, left), Slots.Update(to, moved))
	return err
}

// OfDay gives the slots of a day, the earliest first.
func OfDay(ctx context.Context, r *reader.Reader, day time.Time) iter.Seq2[Slot, error] {
	return reader.Read(ctx, r, "slotsOfDay", reader.From(Slots, "delivery_timeslots").Eq("delivery_date", day)).All()
}

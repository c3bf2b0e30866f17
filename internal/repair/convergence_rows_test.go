package repair_test

import (
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// This file has the rows of the sets over which the convergence law is tested, and what draws their values.

type (
	lawStatus string

	lawOrder struct {
		OrderID   gocql.UUID `db:"order_id"`
		UserID    gocql.UUID `db:"user_id"`
		Status    lawStatus  `db:"status"`
		Total     *inf.Dec   `db:"total"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawParcel struct {
		ID        gocql.UUID `db:"id"`
		State     string     `db:"state"`
		Zone      int32      `db:"zone"`
		Note      *string    `db:"note"`
		Weight    *int32     `db:"weight"`
		Opened    time.Time  `db:"opened"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawTask struct {
		ID        gocql.UUID `db:"id"`
		State     lawStatus  `db:"state"`
		Lane      int32      `db:"lane"`
		Note      *string    `db:"note"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawTicket struct {
		ID        gocql.UUID `db:"id"`
		Agent     gocql.UUID `db:"agent"`
		Status    lawStatus  `db:"status"`
		Note      *string    `db:"note"`
		Rating    *int32     `db:"rating"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawRide struct {
		ID        gocql.UUID `db:"id"`
		City      string     `db:"city"`
		State     lawStatus  `db:"state"`
		Driver    *string    `db:"driver"`
		Note      *string    `db:"note"`
		Fare      *int32     `db:"fare"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawVoucher struct {
		ID        gocql.UUID  `db:"id"`
		Campaign  *gocql.UUID `db:"campaign"`
		State     lawStatus   `db:"state"`
		Note      *string     `db:"note"`
		UpdatedAt int64       `db:"updated_at"`
	}
	lawInvoice struct {
		ID        gocql.UUID `db:"id"`
		Customer  string     `db:"customer"`
		State     lawStatus  `db:"state"`
		Total     int32      `db:"total"`
		Note      *string    `db:"note"`
		Memo      *string    `db:"memo"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawDevice struct {
		ID        string     `db:"id"`
		Site      string     `db:"site"`
		Mode      *lawStatus `db:"mode"`
		Shard     int32      `db:"shard"`
		Name      *string    `db:"name"`
		Battery   *int32     `db:"battery"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawSession struct {
		ID        gocql.UUID `db:"id"`
		Login     string     `db:"login"`
		Phase     int32      `db:"phase"`
		Data      *string    `db:"data"`
		ExpiresAt *time.Time `db:"expires_at"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawProfile struct {
		ID     gocql.UUID `db:"id"`
		Email  *string    `db:"email"`
		Name   *string    `db:"name"`
		Height *int32     `db:"height"`
		Active bool       `db:"active"`
	}
	lawBooking struct {
		ID        gocql.UUID  `db:"id"`
		Hotel     int32       `db:"hotel"`
		Region    string      `db:"region"`
		Agency    *gocql.UUID `db:"agency"`
		State     lawStatus   `db:"state"`
		Room      *int32      `db:"room"`
		Guest     *string     `db:"guest"`
		Memo      *string     `db:"memo"`
		UpdatedAt int64       `db:"updated_at"`
	}
	lawRun struct {
		Domain    string     `db:"domain"`
		Ended     time.Time  `db:"ended"`
		ID        gocql.UUID `db:"id"`
		Kind      *string    `db:"kind"`
		State     lawStatus  `db:"state"`
		Note      *string    `db:"note"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawErrand struct {
		ID        gocql.UUID `db:"id"`
		State     *lawStatus `db:"state"`
		Slot      *int32     `db:"slot"` // derived
		Zone      int32      `db:"zone"`
		Note      *string    `db:"note"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawChore struct {
		ID        gocql.UUID `db:"id"`
		Queue     lawStatus  `db:"queue"`
		Slot      int32      `db:"slot"` // derived, by two functions
		Lane      *int32     `db:"lane"`
		Note      *string    `db:"note"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawDay struct {
		ID        gocql.UUID `db:"id"`
		Flag      bool       `db:"flag"`
		Day       time.Time  `db:"day"`
		Note      *string    `db:"note"`
		UpdatedAt int64      `db:"updated_at"`
	}
	lawJob struct {
		ID        gocql.UUID `db:"id"`
		Queue     lawStatus  `db:"queue"`
		Slot      int32      `db:"slot"` // derived
		Due       time.Time  `db:"due"`
		Note      *string    `db:"note"`
		UpdatedAt int64      `db:"updated_at"`
	}
)

const (
	lawOpen      lawStatus = "open"
	lawPaid      lawStatus = "paid"
	lawShipped   lawStatus = "shipped"
	lawCancelled lawStatus = "cancelled"
)

func lawUUID(b byte) gocql.UUID {
	return gocql.UUID{0xa0, 1, 2, 3, 4, 5, 0x16, 7, 0x88, 9, 10, 11, 12, 13, 14, b} // version 1
}

func one[V any](r *rand.Rand, values ...V) V { return values[r.IntN(len(values))] }

// perhaps is nil a third of the time.
func perhaps[V any](r *rand.Rand, values ...V) *V {
	if r.IntN(3) == 0 {
		return nil
	}
	v := one(r, values...)
	return &v
}

// in is nil in an odd world, else v: a sparse table's immutable key.
func in[V any](world int, v V) *V {
	if world%2 == 1 {
		return nil
	}
	return &v
}

func ptr[V any](v V) *V { return &v }

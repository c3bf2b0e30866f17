package versioned

import (
	"context"
	"errors"

	"github.com/gocql/gocql"
)

// ErrTaken is the error of a change whose unique key another entity has, or is about to have: see [TakenError].
var ErrTaken = errors.New("unique key is taken")

// TakenError is an ErrTaken with its particulars. Its text has none of them, as a key is a value of the service's.
type TakenError struct {
	Key   Key
	Owner string
}

// Error is that of ErrTaken.
func (*TakenError) Error() string { return ErrTaken.Error() }

// Unwrap gives ErrTaken.
func (*TakenError) Unwrap() error { return ErrTaken }

// Claim is what a unique table has under a key. The zero value is a key without an owner.
type Claim struct {
	Owner string     // the entity: its encoded base key
	Token gocql.UUID // a new one whenever a write has claimed the key, for its owner too
}

// Key is a key of a unique table on behalf of one entity, the one that a change is about. The table's row is written by
// lightweight transactions only. Methods that return errors make one request each; the errors are those of the driver.
type Key interface {
	// String names the table, without values.
	String() string
	// Self is the entity.
	Self() string
	// Read reads the row at SERIAL.
	Read(ctx context.Context) (Claim, error)
	// Take inserts {Self, token} if there is no row. It gives the row that there is then: the zero Claim if one was in the way, and is gone.
	Take(ctx context.Context, token gocql.UUID) (now Claim, err error)
	// Replace makes the row {Self, token} if its token is seen. It gives the token that there is then, zero if there is no row.
	Replace(ctx context.Context, seen, token gocql.UUID) (now gocql.UUID, err error)
	// Free removes the row if its token is this one. Whether it was is of no interest.
	Free(ctx context.Context, token gocql.UUID) error
	// Base is another entity of the set.
	Base(owner string) Store
	// Held says whether a base row, any entity's, has this key.
	Held(row Row) bool
}

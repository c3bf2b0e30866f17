package versioned

import (
	"context"
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/request"
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
	// Take inserts {Self, token} if there is no row. It gives the row that there is then: the zero Claim if one was in the
	// way, and is gone.
	Take(ctx context.Context, token gocql.UUID) (now Claim, err error)
	// Replace makes the row {Self, token} if its token is seen. It gives the token that there is then, zero if there is no
	// row.
	Replace(ctx context.Context, seen, token gocql.UUID) (now gocql.UUID, err error)
	// Free removes the row if its token is this one. Whether it was is of no interest.
	Free(ctx context.Context, token gocql.UUID) error
	// OfID says whether the entities that have the key one after the other may share rows of query tables.
	OfID() bool
	// Base is another entity of the set.
	Base(owner string) Store
	// Held says whether a base row, any entity's, has this key.
	Held(row Row) bool
}

// UniqueKey is a key of a Unique table on the cluster, on behalf of an entity. It is for one goroutine.
type UniqueKey struct {
	*entity.Claim

	partition *decide.Partition
	store     func(owner *entity.Base) Store
	bases     map[string]*entity.Base // of the owners that were seen
}

var _ Key = (*UniqueKey)(nil)

// Ownerless is that a row of a table of unique keys, which no writer of the library has made, names no entity.
func Ownerless(table string) error {
	return request.Stop(fmt.Errorf("a row of %s %w", table, ErrOwnerless))
}

// Read implements [Key].
func (k *UniqueKey) Read(ctx context.Context) (out Claim, err error) {
	statement, dest, holder := k.Select()
	found, err := k.partition.Read(ctx, statement, dest, false)
	switch {
	case err != nil:
		return out, fmt.Errorf("read %s at %v: %w", k.Claim, k.partition.Options.Serial, err)
	case !found:
		return out, nil
	}
	h := holder()
	if !h.Base.Complete() {
		return out, Ownerless(k.Keyspace + "." + k.Table)
	}
	out = Claim{Owner: h.Base.Key(), Token: h.Token}
	if h.Own { // in other bytes, perhaps
		out.Owner = k.Self()
	}
	k.bases[out.Owner] = h.Base
	return out, nil
}

// Take implements [Key].
func (k *UniqueKey) Take(ctx context.Context, token gocql.UUID) (Claim, error) {
	if applied, _, err := k.partition.Transact(ctx, k.Claim.Take(token)); err != nil || applied {
		return Claim{Owner: k.Self(), Token: token}, err
	}
	return k.Read(ctx) // a zero claim if it is gone meanwhile
}

// Replace implements [Key].
func (k *UniqueKey) Replace(ctx context.Context, seen, token gocql.UUID) (now gocql.UUID, err error) {
	applied, row, err := k.partition.Transact(ctx, k.Claim.Replace(token, seen))
	if err != nil || applied {
		return token, err
	}
	now, _ = row[layout.Token.Name].(gocql.UUID)
	return now, nil
}

// Free implements [Key].
func (k *UniqueKey) Free(ctx context.Context, token gocql.UUID) error {
	_, _, err := k.partition.Transact(ctx, k.Claim.Free(token))
	return err
}

// Base implements [Key].
func (k *UniqueKey) Base(owner string) Store { return k.store(k.bases[owner]) }

// Held implements [Key].
func (k *UniqueKey) Held(row Row) bool {
	stored, ok := row.Columns.(*entity.Row)
	return ok && k.Holds(*stored)
}

package entity

import (
	"errors"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file changes base rows of Versioned sets, and brings query tables to what these say: the column pending has what
// is left to be done.

// FenceTTL is how long the base row of a deleted entity of a [Versioned] set keeps its version. For that time a writer
// that still has the deleted row in hand, or a transaction that was delayed on its way, cannot bring it back. An insert
// must not be much older: below a fence that is gone it would be in the base table, and under tombstones in the others.
const FenceTTL = 24 * time.Hour

// Pending is what a change has left to be done in the query tables, unless the column done says that it is.
type Pending struct {
	Version gocql.UUID
	Keys    Keys // of the row before the change; none of an insert
}

const pendingFormat = 1

var pendingType = cqltype.Must(layout.Pending.Type)

var errPending = errors.New("column pending was not written by a version of this library: correct the row")

func (p Pending) value() *cqltype.Value {
	data := make([]byte, 0, 1+len(p.Version)+len(p.Keys))
	return &cqltype.Value{Type: pendingType, Data: append(append(append(data, pendingFormat), p.Version[:]...), p.Keys...)}
}

// decodePending is the reverse of value; nil of a null.
func decodePending(data []byte) (*Pending, error) {
	const version = 1 + len(gocql.UUID{})
	if data == nil {
		return nil, nil //nolint:nilnil // nothing is pending
	}
	if len(data) < version || data[0] != pendingFormat {
		return nil, errPending
	}
	return &Pending{Version: gocql.UUID(data[1:version]), Keys: data[version:]}, nil
}

// Swap is a lightweight transaction of a base row: if its version is Before, and nothing is left to be done, it becomes
// After.
type Swap struct {
	Before  gocql.UUID // zero: null
	Live    bool       // the row before it is there, and has the version Before
	Version gocql.UUID
	After   *Row // nil for a fence
	Keys    Keys // of the row before it
	// Finished says that the column done need not be Before.
	Finished bool
}

// Swap renders it. A live row is finished if done is its version, and another row if pending is null. Where this call
// has finished a live row, it does not ask: done can be of a later time than the version, and then stays. An insert
// also wants all declared columns to be null. Another change wants the columns that keys follow from to be as its
// before-image says. Several statements are sent in one batch.
func (b *Base) Swap(swap Swap) []statement.Bound {
	var set, condition statement.Terms
	after, version := swap.After, swap.Version
	condition.Equal(b.VersionColumn(), nil)
	if swap.Before != (gocql.UUID{}) {
		condition.Args[0] = cqltype.TimeUUID(swap.Before)
	}
	switch {
	case !swap.Live:
		condition.Null(layout.Pending.Name)
	case !swap.Finished:
		condition.Equal(layout.Done.Name, cqltype.TimeUUID(swap.Before))
	}
	for _, i := range b.becomes(after == nil) {
		name := b.Set.Columns[i].Name
		switch {
		case after == nil && b.stored:
			// bound, for the driver to see that the column is of the type by which keys were checked
			set.Equal(name, &cqltype.Value{Type: b.Set.Columns[i].CQL})
		case after == nil:
			set.Null(name)
		default:
			set.Equal(name, bound(&after.Values[i], swap.Before != (gocql.UUID{})))
		}
		if after != nil && after.added { // a row of before the declaration has no version either
			condition.Null(name)
		}
	}
	update := statement.Bound{Text: "UPDATE " + b.table()}
	recent, whole := Follow(swap.Before, version, swap.Live, after == nil)
	if after == nil && !swap.Live { // of an entity that does not exist
		return []statement.Bound{b.fence(version, recent).OnlyIf(condition)}
	}
	if swap.Keys != nil { // what the change removes from the query tables follows from them
		for _, i := range b.imaged() {
			condition.Equal(b.Set.Columns[i].Name, &b.before[i])
		}
	}
	set.Equal(layout.Pending.Name, Pending{version, swap.Keys}.value())
	if after == nil {
		return []statement.Bound{update.Set(set).Where(b.where()).OnlyIf(condition), b.fence(version, recent)}
	}
	set.Equal(b.VersionColumn(), cqltype.TimeUUID(version))
	if whole {
		set.Equal(layout.Recent.Name, slotsValue(recent))
	} else {
		set.Texts, set.Args = append(set.Texts, layout.Recent.Name+" = "+layout.Recent.Name+" + ?"),
			append(set.Args, slotsValue(recent))
	}
	return []statement.Bound{update.Set(set).Where(b.where()).OnlyIf(condition)}
}

// fence is the version of a deleted entity, for as long as it lives.
func (b *Base) fence(version gocql.UUID, recent []Slot) statement.Bound {
	var set statement.Terms
	set.Equal(b.VersionColumn(), cqltype.TimeUUID(version))
	if recent != nil {
		set.Equal(layout.Recent.Name, slotsValue(recent))
	}
	ttl := cqltype.Int(int64(FenceTTL / time.Second))
	return statement.Bound{Text: "UPDATE " + b.table() + " USING TTL ?", Args: []any{ttl}}.Set(set).Where(b.where())
}

// bound is what to bind for a value: null only where there may be something to remove.
func bound(v *cqltype.Value, replacing bool) any {
	if v.Data == nil && !replacing {
		return gocql.UnsetValue
	}
	return v
}

// Finish says that the query tables have a version of a live row. A later one is not undone, whatever comes first.
func (b *Base) Finish(version gocql.UUID) statement.Bound {
	var set statement.Terms
	set.Equal(layout.Done.Name, cqltype.TimeUUID(version))
	return b.at(version, "UPDATE "+b.table()+" USING TIMESTAMP ?").Set(set).Where(b.where())
}

// Forget removes what a row that is not live keeps of earlier versions than this one. Drop removes what is pending of
// it, and nothing later.
func (b *Base) Forget(version gocql.UUID) statement.Bound {
	return b.at(version, "DELETE "+layout.Done.Name+" FROM "+b.table()+" USING TIMESTAMP ?").Where(b.where())
}

// Drop is the transaction that removes what is pending, if it is still this.
func (b *Base) Drop(p Pending) statement.Bound {
	var set, condition statement.Terms
	set.Null(layout.Pending.Name)
	condition.Equal(layout.Pending.Name, p.value())
	return statement.Bound{Text: "UPDATE " + b.table()}.Set(set).Where(b.where()).OnlyIf(condition)
}

// at begins a statement at the time of a version.
func (b *Base) at(version gocql.UUID, text string) statement.Bound {
	return statement.Bound{Text: text, Args: []any{cqltype.BigInt(version.Time().UnixMicro())}}
}

// QueryTableMutations renders what row is into the query tables, at the time of version: its rows, and a Remove for
// every one of keys that is not its own.
func (b *Base) QueryTableMutations(row Row, version gocql.UUID, keys Keys) ([]statement.Mutation, error) {
	s := b.Set
	if b.stored {
		return nil, errStored
	}
	before, err := b.decodeKeys(keys)
	if err != nil {
		return nil, err
	}
	at := version.Time().UnixMicro()
	r := Renderer{
		Set: s, Kind: Update, Timestamp: at, version: version, Keyspace: b.physical, Before: before, At: cqltype.BigInt(at),
		replacing: before != nil,
	}
	if row.Present {
		r.After = slices.Clone(row.Values)
		r.After[s.Version] = *cqltype.TimeUUID(version)
		if err := DeriveRead(s, r.After); err != nil {
			return nil, err
		}
	}
	if r.After == nil && r.Before == nil {
		return nil, nil
	}
	for _, t := range s.Tables[1:] {
		if t.Rotation != nil && r.row()[t.Rotation.Clock].Data == nil {
			continue // without the time the row is in none of the tables
		}
		if err := r.checkRotated(t, r.row()); err != nil {
			return nil, err
		}
		if err := checkKey(s, t, r.After); err != nil {
			return nil, err
		}
		r.table(t)
	}
	return r.Out, nil
}

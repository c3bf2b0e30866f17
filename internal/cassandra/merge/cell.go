package merge

import (
	"bytes"
	"math"
)

// NoTimestamp is below every timestamp a write can have (LivenessInfo.NO_TIMESTAMP).
const NoTimestamp = math.MinInt64

// Cell is what a write leaves in one column of a row.
type Cell struct {
	Timestamp int64 // microseconds
	// Value is nil in a tombstone; an empty value is not nil.
	Value []byte
	// Expires is the second in which the cell is no longer there, Cassandra's localDeletionTime of a cell with TTL; 0
	// is never. That of a tombstone matters only for purging and is not modelled.
	Expires int64
}

// nothing is a column that was never written: every write supersedes it.
var nothing = Cell{Timestamp: NoTimestamp}

func (c Cell) tombstone() bool { return c.Value == nil }
func (c Cell) expiring() bool  { return c.Value != nil && c.Expires != 0 }

// Live says whether a read in the second now finds a value (Cell.isLive).
func (c Cell) Live(now int64) bool { return c.Value != nil && (c.Expires == 0 || now < c.Expires) }

// Resolve gives the cell that remains of two of one column. It is Cells.resolveRegular:
//
//  1. the larger timestamp wins;
//  2. at a tie what ends or has ended, a tombstone or an expiring cell, wins against a plain value (CASSANDRA-14592:
//     the expiring one becomes a tombstone, and the outcome must not depend on when the two meet);
//  3. a tombstone wins against an expiring cell;
//  4. of two expiring cells the one that ends later wins;
//  5. the larger value wins, compared as unsigned bytes: -1 wins against 1.
//
// The last rule works cell by cell, so a row that two writers wrote at one timestamp is a mixture of both.
func Resolve(left, right Cell) Cell {
	if left.Timestamp != right.Timestamp {
		return either(left.Timestamp > right.Timestamp, left, right)
	}
	if l, r := left.tombstone() || left.expiring(), right.tombstone() || right.expiring(); l != r {
		return either(l, left, right)
	}
	if l, r := left.tombstone(), right.tombstone(); l != r {
		return either(l, left, right)
	}
	if left.expiring() && left.Expires != right.Expires {
		return either(left.Expires > right.Expires, left, right)
	}
	return either(bytes.Compare(left.Value, right.Value) >= 0, left, right)
}

func either(first bool, left, right Cell) Cell {
	if first {
		return left
	}
	return right
}

// Liveness is the row marker that an INSERT leaves and an UPDATE does not: with it the row is there even if all its
// cells are null.
type Liveness struct {
	Timestamp int64 // microseconds
	Expires   int64 // as of a [Cell]
}

// Supersedes says whether the marker wins against the other. It is LivenessInfo.supersedes: the larger timestamp, at a
// tie the one that expires, of two that expire the later one. A marker without TTL never has that chance at a tie, the
// same rule as for cells.
func (l Liveness) Supersedes(other Liveness) bool {
	if l.Timestamp != other.Timestamp {
		return l.Timestamp > other.Timestamp
	}
	if (l.Expires != 0) != (other.Expires != 0) {
		return l.Expires != 0
	}
	return l.Expires > other.Expires
}

// Live says whether a read in the second now finds the marker.
func (l Liveness) Live(now int64) bool {
	return l.Timestamp != NoTimestamp && (l.Expires == 0 || now < l.Expires)
}

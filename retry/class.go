package retry

import "fmt"

// Class says what is known about a failed attempt, or about all attempts of a failed write.
type Class uint8

const (
	// Unknown is the zero value: the write may have been applied, in whole or in part, and may still be applied later.
	Unknown Class = iota

	// Safe means surely not applied; trying again may help.
	Safe

	// Permanent means surely not applied; trying the same again cannot help.
	Permanent

	// Pending means that the batchlog has stored the batch: the server is expected to replay it within seconds, but
	// that is not certain (a stopped node keeps its batches until it is restarted; a batch older than the smallest
	// gc_grace_seconds of its tables is dropped).
	Pending

	// Decided means that a lightweight transaction is decided and applied; only the round that makes it visible to all
	// reads timed out. A read at SERIAL sees it.
	Decided
)

// String returns the class in lower case, such as "unknown".
func (c Class) String() string {
	switch c {
	case Unknown:
		return "unknown"
	case Safe:
		return "safe"
	case Permanent:
		return "permanent"
	case Pending:
		return "pending"
	case Decided:
		return "decided"
	default:
		return fmt.Sprintf("Class(%d)", uint8(c))
	}
}

// NotApplied reports whether the write is surely not applied: [Safe] or [Permanent].
func (c Class) NotApplied() bool { return c == Safe || c == Permanent }

// then is what is known after an attempt of class c was followed by one of class next. It is sticky: knowledge that
// something may have happened is never lost. Decided is above Pending, which is above Unknown because the batchlog's
// promise covers the whole write, whatever another attempt did; the clean classes are below, and of two the later
// counts.
func (c Class) then(next Class) Class {
	switch {
	case c == Decided || next == Decided:
		return Decided
	case c == Pending || next == Pending:
		return Pending
	case c.NotApplied() && next.NotApplied():
		return next
	default:
		return Unknown
	}
}

// and is what is known if an attempt failed with two errors at once, whose relation is not known: what both
// agree on, and Unknown otherwise.
func (c Class) and(other Class) Class {
	switch {
	case c == other:
		return c
	case c.NotApplied() && other.NotApplied():
		return Permanent
	default:
		return Unknown
	}
}

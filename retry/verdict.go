package retry

// Verdict is what [Classify] says about one failed attempt.
type Verdict struct {
	// Outcome is what is known about the attempt.
	Outcome Outcome

	// Retry reports whether the same write may be sent again. It is false if a repeat could do harm: a counter or a
	// lightweight transaction that may have been applied. It is also false if a repeat cannot help: a syntax error, a
	// context that ended.
	Retry bool

	// Final reports that the server rejects the write until the value, a limit of the server, the schema or a permission
	// changes. A rejection that may be temporary is not Final.
	Final bool

	// Once limits a Retry to one more attempt, whatever its outcome. It is set for WRITE_FAILURE, where a replica threw
	// and most often throws again, and for Pending, where the server finishes the write by itself.
	Once bool

	// Batchlog reports that the attempt failed at the batchlog and the mutations have not been sent; alone they may still
	// succeed. After WRITE_TIMEOUT or WRITE_FAILURE of type BATCH_LOG the outcome is Unknown, as one of the batchlog's
	// nodes may have stored the batch. After UNAVAILABLE of a logged batch for want of batchlog nodes it is NotApplied.
	//
	// Cassandra reports missing batchlog nodes as UNAVAILABLE with consistency TWO, in version 3 ONE, and no node alive.
	// It reports a batch written at ONE or TWO whose replicas are down in the same way.
	Batchlog bool

	// Reason is a short, stable name of the error, of low cardinality, fit for a metric: "write_timeout.batch_log",
	// "unavailable", "overloaded", "connection_closed", "attempt_timeout", "canceled". It holds neither values nor the
	// text of the error. Errors about which nothing is known have "unclassified".
	Reason string
}

// ReasonOverloaded is the Reason of OVERLOADED, for a caller that knows whether the table has a materialized view or a
// trigger. With one, even a single statement may have been applied (see [Partition]).
const ReasonOverloaded = "overloaded"

// safe is the verdict of an attempt that was surely not applied and may be repeated, whatever the kind.
func safe(reason string) Verdict { return Verdict{Outcome: NotApplied, Retry: true, Reason: reason} }

// permanent is the verdict of an attempt that was surely not applied and need not be repeated.
func permanent(reason string) Verdict { return Verdict{Outcome: NotApplied, Reason: reason} }

// unknown is the verdict of an attempt that may have been applied: only an idempotent write may be repeated.
func unknown(kind Kind, reason string) Verdict {
	return Verdict{Retry: kind.Idempotent(), Reason: reason}
}

// unknownFinal is the verdict of an attempt that may have been applied and is of no use to repeat.
func unknownFinal(reason string) Verdict { return Verdict{Reason: reason} }

// and joins the verdicts of two errors of one attempt, whose relation is not known.
func (v Verdict) and(other Verdict) Verdict {
	joined := Verdict{
		Outcome:  v.Outcome.And(other.Outcome),
		Retry:    v.Retry && other.Retry,
		Final:    v.Final && other.Final,
		Once:     v.Once || other.Once,
		Batchlog: v.Batchlog || other.Batchlog,
		Reason:   v.Reason,
	}
	if v.Reason != other.Reason {
		joined.Reason = "several"
	}
	return joined
}

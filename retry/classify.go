package retry

const reasonUnclassified = "unclassified"

// Classify says what is known after an attempt to write failed with err. It assumes that the attempt was sent once:
// without speculative execution, and with a gocql RetryPolicy that never retries. For nil it returns the zero Verdict.
//
// A wrapped error is classified as what it wraps. An error that wraps several is NotApplied only if each one is, and
// Unknown if they disagree. So do not wrap your own errors alongside the one of gocql. Errors of writer and reader may
// hold two: use their outcome instead.
//
// An error of a context is Unknown and not to be retried: gocql returns it before and after the request was sent.
// Writer and reader know their own limit of one attempt, and retry after it.
func Classify(err error, kind Kind) Verdict {
	if err == nil {
		return Verdict{}
	}
	// Neither errors.Is nor errors.As, for two reasons: they take the first match of a joined error, and an
	// ErrNoConnections alongside a lost connection is not "not applied"; and they ask the Is methods of errors, where the
	// timeouts of package net claim to be context.DeadlineExceeded.
	if v, ok := classifyServer(err, kind); ok {
		return v
	}
	if v, ok := classifyDriver(err, kind); ok {
		return v
	}
	switch wrapper := err.(type) { //nolint:errorlint // walks the tree of errors itself, see above
	case interface{ Unwrap() error }:
		return classifyAll([]error{wrapper.Unwrap()}, kind)
	case interface{ Unwrap() []error }:
		return classifyAll(wrapper.Unwrap(), kind)
	}
	return unknown(kind, reasonUnclassified)
}

// classifyAll joins the verdicts of the errors that one attempt ended with.
func classifyAll(errs []error, kind Kind) Verdict {
	joined, found := unknown(kind, reasonUnclassified), false
	for _, err := range errs {
		switch {
		case err == nil:
		case !found:
			joined, found = Classify(err, kind), true
		default:
			joined = joined.and(Classify(err, kind))
		}
	}
	return joined
}

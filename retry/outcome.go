package retry

// Outcome is what is known after [Retrier.Do].
type Outcome struct {
	// Attempts is the number of attempts that were started.
	Attempts int

	// Class is what is known about the write after all attempts, if it failed. It is sticky: once an attempt was
	// Unknown or Pending, no later clean failure makes it NotApplied. It has no meaning if Do returned nil.
	Class Class

	// Last is the verdict on the last attempt, or the reason why there was none. It is zero if Do returned nil.
	Last Verdict

	// Batchlog reports that some attempt failed at the batchlog, even if a later one succeeded.
	Batchlog bool

	// Refused reports that another attempt was due but the budget was spent.
	Refused bool
}

package retry

import "time"

// Event tells the observer of [Retrier.Do] that an attempt failed and that another one follows after a wait.
type Event struct {
	// Attempt is the number of the attempt that failed, from 1.
	Attempt int

	// Err is what it failed with. Errors of gocql and of the server may quote the statement and bound values, so it
	// belongs in no span or log without thought; Verdict.Reason does.
	Err error

	// Verdict is how Err was classified.
	Verdict Verdict

	// Wait is the time until the next attempt.
	Wait time.Duration
}

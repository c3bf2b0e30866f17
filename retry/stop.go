package retry

// Stop marks the error of an attempt as the last one: [Retrier.Do] does not try again, whatever the verdict. What is
// known of the write is not touched. It is for callers that have another way to go on. A nil err stays nil.
func Stop(err error) error {
	if err == nil {
		return nil
	}
	return &stopError{err}
}

type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }
func (e *stopError) Unwrap() error { return e.err }

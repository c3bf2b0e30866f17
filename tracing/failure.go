package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// Outcomes alongside those of package writer, see the package documentation.
const (
	outcomeRejected = "rejected"
	outcomeExpired  = "expired"
	outcomePartial  = "partial"
	outcomeDeclined = "declined"
)

// outcomeConflict is the reason of a request that met a conflict, too.
var outcomeConflict = writer.Conflict.String()

// expected says whether a service has to expect an outcome when all is well: nothing is broken, and the caller decides
// what to do.
func expected(outcome string) bool {
	switch outcome {
	case outcomeConflict, writer.Taken.String(), writer.NotFound.String(), outcomeDeclined:
		return true
	}
	return false
}

// Error types of a write that the library rejected.
const (
	typeInvalid  = "denorm.invalid"
	typeExpired  = "denorm.expired"
	typeTooLarge = "denorm.too_large"
	typeConflict = "denorm.conflict"
	typeSeveral  = "several" // as package retry has it
)

// writeOutcome is what is known of a logical write that ended with err.
func writeOutcome(err error) string {
	outcome := writer.OutcomeOf(err)
	switch {
	case outcome == writer.Invalid:
		return outcomeRejected
	case outcome == writer.Unknown && errors.Is(err, writer.ErrExpired):
		return outcomeExpired
	case outcome == writer.Unknown && errors.Is(err, writer.ErrPartial) && !errors.Is(err, writer.ErrUnknown):
		return outcomePartial
	}
	return outcome.String()
}

// operationOutcome is what is known of an operation that has ended, but for a read, and its error.type; reason is that
// of its requests.
func operationOutcome(of session.Operation, data session.OperationEnd, reason string) (outcome, errorType string) {
	switch of {
	case session.OperationModify:
		outcome = writeOutcome(data.Err)
		if data.Declined {
			outcome = outcomeDeclined
		}
		if !expected(outcome) || outcome == outcomeConflict { // that conflict was not resolved in time
			errorType = writeErrorType(data.Err, "")
		}
	case session.OperationRead:
		errorType = readErrorType(data.Err, reason)
		if errors.Is(data.Err, reader.ErrInvalid) {
			errorType = typeInvalid
		}
	case session.OperationWrite:
		if outcome = writeOutcome(data.Err); !expected(outcome) {
			errorType = writeErrorType(data.Err, reason)
		}
	}
	return outcome, errorType
}

// classOf is the text of what is known of an attempt that is followed by another.
func classOf(o retry.Outcome) string {
	if o == retry.NotApplied {
		return "safe"
	}
	return o.String()
}

// requestOutcome is what is known of a request that has ended, but for one of a read. Of a transaction whose condition
// did not hold it is a conflict.
func requestOutcome(data session.RequestEnd, read bool) string {
	switch {
	case read:
		return ""
	case data.Reason == outcomeConflict && data.Outcome == writer.NotApplied:
		return outcomeConflict
	}
	return data.Outcome.String()
}

// writeErrorType is the error.type of a write that ended with err. reason is that of its requests, if any failed.
func writeErrorType(err error, reason string) string {
	if err == nil {
		return ""
	}
	failed := asError(err)
	switch {
	case failed == nil:
	case failed.Is(writer.ErrExpired):
		return typeExpired
	case failed.Is(writer.ErrInvalid):
		return typeInvalid
	case errors.Is(err, writer.ErrTooLarge):
		return typeTooLarge
	case errors.Is(err, writer.ErrConflict):
		return typeConflict
	}
	if reason == "" && failed != nil { // no request was tried: the writer could not find out what it had to know
		if i := slices.IndexFunc(failed.Tables, func(t writer.TableResult) bool { return t.Err != nil }); i >= 0 {
			reason = retry.Classify(failed.Tables[i].Err, retry.Partition).Reason
		}
	}
	return cmp.Or(reason, other)
}

// readErrorType is the error.type of a read that ended with err. reason is that of its requests, if any failed.
func readErrorType(err error, reason string) string {
	if reason == "" { // no request was tried, or the tracer was not told of it
		reason = retry.Classify(last(err), retry.Partition).Reason
	}
	return requestErrorType(err, reason)
}

// last is the last error of a read that was given up, without why no attempt followed: as Classify takes them together,
// the two have no reason in common. It is err if err does not hold both.
func last(err error) error {
	var ended interface{ Last() error }
	for errors.As(err, &ended) {
		err = ended.Last()
	}
	return err
}

// requestErrorType is the error.type of a request or attempt.
func requestErrorType(err error, reason string) string {
	if err == nil {
		return ""
	}
	return cmp.Or(reason, other)
}

// asError is the library's error in err; nil if there is none.
func asError(err error) *writer.Error {
	var failed *writer.Error
	errors.As(err, &failed)
	return failed
}

// openTables are the tables that are not known to have the write.
func openTables(err error) []string {
	failed := asError(err)
	if failed == nil {
		return nil
	}
	open := slices.DeleteFunc(slices.Clone(failed.Tables), func(t writer.TableResult) bool {
		return t.Outcome == writer.Applied
	})
	return each.Of(open, func(t writer.TableResult) string { return t.Table })
}

// statusCode is the error code that the server answered with; empty if the error is not from a server, or if it joins
// answers that differ, as those of a hedged attempt may.
func statusCode(err error) string {
	codes := each.Once(answerCodes(err))
	if len(codes) != 1 {
		return ""
	}
	return fmt.Sprintf("0x%04X", codes[0])
}

// answerCodes are those in the whole tree of err, where errors.As would take the first.
func answerCodes(err error) (codes []int) {
	if e, ok := driver.AsRequestError(err); ok {
		return []int{e.Code()}
	}
	switch e := err.(type) { //nolint:errorlint // walks the tree of errors itself
	case interface{ Unwrap() error }:
		return answerCodes(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			codes = append(codes, answerCodes(one)...)
		}
	}
	return codes
}

// contextType is the error type of the end of a call's context, of which the write has the error err. An attempt's own
// limit is a deadline too, so only a cancellation tells.
func contextType(err error) string {
	ended := context.DeadlineExceeded
	canceled := func(t writer.TableResult) bool { return errors.Is(t.Err, context.Canceled) }
	if failed := asError(err); failed != nil && slices.ContainsFunc(failed.Tables, canceled) {
		ended = context.Canceled
	}
	return retry.Classify(ended, retry.Partition).Reason
}

package retry

import (
	"context"
	"io"
	"net"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

// classifyDriver classifies the errors that gocql itself returns for a write, and those of network and context that it
// passes on. Only values and types that gocql 1.7.0 returns before it sends, and nowhere else, are on the list of
// clean ones. Not on it, although some of their causes come before sending:
//
//   - gocql.UnmarshalError: Marshal returns it for an UnsetValue in a tuple or user-defined type (marshal.go), but so
//     does reading the answer of a lightweight transaction.
//   - gocql.ErrorUDTUnavailable: from Marshal and from Unmarshal.
//   - gocql.ErrFrameTooBig: a request (frame.go, finish) or an answer (readFrame) above the limit.
//   - gocql.ErrNotFound: a conditional query whose answer has no rows, as after a statement without IF (session.go,
//     checkErrAndNotFound): it has been applied.
//   - what a Marshaler or a binding function of the caller returned, and the plain errors of gocql such as
//     "gocql: expected 3 values send got 2" (conn.go).
func classifyDriver(err error, kind Kind) (Verdict, bool) {
	switch err {
	// query_executor.go, do: no host was tried, as there is neither retry nor speculation.
	case gocql.ErrNoConnections: //nolint:errorlint // one error of the tree that Classify walks
		return safe("no_connections"), true
	case gocql.ErrNoStreams: // conn.go, exec
		return safe("no_streams"), true
	case gocql.ErrSessionClosed: // session.go, executeQuery and executeBatch
		return permanent("session_closed"), true
	case gocql.ErrTooManyStmts: // session.go, executeBatch
		return permanent("too_many_statements"), true
	case gocql.ErrUnsupported: // conn.go, executeBatch: no batches in protocol 1
		return permanent("unsupported"), true
	case gocql.ErrUseStmt: // session.go, Iter
		return permanent("use_statement"), true

	case context.Canceled:
		return unknownFinal("canceled"), true
	case context.DeadlineExceeded:
		return unknownFinal("deadline_exceeded"), true

	case gocql.ErrTimeoutNoResponse:
		return unknown(kind, "no_response"), true
	case gocql.ErrConnectionClosed:
		return unknown(kind, "connection_closed"), true
	case gocql.ErrTooManyTimeouts:
		return unknown(kind, "too_many_timeouts"), true
	case io.EOF, io.ErrUnexpectedEOF:
		return unknown(kind, "eof"), true
	case gocql.ErrFrameTooBig:
		return unknownFinal("frame_too_big"), true
	case gocql.ErrUnknownRetryType:
		return unknownFinal("unknown_retry_type"), true
	}
	if driver.NotSent(err) {
		return safe("no_connections"), true
	}
	switch err.(type) { //nolint:errorlint // one error of the tree that Classify walks
	case gocql.MarshalError, driver.MarshalError:
		return permanent("marshal_error"), true
	case gocql.ErrProtocol: // an answer that gocql does not understand
		return unknownFinal("unexpected_answer"), true
	case net.Error:
		return unknown(kind, "network"), true
	}
	return Verdict{}, false
}

package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
	"github.com/denorm-go/denorm/retry"
)

// The verdicts of the golden table, as render writes them.
const (
	safe      = "safe retry"
	safeLog   = "safe retry batchlog"
	permanent = "permanent"
	again     = "unknown retry"
	againLog  = "unknown retry batchlog"
	once      = "unknown retry once"
	onceLog   = "unknown retry once batchlog"
	unknown   = "unknown"
	unknowLog = "unknown batchlog"
	pending   = "pending retry once"
	decided   = "decided"
)

func render(v retry.Verdict) string {
	s := v.Outcome.String()
	switch {
	case v.Outcome == retry.NotApplied && !v.Retry:
		s = "permanent"
	case v.Outcome == retry.NotApplied:
		s = "safe"
	case v.Outcome == retry.Applied:
		s = "decided"
	}
	if v.Retry {
		s += " retry"
	}
	if v.Once {
		s += " once"
	}
	if v.Batchlog {
		s += " batchlog"
	}
	return s
}

var kinds = [...]retry.Kind{
	retry.Partition, retry.LoggedBatch, retry.UnloggedBatch, retry.Conditional, retry.Counter,
}

// requestError is a server's error by its code, as other drivers, proxies and fakes may make it.
type requestError int

func (e requestError) Code() int       { return int(e) }
func (e requestError) Message() string { return "text of the server" }
func (e requestError) Error() string   { return e.Message() }

// goldenRow is one error and the verdict for each of kinds.
type goldenRow struct {
	name   string
	err    error  // as built by hand; nil if it can only be decoded
	frame  []byte // the server's error frame, if it is a server's error
	reason string
	want   [len(kinds)]string
}

// everyKind is the row of errors that mean the same for all kinds; idempotent of those that may be repeated only if
// the write is idempotent.
func everyKind(v string) [len(kinds)]string { return [...]string{v, v, v, v, v} }

var idempotent = [...]string{again, again, again, unknown, unknown}

func writeTimeout(writeType string) (error, []byte) {
	return &gocql.RequestErrWriteTimeout{Consistency: gocql.LocalQuorum, BlockFor: 2, WriteType: writeType},
		errorBody(gocql.ErrCodeWriteTimeout, gocql.LocalQuorum, 0, 2, writeType)
}

func writeFailure(writeType string) (error, []byte) {
	return &gocql.RequestErrWriteFailure{Consistency: gocql.LocalQuorum, BlockFor: 2, WriteType: writeType},
		errorBody(gocql.ErrCodeWriteFailure, gocql.LocalQuorum, 1, 2, 1, writeType)
}

func unavailable(cl gocql.Consistency, required, alive int) (error, []byte) {
	return &gocql.RequestErrUnavailable{Consistency: cl, Required: required, Alive: alive},
		errorBody(gocql.ErrCodeUnavailable, cl, required, alive)
}

func coded(code int) (error, []byte) { return requestError(code), errorBody(code) }

// golden is every error that a write can end with, times every kind.
func golden() []goldenRow {
	var rows []goldenRow
	add := func(name, reason string, want [len(kinds)]string) func(error, []byte) {
		return func(err error, frame []byte) {
			rows = append(rows, goldenRow{name: name, err: err, frame: frame, reason: reason, want: want})
		}
	}
	local := func(name, reason string, err error, want [len(kinds)]string) { add(name, reason, want)(err, nil) }

	// The order of the verdicts: Partition, LoggedBatch, UnloggedBatch, Conditional, Counter.
	add("write timeout SIMPLE", "write_timeout.simple",
		[...]string{again, again, again, decided, unknown})(writeTimeout("SIMPLE"))
	add("write timeout BATCH", "write_timeout.batch",
		[...]string{again, pending, again, unknown, unknown})(writeTimeout("BATCH"))
	add("write timeout BATCH_LOG", "write_timeout.batch_log",
		[...]string{againLog, againLog, againLog, unknowLog, unknowLog})(writeTimeout("BATCH_LOG"))
	add("write timeout UNLOGGED_BATCH", "write_timeout.unlogged_batch", idempotent)(writeTimeout("UNLOGGED_BATCH"))
	add("write timeout COUNTER", "write_timeout.counter", everyKind(unknown))(writeTimeout("COUNTER"))
	add("write timeout CAS", "write_timeout.cas", everyKind(unknown))(writeTimeout("CAS"))
	add("write timeout VIEW", "write_timeout.view", idempotent)(writeTimeout("VIEW"))
	add("write timeout CDC", "write_timeout.cdc", idempotent)(writeTimeout("CDC"))
	add("write timeout of a type to come", "write_timeout.other", idempotent)(writeTimeout("LATER"))

	onceIfIdempotent := [...]string{once, once, once, unknown, unknown}
	add("write failure SIMPLE", "write_failure.simple", onceIfIdempotent)(writeFailure("SIMPLE"))
	add("write failure BATCH", "write_failure.batch", onceIfIdempotent)(writeFailure("BATCH"))
	add("write failure BATCH_LOG", "write_failure.batch_log",
		[...]string{onceLog, onceLog, onceLog, unknowLog, unknowLog})(writeFailure("BATCH_LOG"))
	add("write failure UNLOGGED_BATCH", "write_failure.unlogged_batch", onceIfIdempotent)(
		writeFailure("UNLOGGED_BATCH"))
	add("write failure COUNTER", "write_failure.counter", everyKind(unknown))(writeFailure("COUNTER"))
	add("write failure CAS", "write_failure.cas", everyKind(unknown))(writeFailure("CAS"))
	add("write failure VIEW", "write_failure.view", onceIfIdempotent)(writeFailure("VIEW"))
	add("write failure CDC", "write_failure.cdc", onceIfIdempotent)(writeFailure("CDC"))

	add("unavailable", "unavailable",
		[...]string{safe, safe, again, unknown, safe})(unavailable(gocql.LocalQuorum, 2, 1))
	add("unavailable, no replica", "unavailable",
		[...]string{safe, safe, again, unknown, safe})(unavailable(gocql.LocalQuorum, 2, 0))
	add("unavailable at TWO, one alive", "unavailable",
		[...]string{safe, safe, again, unknown, safe})(unavailable(gocql.Two, 2, 1))
	for _, level := range []gocql.SerialConsistency{gocql.Serial, gocql.LocalSerial} { // of a round, before its proposal
		add("unavailable at "+level.String(), "unavailable",
			[...]string{safe, safe, again, safe, safe})(unavailable(gocql.Consistency(level), 2, 1))
	}
	noBatchlog := [...]string{safe, safeLog, again, unknown, safe}
	add("no batchlog nodes, Cassandra 3", "unavailable", noBatchlog)(unavailable(gocql.One, 1, 0))
	add("no batchlog nodes, Cassandra 4 and 5", "unavailable", noBatchlog)(unavailable(gocql.Two, 2, 0))

	add("overloaded", "overloaded", [...]string{safe, again, again, unknown, unknown})(coded(gocql.ErrCodeOverloaded))
	add("is bootstrapping", "bootstrapping", everyKind(safe))(coded(gocql.ErrCodeBootstrapping))
	add("truncate error", "truncate_error", everyKind(unknown))(coded(gocql.ErrCodeTruncate))
	add("server error", "server_error", idempotent)(coded(gocql.ErrCodeServer))
	add("protocol error", "protocol_error", everyKind(permanent))(coded(gocql.ErrCodeProtocol))
	add("bad credentials", "bad_credentials", everyKind(permanent))(coded(gocql.ErrCodeCredentials))
	add("unauthorized", "unauthorized", everyKind(permanent))(coded(gocql.ErrCodeUnauthorized))
	add("syntax error", "syntax_error", everyKind(permanent))(coded(gocql.ErrCodeSyntax))
	add("invalid", "invalid", everyKind(permanent))(coded(gocql.ErrCodeInvalid))
	add("config error", "config_error", everyKind(permanent))(coded(gocql.ErrCodeConfig))
	add("function failure", "function_failure", everyKind(permanent))(
		&gocql.RequestErrFunctionFailure{},
		errorBody(gocql.ErrCodeFunctionFailure, "ks", "f", []string{"int"}))
	add("already exists", "already_exists", everyKind(permanent))(
		&gocql.RequestErrAlreadyExists{}, errorBody(gocql.ErrCodeAlreadyExists, "ks", "t"))
	add("unprepared", "unprepared", everyKind(safe))(
		&gocql.RequestErrUnprepared{}, errorBody(gocql.ErrCodeUnprepared, "id"))
	add("CDC write failure", "cdc_write_failure", idempotent)(
		&gocql.RequestErrCDCWriteFailure{}, errorBody(gocql.ErrCodeCDCWriteFailure))
	add("CAS write unknown", "cas_write_unknown", everyKind(unknown))(
		&gocql.RequestErrCASWriteUnknown{}, errorBody(gocql.ErrCodeCASWriteUnknown, gocql.Quorum, 1, 2))
	add("read timeout", "read_timeout", idempotent)(
		&gocql.RequestErrReadTimeout{}, errorBody(gocql.ErrCodeReadTimeout, gocql.Quorum, 1, 2, byte(0)))
	add("read failure", "read_failure", idempotent)(
		&gocql.RequestErrReadFailure{}, errorBody(gocql.ErrCodeReadFailure, gocql.Quorum, 1, 2, 1, byte(0)))
	add("unknown error code", "unclassified", idempotent)(nil, errorBody(0x4321))
	add("truncated error body", "unclassified", idempotent)(
		nil, errorBody(gocql.ErrCodeUnavailable, gocql.LocalQuorum))

	// By code alone, from something that is not gocql's struct.
	local("code unavailable", "unavailable", requestError(gocql.ErrCodeUnavailable),
		[...]string{safe, safe, again, unknown, safe})
	local("code write timeout", "write_timeout.other", requestError(gocql.ErrCodeWriteTimeout), idempotent)
	local("code write failure", "write_failure.other", requestError(gocql.ErrCodeWriteFailure), onceIfIdempotent)
	local("code to come", "other_code", requestError(0x4321), idempotent)
	local("code beside a listed one", "other_code", requestError(gocql.ErrCodeInvalid+1), idempotent)

	local("ErrTimeoutNoResponse", "no_response", gocql.ErrTimeoutNoResponse, idempotent)
	local("ErrConnectionClosed", "connection_closed", gocql.ErrConnectionClosed, idempotent)
	local("ErrTooManyTimeouts", "too_many_timeouts", gocql.ErrTooManyTimeouts, idempotent)
	local("io.EOF", "eof", io.EOF, idempotent)
	local("io.ErrUnexpectedEOF", "eof", io.ErrUnexpectedEOF, idempotent)
	local("net.OpError write", "network",
		&net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.ECONNRESET)}, idempotent)
	local("net.OpError read", "network", &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, idempotent)
	local("net.ErrClosed in an OpError", "network", &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed},
		idempotent)
	local("heartbeat failed", "unclassified", errors.New("gocql: heartbeat failed"), idempotent)
	local("frame body cut", "unclassified",
		errors.New("unable to read frame body: read 3/64 bytes: unexpected EOF"), idempotent)
	local("wrong number of values", "unclassified", errors.New("gocql: expected 3 values send got 2"), idempotent)
	local("plain error", "unclassified", errors.New("something"), idempotent)
	local("ErrProtocol", "unexpected_answer", gocql.NewErrProtocol("unexpected"), everyKind(unknown))
	local("ErrFrameTooBig", "frame_too_big", gocql.ErrFrameTooBig, everyKind(unknown))
	local("ErrUnknownRetryType", "unknown_retry_type", gocql.ErrUnknownRetryType, everyKind(unknown))
	local("ErrNotFound", "unclassified", gocql.ErrNotFound, idempotent)
	local("ErrUnavailable of old", "unclassified", gocql.ErrUnavailable, idempotent)
	local("ErrorUDTUnavailable", "unclassified", gocql.ErrorUDTUnavailable, idempotent)
	local("UnmarshalError", "unclassified", drivertest.UnmarshalError(), idempotent)
	local("gocql.Error", "unclassified", gocql.Error{Code: gocql.ErrCodeInvalid}, idempotent)

	local("ErrNoConnections", "no_connections", gocql.ErrNoConnections, everyKind(safe))
	for _, text := range []string{
		"gocql: host is nil or down", "gocql: host does not have a pool",
		"gocql: host pool does not have connections",
	} {
		local(text, "no_connections", errors.New(text), everyKind(safe)) // of the fork of ScyllaDB
	}
	local("ErrNoStreams", "no_streams", gocql.ErrNoStreams, everyKind(safe))
	local("ErrSessionClosed", "session_closed", gocql.ErrSessionClosed, everyKind(permanent))
	local("ErrTooManyStmts", "too_many_statements", gocql.ErrTooManyStmts, everyKind(permanent))
	local("ErrUnsupported", "unsupported", gocql.ErrUnsupported, everyKind(permanent))
	local("ErrUseStmt", "use_statement", gocql.ErrUseStmt, everyKind(permanent))
	local("MarshalError", "marshal_error", drivertest.MarshalError(), everyKind(permanent))

	local("context.Canceled", "canceled", context.Canceled, everyKind(unknown))
	local("context.DeadlineExceeded", "deadline_exceeded", context.DeadlineExceeded, everyKind(unknown))

	// Several errors at once.
	join := func(name, reason string, want [len(kinds)]string, errs ...error) {
		local(name, reason, errors.Join(errs...), want)
	}
	join("one joined", "no_connections", everyKind(safe), gocql.ErrNoConnections)
	join("clean twice", "no_connections", everyKind(safe), gocql.ErrNoConnections, gocql.ErrNoConnections)
	join("safe and permanent", "several", everyKind(permanent), gocql.ErrNoConnections, gocql.ErrSessionClosed)
	join("clean before unknown", "several", idempotent, gocql.ErrNoConnections, gocql.ErrConnectionClosed)
	join("unknown before clean", "several", idempotent, io.EOF, gocql.ErrNoStreams)
	join("permanent before unknown", "several", everyKind(unknown), drivertest.MarshalError(), io.EOF)
	join("clean and a context", "several", everyKind(unknown), gocql.ErrNoConnections, context.Canceled)
	join("pending and clean", "several", [...]string{again, once, again, unknown, unknown},
		&gocql.RequestErrWriteTimeout{WriteType: "BATCH"}, gocql.ErrNoConnections)
	join("decided and clean", "several", [...]string{again, again, again, unknown, unknown},
		&gocql.RequestErrWriteTimeout{WriteType: "SIMPLE"}, gocql.ErrNoConnections)
	local("two %w", "several", fmt.Errorf("%w: %w", errors.New("own"), gocql.ErrNoConnections), idempotent)
	local("joined deep inside", "several",
		fmt.Errorf("outer: %w", errors.Join(nil, fmt.Errorf("inner: %w", gocql.ErrNoConnections), io.EOF)), idempotent)
	local("several of nothing", "unclassified", hollow{}, idempotent)
	local("wrapper of nothing", "unclassified", hollowOne{}, idempotent)
	local("claims to be another", "unclassified", impostor{}, idempotent)
	return rows
}

type hollow struct{}

func (hollow) Error() string   { return "several of nothing" }
func (hollow) Unwrap() []error { return []error{nil} }

type hollowOne struct{}

func (hollowOne) Error() string { return "wrapper of nothing" }
func (hollowOne) Unwrap() error { return nil }

// impostor matches what it is not, as timeouts of package net match context.DeadlineExceeded.
type impostor struct{}

func (impostor) Error() string        { return "impostor" }
func (impostor) Is(target error) bool { return target == gocql.ErrNoConnections }

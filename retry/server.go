package retry

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

const reasonWriteTimeout = "write_timeout" // and the write type

// classifyServer classifies the errors that a coordinator answered with. gocql returns those with a body of their own
// as pointers to exported structs, the others as a value of a type that it does not export
// (gocql 1.7.0, frame.go, parseErrorFrame).
func classifyServer(err error, kind Kind) (Verdict, bool) {
	switch e := err.(type) { //nolint:errorlint // one error of the tree that Classify walks
	case *gocql.RequestErrWriteTimeout:
		return writeTimeout(e.WriteType, kind), true
	case *gocql.RequestErrWriteFailure:
		return writeFailure(e.WriteType, kind), true
	case *gocql.RequestErrUnavailable:
		return unavailable(e.Consistency, e.Alive, kind), true
	case *gocql.RequestErrCDCWriteFailure:
		return classifyCode(gocql.ErrCodeCDCWriteFailure, kind), true
	case *gocql.RequestErrCASWriteUnknown:
		return classifyCode(gocql.ErrCodeCASWriteUnknown, kind), true
	case *gocql.RequestErrAlreadyExists:
		return classifyCode(gocql.ErrCodeAlreadyExists, kind), true
	case *gocql.RequestErrFunctionFailure:
		return classifyCode(gocql.ErrCodeFunctionFailure, kind), true
	case *gocql.RequestErrUnprepared:
		return classifyCode(gocql.ErrCodeUnprepared, kind), true
	case *gocql.RequestErrReadTimeout:
		return classifyCode(gocql.ErrCodeReadTimeout, kind), true
	case *gocql.RequestErrReadFailure:
		return classifyCode(gocql.ErrCodeReadFailure, kind), true
	}
	if e, ok := driver.AsRequestError(err); ok {
		v := classifyCode(e.Code(), kind)
		v.Final = final(e.Code(), e.Message())
		return v, true
	}
	return Verdict{}, false
}

// final says whether the server would answer each repeat so. INVALID has no codes of its own, so its text decides, as
// Cassandra 4.1 to 6 write it. A missing table or column is not final: its creation may only be late.
func final(code int, text string) bool {
	switch code {
	case gocql.ErrCodeUnauthorized:
		return true
	case gocql.ErrCodeInvalid:
		if guardrail, ok := strings.CutPrefix(text, "Guardrail "); ok {
			name, _, _ := strings.Cut(guardrail, " ")
			return !passing[name]
		}
		return slices.ContainsFunc(lasting, func(part string) bool { return strings.Contains(text, part) })
	}
	return false
}

// passing are guardrails that stop a write for a while: disks get space, and a timestamp ahead of the clock becomes
// past.
var passing = map[string]bool{"local_data_disk_usage": true, "replica_disk_usage": true, "maximum_timestamp": true}

// lasting are parts of texts about a value, a key or a batch.
var lasting = []string{
	"Cannot index value of size",        // CREATE INDEX takes values of up to 64 KiB
	"cannot be indexed",                 // SAI
	"is longer than maximum of",         // a key of over 64 KiB
	"Batch too large",                   // batch_size_fail_threshold
	"does not satisfy value constraint", // CHECK of a column, in Cassandra 6
	" constraint as it is not ",
}

// writeTimeout classifies a WRITE_TIMEOUT by its write type. All are Unknown but two:
//
//   - BATCH, for a logged batch: the batchlog is stored on its nodes and replays the batch (StorageProxy,
//     mutateAtomically). Other kinds do not promise to be one batch, so for them it stays Unknown.
//   - SIMPLE, for a lightweight transaction: prepare and propose time out as CAS, only the commit of an accepted
//     proposal as SIMPLE (StorageProxy.commitPaxos; the commit of somebody else's unfinished round is reported as CAS,
//     CASSANDRA-8672). Paxos v2 reports all rounds as CAS.
//
// COUNTER and CAS are not retried even if the caller took the write for an idempotent one: the server knows better.
func writeTimeout(writeType string, kind Kind) Verdict {
	v := unknown(kind, reasonWriteTimeout+writeTypeSuffix(writeType))
	switch writeType {
	case "BATCH":
		if kind == LoggedBatch {
			v.Outcome, v.Once = Pending, true
		}
	case "BATCH_LOG":
		v.Batchlog = true
	case "SIMPLE":
		if kind == Conditional || kind == Swap {
			v.Outcome = Applied
		}
	case "COUNTER", "CAS":
		v.Retry = kind == Swap && writeType == "CAS"
	}
	return v
}

// writeFailure classifies a WRITE_FAILURE: a replica threw, others may have applied the write. For a lightweight
// transaction even type SIMPLE is Unknown: unlike a timeout, a failed commit of somebody else's unfinished round keeps
// this type (StorageProxy.beginAndRepairPaxos).
func writeFailure(writeType string, kind Kind) Verdict {
	v := unknown(kind, "write_failure"+writeTypeSuffix(writeType))
	v.Once = v.Retry
	switch writeType {
	case "BATCH_LOG":
		v.Batchlog = true
	case "COUNTER", "CAS":
		v.Retry, v.Once = kind == Swap && writeType == "CAS", false
	}
	return v
}

// writeTypeSuffix returns the write type as the end of a reason. Types that are not known share one, so that what a
// server sends cannot become a metric's label.
func writeTypeSuffix(writeType string) string {
	switch writeType {
	case "SIMPLE", "BATCH", "BATCH_LOG", "UNLOGGED_BATCH", "COUNTER", "CAS", "VIEW", "CDC":
		return "." + strings.ToLower(writeType)
	}
	return ".other"
}

// unavailable classifies UNAVAILABLE: clean where all checks of availability come before the first mutation. That is
// not so for an unlogged batch of several partitions (StorageProxy.mutate sends one mutation before it checks the
// next).
//
// A lightweight transaction names the level that was out of reach. SERIAL and LOCAL_SERIAL are checked at the start of
// a round alone, before its proposal, and a round begins again only if every replica has refused the one before
// (ReplicaPlans.forPaxos, StorageProxy.doPaxos; Paxos.begin, PaxosPropose.hasNoSideEffects of 4.1.10, 5.0.9 and
// 6.0-alpha2). Any other level may be the commit's, after the proposal was accepted (StorageProxy.commitPaxos). Accord
// does not answer so.
func unavailable(consistency gocql.Consistency, alive int, kind Kind) Verdict {
	switch kind {
	case LoggedBatch:
		v := safe("unavailable")
		if alive == 0 && (consistency == gocql.One || consistency == gocql.Two) {
			v.Batchlog, v.Reason = true, "unavailable.batch_log"
		}
		return v
	case Partition, Counter:
		return safe("unavailable")
	case Conditional, Swap:
		if consistency == gocql.Consistency(gocql.Serial) || consistency == gocql.Consistency(gocql.LocalSerial) {
			return safe("unavailable")
		}
	default:
	}
	return unknown(kind, "unavailable")
}

// overloaded classifies OVERLOADED: clean for a single partition, where the coordinator checks the hints in flight of
// all replicas before it sends to the first (since 3.11; Cassandra 3.0 checks between the messages). A logged batch is
// in the batchlog by then, an unlogged one has sent other partitions, the proposal of a lightweight transaction is
// accepted (StorageProxy.syncWriteBatchedMutations, mutate, commitPaxos). A counter is checked after its leader applied
// it, so it is not taken for clean either.
func overloaded(kind Kind) Verdict {
	if kind == Partition {
		return safe(ReasonOverloaded)
	}
	return unknown(kind, ReasonOverloaded)
}

// rejected are the error codes of requests that were rejected before they were executed, and of those with an end that
// is not known, but that it is of no use to repeat.
var rejected = map[int]Verdict{
	gocql.ErrCodeProtocol:      permanent("protocol_error"),
	gocql.ErrCodeCredentials:   permanent("bad_credentials"),
	gocql.ErrCodeSyntax:        permanent("syntax_error"),
	gocql.ErrCodeUnauthorized:  permanent("unauthorized"),
	gocql.ErrCodeInvalid:       permanent("invalid"), // "Batch too large" too
	gocql.ErrCodeConfig:        permanent("config_error"),
	gocql.ErrCodeAlreadyExists: permanent("already_exists"),
	// functions are evaluated while the coordinator builds the mutations
	gocql.ErrCodeFunctionFailure: permanent("function_failure"),
	gocql.ErrCodeBootstrapping:   safe("bootstrapping"),
	gocql.ErrCodeUnprepared:      safe("unprepared"), // gocql 1.7 prepares again and does not return it

	gocql.ErrCodeTruncate: unknownFinal("truncate_error"), // does not answer writes
	// protocol 5 only; up to 4 the server sends WRITE_TIMEOUT of type CAS
	gocql.ErrCodeCASWriteUnknown: unknownFinal("cas_write_unknown"),
}

// executed are the reasons of requests with an end that is not known.
var executed = map[int]string{
	// the space for change data capture is full until its consumer frees some
	gocql.ErrCodeCDCWriteFailure: "cdc_write_failure",
	// of a lightweight transaction; other writes do not read at the coordinator
	gocql.ErrCodeReadTimeout: "read_timeout",
	gocql.ErrCodeReadFailure: "read_failure",
	gocql.ErrCodeServer:      "server_error", // any exception that Cassandra did not expect, anywhere
}

// classifyCode classifies by the error code of the native protocol.
func classifyCode(code int, kind Kind) Verdict {
	switch code {
	case gocql.ErrCodeUnavailable: // a RequestError that is not gocql's struct does not say at which consistency
		return unavailable(gocql.Any, 0, kind)
	case gocql.ErrCodeOverloaded:
		return overloaded(kind)
	case gocql.ErrCodeWriteTimeout:
		return writeTimeout("", kind)
	case gocql.ErrCodeWriteFailure:
		return writeFailure("", kind)
	}
	if v, ok := rejected[code]; ok {
		return v
	}
	return unknown(kind, cmp.Or(executed[code], "other_code"))
}

package cassandratest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/gocql/gocql"
)

// Error is an error of the native protocol, as the answer to a request.
type Error struct {
	name    string
	message func(*Request) message.Message
	code    int32 // without message: this code
	tail    []byte
	wrong   error // Cassandra never sends it
}

// String returns the name of the error.
func (e Error) String() string { return e.name }

// Overloaded says that the node has too much to do.
var Overloaded = Code(gocql.ErrCodeOverloaded)

// names are the names of error codes in the specification of the protocol.
var names = map[int]string{
	gocql.ErrCodeServer: "SERVER_ERROR", gocql.ErrCodeProtocol: "PROTOCOL_ERROR", gocql.ErrCodeCredentials: "AUTH_ERROR",
	gocql.ErrCodeOverloaded: "OVERLOADED", gocql.ErrCodeBootstrapping: "IS_BOOTSTRAPPING",
	gocql.ErrCodeTruncate: "TRUNCATE_ERROR", gocql.ErrCodeSyntax: "SYNTAX_ERROR", gocql.ErrCodeUnauthorized: "UNAUTHORIZED",
	gocql.ErrCodeInvalid: "INVALID", gocql.ErrCodeConfig: "CONFIG_ERROR", gocql.ErrCodeCDCWriteFailure: "CDC_WRITE_FAILURE",
	gocql.ErrCodeCASWriteUnknown: "CAS_WRITE_UNKNOWN", gocql.ErrCodeFunctionFailure: "FUNCTION_FAILURE",
	gocql.ErrCodeAlreadyExists: "ALREADY_EXISTS",
}

// Code returns an error with any code, such as Code(gocql.ErrCodeUnauthorized); the code need not exist. tail is what
// follows code and text in the native protocol: errors that only have a text have none.
func Code(code int, tail ...byte) Error {
	name, ok := names[code]
	if !ok {
		name = fmt.Sprintf("error 0x%04X", code)
	}
	return Error{name: name, code: int32(code), tail: tail}
}

// Unavailable says that too few replicas are alive.
func Unavailable(level gocql.Consistency, required, alive int) Error {
	return fixed("UNAVAILABLE", &message.Unavailable{
		ErrorMessage: "Cannot achieve consistency level", Consistency: primitive.ConsistencyLevel(level), Required: int32(required),
		Alive: int32(alive),
	})
}

var writeTypes = []string{"SIMPLE", "BATCH", "UNLOGGED_BATCH", "COUNTER", "BATCH_LOG", "CAS", "VIEW", "CDC"}

// WriteTimeout says that too few replicas have answered in time. writeType is one of SIMPLE, BATCH, UNLOGGED_BATCH,
// COUNTER, BATCH_LOG, CAS, VIEW and CDC, or one of a later version. [Condition.Do] reports a misspelling as an error of
// the test.
func WriteTimeout(writeType string, received, required int) Error {
	return ofType(writeType, "WRITE_TIMEOUT", &message.WriteTimeout{
		ErrorMessage: "Operation timed out", Consistency: primitive.ConsistencyLevelLocalQuorum, Received: int32(received),
		BlockFor: int32(required), WriteType: primitive.WriteType(writeType),
	})
}

// WriteFailure says that replicas have failed. For writeType see [WriteTimeout].
func WriteFailure(writeType string, received, required, failures int) Error {
	return ofType(writeType, "WRITE_FAILURE", &message.WriteFailure{
		ErrorMessage: "Operation failed", Consistency: primitive.ConsistencyLevelLocalQuorum, Received: int32(received),
		BlockFor: int32(required), NumFailures: int32(failures), WriteType: primitive.WriteType(writeType),
	})
}

func ofType(writeType, name string, m message.Message) Error {
	e := fixed(name+" "+writeType, m)
	misspelt := cql.Meant(writeType, writeTypes) != "" || writeType != strings.ToUpper(writeType)
	if misspelt && !slices.Contains(writeTypes, writeType) { // another one may be of a later version
		e.wrong = fmt.Errorf("a rule with %s of write type %q, which Cassandra does not have; there is %s",
			name, writeType, strings.Join(writeTypes, ", "))
	}
	return e
}

// ReadTimeout says that too few replicas have answered a read in time.
func ReadTimeout(received, required int) Error {
	return fixed("READ_TIMEOUT", &message.ReadTimeout{
		ErrorMessage: "Operation timed out", Consistency: primitive.ConsistencyLevelLocalQuorum, Received: int32(received),
		BlockFor: int32(required),
	})
}

// ReadFailure says that replicas have failed to read.
func ReadFailure(received, required, failures int) Error {
	return fixed("READ_FAILURE", &message.ReadFailure{
		ErrorMessage: "Operation failed", Consistency: primitive.ConsistencyLevelLocalQuorum, Received: int32(received),
		BlockFor: int32(required), NumFailures: int32(failures),
	})
}

// Unprepared says that the statement of an EXECUTE, or the first of a BATCH, is not prepared, though it is.
var Unprepared = Error{name: "UNPREPARED", message: func(r *Request) message.Message {
	var id []byte
	switch m := r.message.(type) {
	case *message.Execute:
		id = m.QueryId
	case *message.Batch:
		id = m.Children[0].Id
	}
	return unprepared(id)
}}

func unprepared(id []byte) message.Message {
	return &message.Unprepared{ErrorMessage: "Prepared query not found", Id: id}
}

func fixed(name string, m message.Message) Error {
	return Error{name: name, message: func(*Request) message.Message { return m }}
}

// frame is the answer to a request.
func (e Error) frame(r *Request) []byte {
	if e.message != nil {
		return encode(r.Stream, e.message(r))
	}
	var body []byte
	body = binary.BigEndian.AppendUint32(body, uint32(e.code))
	body = binary.BigEndian.AppendUint16(body, uint16(len(e.name)))
	body = append(append(body, e.name...), e.tail...)
	out := []byte{0x84, 0, byte(r.Stream >> 8), byte(r.Stream), byte(primitive.OpCodeError)}
	return append(binary.BigEndian.AppendUint32(out, uint32(len(body))), body...)
}

// encode makes a frame of a message.
func encode(stream int16, m message.Message) []byte {
	if _, ok := m.(*message.VoidResult); ok { // the answer to most writes
		return []byte{0x84, 0, byte(stream >> 8), byte(stream), byte(primitive.OpCodeResult), 0, 0, 0, 4, 0, 0, 0, 1}
	}
	var b bytes.Buffer
	if err := codec.EncodeFrame(frame.NewFrame(primitive.ProtocolVersion4, stream, m), &b); err != nil {
		panic(fmt.Sprintf("cassandratest: %v cannot be encoded: %v", m, err)) // a message of this package: a bug in it
	}
	return b.Bytes()
}

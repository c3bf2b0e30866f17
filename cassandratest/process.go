package cassandratest

import (
	"errors"
	"slices"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// answer is a message, and how long it takes.
type answer struct {
	message message.Message
	after   time.Duration
}

// process carries a request out as a healthy node does, but for what the course says, and gives the answer: none if the
// node was stopped since it got the request.
func (c *conn) process(r *Request, course coordinator.Course) answer {
	s := c.node.cluster
	s.turns.Lock()
	defer s.turns.Unlock()
	a, applied, watch := c.locked(r, course)
	for _, w := range watch {
		w(applied)
	}
	return a
}

// locked is what process does with the lock: it gives the request as it is then, and who is to be told that it was
// applied. After a panic the lock is free, because closing the connection takes it, without which the test would hang
// and not show the panic.
func (c *conn) locked(r *Request, course coordinator.Course) (a answer, applied Request, watch []func(Request)) {
	s := c.node.cluster
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.life != c.node.lives {
		return answer{}, *r, nil
	}
	before := r.Applied
	if a = c.carryOut(r, course); r.Applied > before {
		watch = slices.Clone(s.watch)
	}
	return a, *r, watch
}

// carryOut is process with the lock.
func (c *conn) carryOut(r *Request, course coordinator.Course) answer {
	switch r.Kind {
	case options:
		return answer{message: &message.Supported{Options: map[string][]string{"CQL_VERSION": {"3.4.7"}, "COMPRESSION": {}}}}
	case Startup:
		return answer{message: &message.Ready{}}
	case register:
		c.events = true
		return answer{message: &message.Ready{}}
	case Prepare:
		return answer{message: c.prepare(r.Statements[0])}
	case Query, Execute, Batch:
		return c.execute(r, course)
	case other:
	}
	return answer{message: &message.ProtocolError{ErrorMessage: "this server does not know such requests"}}
}

func (c *conn) prepare(s Statement) message.Message {
	if s.err != nil {
		return refusal(s.err)
	}
	id := statementID(c.keyspace, s.Text)
	c.node.prepared[id] = s.prepared
	return preparedResult(id, s.prepared)
}

// execute carries out statements. Those of a batch are carried out together.
func (c *conn) execute(r *Request, course coordinator.Course) answer {
	s := c.node.cluster
	if r.unknown != nil {
		return answer{message: unprepared(r.unknown)}
	}
	request := coordinator.Request{
		Node: c.node.Number, Batch: r.Kind == Batch, Kind: r.kind, Consistency: r.Consistency, Serial: r.Serial, Page: r.page, Course: course,
	}
	if r.DefaultTimestamp != nil {
		request.Timestamp = *r.DefaultTimestamp
	}
	for _, statement := range r.Statements {
		if statement.err != nil {
			return answer{message: refusal(statement.err)}
		}
		request.Statements = append(request.Statements, coordinator.Bound{Prepared: statement.prepared, Values: statement.bound})
	}
	if !request.Batch {
		first := r.Statements[0]
		if use, ok := first.prepared.Statement.(*ast.Use); ok {
			return c.use(use.Keyspace)
		}
		if first.prepared.Read != nil && first.prepared.Table.System {
			return answer{message: rowsResult(c.node.system(first, r.page), r.bare)}
		}
	}
	reply := s.data.Execute(request)
	if reply.Wrote {
		if r.Applied++; r.Applied == 1 {
			r.AppliedAt = time.Now()
		}
	}
	return answer{c.result(r, reply), reply.After}
}

func (c *conn) use(keyspace string) answer {
	if c.node.cluster.data.Schema.Keyspace(keyspace) == nil {
		return answer{message: &message.Invalid{ErrorMessage: "Keyspace '" + keyspace + "' does not exist"}}
	}
	c.keyspace = keyspace
	return answer{message: &message.SetKeyspaceResult{Keyspace: keyspace}}
}

// result is the message of a reply.
func (c *conn) result(r *Request, reply coordinator.Reply) message.Message {
	switch change := reply.Change; {
	case reply.Err != nil:
		return refusal(reply.Err)
	case reply.Columns != nil:
		return rowsResult(reply, r.bare)
	case change != nil:
		c.node.cluster.announce(change)
		return &message.SchemaChangeResult{
			ChangeType: primitive.SchemaChangeType(change.Type), Target: primitive.SchemaChangeTarget(change.Target),
			Keyspace: change.Keyspace, Object: change.Object,
		}
	}
	return &message.VoidResult{}
}

// rowsResult is the rows of a reply, bare without what is known from preparing the statement.
func rowsResult(reply coordinator.Reply, bare bool) message.Message {
	if reply.Err != nil {
		return refusal(reply.Err)
	}
	m := &message.RowsResult{Metadata: &message.RowsMetadata{ColumnCount: int32(len(reply.Columns)), PagingState: reply.State}}
	if !bare {
		m.Metadata.Columns = columns(reply.Keyspace, reply.Table, reply.Columns)
	}
	m.Data = make(message.RowSet, len(reply.Rows))
	copy(m.Data, reply.Rows)
	return m
}

// refusal is the message of an error.
func refusal(err error) message.Message {
	var failure *coordinator.ReplicaError
	var refused *catalog.Error
	switch {
	case errors.As(err, &failure):
		return failed(failure)
	case !errors.As(err, &refused):
		return &message.ServerError{ErrorMessage: err.Error()}
	}
	switch refused.Code {
	case gocql.ErrCodeSyntax:
		return &message.SyntaxError{ErrorMessage: refused.Message}
	case gocql.ErrCodeTruncate:
		return &message.TruncateError{ErrorMessage: refused.Message}
	case gocql.ErrCodeConfig:
		return &message.ConfigError{ErrorMessage: refused.Message}
	case gocql.ErrCodeUnauthorized:
		return &message.Unauthorized{ErrorMessage: refused.Message}
	case gocql.ErrCodeAlreadyExists:
		return &message.AlreadyExists{ErrorMessage: refused.Message, Keyspace: refused.Keyspace, Table: refused.Table}
	}
	return &message.Invalid{ErrorMessage: refused.Message}
}

func failed(f *coordinator.ReplicaError) message.Message {
	level := primitive.ConsistencyLevel(f.Level)
	switch f.Code {
	case gocql.ErrCodeUnavailable:
		return &message.Unavailable{ErrorMessage: f.Error(), Consistency: level, Required: int32(f.Required), Alive: int32(f.Received)}
	case gocql.ErrCodeReadTimeout:
		return &message.ReadTimeout{
			ErrorMessage: f.Error(), Consistency: level, Received: int32(f.Received), BlockFor: int32(f.Required), DataPresent: f.DataPresent,
		}
	}
	return &message.WriteTimeout{
		ErrorMessage: f.Error(), Consistency: level, Received: int32(f.Received), BlockFor: int32(f.Required),
		WriteType: primitive.WriteType(f.WriteType),
	}
}

// parse reads a statement, with the lock.
func (c *conn) parse(text string) (*query.Prepared, error) {
	return query.Prepare(c.node.cluster.data.Schema, text, c.keyspace)
}

func (r *Request) isUse() bool {
	if r.Kind != Query || len(r.Statements) != 1 || r.Statements[0].prepared == nil {
		return false
	}
	_, ok := r.Statements[0].prepared.Statement.(*ast.Use)
	return ok
}

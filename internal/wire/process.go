package wire

import (
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// process carries a request out as a healthy node does, and gives the answer.
func (c *conn) process(r *Request) message.Message {
	s := c.node.server
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Kind {
	case Options:
		return &message.Supported{Options: map[string][]string{"CQL_VERSION": {"3.4.6"}, "COMPRESSION": {}}}
	case Startup:
		return &message.Ready{}
	case Register:
		c.events = true
		return &message.Ready{}
	case Prepare:
		return c.prepare(r.Statements[0].parsed)
	case Query, Execute, Batch:
		return c.execute(r)
	case Other:
	}
	return &message.ProtocolError{ErrorMessage: "this server does not know such requests"}
}

func (c *conn) prepare(p statement) message.Message {
	if p.err != nil {
		return &message.Invalid{ErrorMessage: p.err.Error()}
	}
	id := statementID(c.keyspace, p.text)
	c.node.prepared[id] = p
	return preparedResult(id, p)
}

// execute carries out statements. Those of a batch are carried out together.
func (c *conn) execute(r *Request) message.Message {
	s := c.node.server
	if r.unknown != nil {
		return unprepared(r.unknown)
	}
	for _, statement := range r.Statements {
		p := statement.parsed
		if p.err == nil && p.verb != "USE" && p.verb != "CREATE" && len(statement.Values) != len(p.marks) {
			return &message.Invalid{ErrorMessage: "there are not as many values as marks"}
		}
		if p.err != nil {
			return &message.Invalid{ErrorMessage: p.err.Error()}
		}
	}
	first := r.Statements[0].parsed
	switch {
	case r.isUse():
		c.keyspace = first.keyspace
		return &message.SetKeyspaceResult{Keyspace: first.keyspace}
	case first.verb == "CREATE":
		return s.define(first.text, c.keyspace)
	case r.System():
		return s.system(c.node, r.Statements[0])
	}
	if first.verb != "SELECT" {
		if r.Applied++; r.Applied == 1 {
			r.AppliedAt = time.Now()
		}
	}
	return s.store.Apply(*r).message(first.keyspace, first.table)
}

func (r *Request) isUse() bool {
	return r.Kind == Query && r.Statements[0].parsed.verb == "USE"
}

func (s *Server) define(text, keyspace string) message.Message {
	ks, object, err := s.schema.create(text, keyspace, min(3, len(s.nodes)))
	if err != nil {
		return &message.Invalid{ErrorMessage: err.Error()}
	}
	change := &message.SchemaChangeResult{
		ChangeType: primitive.SchemaChangeTypeCreated, Target: primitive.SchemaChangeTargetTable, Keyspace: ks, Object: object,
	}
	if object == "" {
		change.Target = primitive.SchemaChangeTargetKeyspace
	}
	return change
}

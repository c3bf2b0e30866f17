package wire

import (
	"github.com/datastax/go-cassandra-native-protocol/message"
)

// Store is what requests for the test's tables are applied to. A server has one that stores nothing; [Server.Keep] puts
// another in its place, as a model of the tables.
type Store interface {
	// Apply carries a request out: a write, whose answer it gives, or a read. It is called each time that the request is
	// applied, for one request at a time, and must not call the server.
	Apply(r Request) Result
}

// Result is what a store answers: nothing but the acknowledgement of a write, if it is zero.
type Result struct {
	Columns []Column
	Rows    [][][]byte // one encoded value a column; nil is null
}

// Column is a column of a result.
type Column struct{ Name, Type string }

// Keep makes the server apply requests to store.
func (s *Server) Keep(store Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store = store
}

// void stores nothing: writes are acknowledged, conditions hold, and reads find no row.
type void struct{}

func (void) Apply(r Request) Result {
	for _, s := range r.Statements {
		switch {
		case s.parsed.verb == "SELECT":
			return Result{Columns: s.parsed.columns()}
		case s.parsed.conditional:
			return Result{Columns: []Column{{"[applied]", "boolean"}}, Rows: [][][]byte{{{1}}}}
		}
	}
	return Result{}
}

// message is the answer to the request.
func (r Result) message(keyspace, table string) message.Message {
	if r.Columns == nil {
		return &message.VoidResult{}
	}
	return &message.RowsResult{Metadata: rowsMetadata(keyspace, table, r.Columns), Data: r.Rows}
}

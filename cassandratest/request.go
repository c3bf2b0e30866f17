package cassandratest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// Kind is the kind of a request. As a [Matcher] it matches all requests of the kind, including those for system tables,
// which drivers and the writer read on their own.
type Kind uint8

// The kinds of requests.
const (
	other Kind = iota // none of the others
	options
	Startup // the first request of a connection
	register
	Query
	Prepare
	Execute // one prepared statement; a lightweight transaction of the writer, also of several rows
	Batch   // several statements: a logged batch, or the rows of one partition that a write or an update sends together
)

func (k Kind) String() string {
	return [...]string{"OTHER", "OPTIONS", "STARTUP", "REGISTER", "QUERY", "PREPARE", "EXECUTE", "BATCH"}[k]
}

// Request is one request, and what was done with it.
type Request struct {
	Number int // counts the requests of all nodes, from 1
	Node   int // the number of the node
	Conn   int // the number of the connection, over all nodes
	Stream int16
	At     time.Time
	Kind   Kind

	// Statements has the statements of a batch, or the one statement of another request. It is empty if the kind has none,
	// or if no such statement was prepared.
	Statements []Statement
	// Logged is whether a batch is a logged one.
	Logged bool
	// Counter is whether a batch is a counter batch.
	Counter     bool
	Consistency gocql.Consistency
	Serial      gocql.SerialConsistency // 0 if there is none
	PageSize    int                     // the page size of a read in rows, 0 for all at once
	// DefaultTimestamp is the default timestamp of the protocol, in microseconds, nil if there is none. It is not the time
	// of USING TIMESTAMP.
	DefaultTimestamp *int64

	// Applied is how often the request was applied. It is 0 for requests that apply nothing, such as a PREPARE or a
	// SELECT.
	Applied   int
	AppliedAt time.Time // when it was first applied
	// Steps lists what was done with the request, in order.
	Steps []string

	message message.Message
	kind    ast.BatchKind
	page    query.Page
	bare    bool   // the client knows the columns of the result
	unknown []byte // the id of a statement that is not prepared
}

// Statement is one statement of a request.
type Statement struct {
	Text            string
	Keyspace, Table string          // physical; of a BEGIN BATCH, if it is for one table
	Values          []Value         // the bound values; empty for a PREPARE
	prepared        *query.Prepared // nil if it cannot be prepared
	bound           []query.Value
	err             error // why it cannot
}

// Value is the value bound to one bind marker of a statement.
type Value struct {
	Column string // or "[timestamp]", "[ttl]", "[limit]"
	Bytes  []byte // nil if the value is null or unset
	Unset  bool
}

// Value returns the value bound to a column, or to "[timestamp]" and the like. The second result is false if there is
// none.
func (s Statement) Value(column string) (Value, bool) {
	for _, v := range s.Values {
		if v.Column == column {
			return v, true
		}
	}
	return Value{}, false
}

// Equal reports whether two statements have the same text and the same bound bytes.
func (s Statement) Equal(other Statement) bool {
	return s.Text == other.Text && slices.EqualFunc(s.Values, other.Values, func(a, b Value) bool {
		return a.Unset == b.Unset && (a.Bytes == nil) == (b.Bytes == nil) && bytes.Equal(a.Bytes, b.Bytes)
	})
}

// On reports whether a statement of the request is for a table, named with or without its keyspace.
func (r Request) On(table string) bool {
	return slices.ContainsFunc(r.Statements, func(s Statement) bool { return called(table, s.Keyspace, s.Table) })
}

// called says whether a name, with or without keyspace, is that of a table.
func called(name, keyspace, table string) bool { return name == table || name == keyspace+"."+table }

// System reports whether the request is for a system table, as drivers send them.
func (r Request) System() bool {
	return slices.ContainsFunc(r.Statements, func(s Statement) bool { return isSystem(s.Keyspace) })
}

// String returns the request in one line, without bound values.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d node %d conn %d stream %d %v", r.Number, r.Node, r.Conn, r.Stream, r.Kind)
	for _, s := range r.Statements {
		fmt.Fprintf(&b, " %q", s.Text)
	}
	fmt.Fprintf(&b, ": %s", strings.Join(r.Steps, ", "))
	return b.String()
}

// request reads a frame and writes it into the journal.
func (c *conn) request(f *frame.Frame) *Request {
	s := c.node.cluster
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	r := &Request{
		Number: s.count, Node: c.node.Number, Conn: c.number, Stream: f.Header.StreamId, At: time.Now(),
		message: f.Body.Message,
	}
	s.journal = append(s.journal, r)
	switch m := r.message.(type) {
	case *message.Options:
		r.Kind = options
	case *message.Startup:
		r.Kind = Startup
	case *message.Register:
		r.Kind = register
	case *message.Prepare:
		r.Kind = Prepare
		r.Statements = []Statement{c.statement(m.Query, nil)}
	case *message.Query:
		r.Kind = Query
		r.options(m.Options)
		r.Statements = []Statement{c.statement(m.Query, m.Options.PositionalValues)}
	case *message.Execute:
		r.Kind = Execute
		r.options(m.Options)
		r.prepared(c, m.QueryId, m.Options.PositionalValues)
	case *message.Batch:
		r.Kind, r.Logged, r.Counter = Batch, m.Type == primitive.BatchTypeLogged, m.Type == primitive.BatchTypeCounter
		r.kind = map[primitive.BatchType]ast.BatchKind{
			primitive.BatchTypeUnlogged: ast.Unlogged, primitive.BatchTypeCounter: ast.Counter,
		}[m.Type]
		r.Consistency, r.DefaultTimestamp = gocql.Consistency(m.Consistency), m.DefaultTimestamp
		r.serial(m.SerialConsistency)
		for _, child := range m.Children {
			if child.Id == nil {
				r.Statements = append(r.Statements, c.statement(child.Query, child.Values))
				continue
			}
			r.prepared(c, child.Id, child.Values)
		}
	}
	return r
}

func (r *Request) options(o *message.QueryOptions) {
	r.Consistency, r.DefaultTimestamp = gocql.Consistency(o.Consistency), o.DefaultTimestamp
	r.serial(o.SerialConsistency)
	r.page, r.bare = query.Page{Size: int(o.PageSize), State: o.PagingState}, o.SkipMetadata
	r.PageSize = r.page.Size
}

func (r *Request) serial(level *primitive.ConsistencyLevel) {
	if level != nil {
		r.Serial = gocql.SerialConsistency(*level)
	}
}

// statement reads a statement with its values.
func (c *conn) statement(text string, values []*primitive.Value) Statement {
	p, err := c.parse(text)
	if err != nil {
		return Statement{Text: text, err: err}
	}
	return bind(p, values)
}

// prepared adds a prepared statement with its values.
func (r *Request) prepared(c *conn, id []byte, values []*primitive.Value) {
	p, ok := c.node.prepared[string(id)]
	if !ok {
		if r.unknown == nil {
			r.unknown = id
		}
		return
	}
	r.Statements = append(r.Statements, bind(p, values))
}

// bind gives a statement with values.
func bind(p *query.Prepared, values []*primitive.Value) Statement {
	s := Statement{Text: p.Text, Keyspace: p.Keyspace, prepared: p}
	if t := p.Table; t != nil {
		s.Table = t.Name
	} else if t := p.BatchTable(); t != nil {
		s.Keyspace, s.Table = t.Keyspace, t.Name
	}
	if len(values) == 0 {
		return s
	}
	s.Values, s.bound = make([]Value, len(values)), make([]query.Value, len(values))
	for i, v := range values {
		unset := v.Type == primitive.ValueTypeUnset
		s.Values[i] = Value{Bytes: v.Contents, Unset: unset}
		s.bound[i] = query.Value{Bytes: v.Contents, Unset: unset}
		if i < len(p.Marks) {
			s.Values[i].Column = p.Marks[i].Name
		}
	}
	return s
}

// Journal returns every request so far that all matchers match, in the order in which the nodes received them. Without
// matchers it returns all requests, heartbeats included. Matchers that no request can match, such as two kinds, are an
// error of the test; outside of a test, Journal panics. For two kinds, call Journal twice, or use [Where].
func (c *Cluster) Journal(matchers ...Matcher) []Request {
	if err := c.contradiction("call of Journal", matchers); err != nil {
		if c.tb != nil {
			c.tb.Helper()
		}
		c.fail(err)
		return nil
	}
	c.mu.Lock()
	all := make([]Request, len(c.journal))
	for i, r := range c.journal {
		all[i] = *r
		all[i].Steps = slices.Clone(r.Steps)
	}
	c.mu.Unlock() // a matcher may call the cluster
	seen := 0
	return slices.DeleteFunc(all, func(r Request) bool {
		if !matches(matchers, &r) {
			return true
		}
		seen++
		return !nth(matchers, seen)
	})
}

// note adds what was done with a request.
func (c *Cluster) note(r *Request, step string) { c.hold(func() { r.Steps = append(r.Steps, step) }) }

// Watch makes the cluster call applied each time that it has applied a write, or has begun to, whatever the client is
// told. applied is called for one request at a time. It may call the cluster, but not Close, and must not wait.
func (c *Cluster) Watch(applied func(Request)) { c.hold(func() { c.watch = append(c.watch, applied) }) }

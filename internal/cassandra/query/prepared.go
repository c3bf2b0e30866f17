package query

import (
	"errors"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Prepared is a statement that was prepared. It never changes, and may be used by several at once.
type Prepared struct {
	Text     string
	Keyspace string // that of the statement, or of USE
	// Statement is what was read.
	Statement ast.Statement
	Table     *catalog.Table // nil for definitions, USE and batches
	Marks     []Column       // what the question marks stand for
	Routing   []uint16       // the marks of the partition key, in its order; nil unless all of it is bound
	Write     *Write         // of INSERT, UPDATE and DELETE
	Read      *Read          // of SELECT
	Batch     []*Prepared    // of BEGIN BATCH: they share the marks of the batch
}

// BatchTable is the table that all statements of a batch are for, nil if there is none.
func (p *Prepared) BatchTable() *catalog.Table {
	if len(p.Batch) == 0 || slices.ContainsFunc(p.Batch, func(s *Prepared) bool { return s.Table != p.Batch[0].Table }) {
		return nil
	}
	return p.Batch[0].Table
}

// Column is a mark, or a column of a result.
type Column struct {
	Name string
	Type *cqltype.Type
}

// Value is what is bound to a mark. Bytes is nil for null.
type Value struct {
	Bytes []byte
	Unset bool
}

// Env is what a statement is executed with.
type Env struct {
	Values    []Value
	Timestamp int64 // microseconds: of what is written, unless the statement has one
	Now       int64 // microseconds since 1970, by the clock of the coordinator
	Unique    func() uint64
}

// seconds is the time as that of an expiry.
func (e *Env) seconds() int64 { return e.Now / 1e6 }

// compiler makes a statement ready for one table.
type compiler struct {
	schema   *catalog.Schema
	prepared *Prepared
	table    *catalog.Table
}

// Prepare reads a statement and holds it against the schema. An error is a [*catalog.Error].
func Prepare(schema *catalog.Schema, text, keyspace string) (*Prepared, error) {
	stmt, err := ast.Parse(text)
	if err != nil {
		out := &catalog.Error{Code: gocql.ErrCodeInvalid, Message: err.Error()}
		var no *ast.InvalidError
		switch {
		case errors.As(err, new(*ast.SyntaxError)):
			out.Code = gocql.ErrCodeSyntax
		case errors.As(err, &no) && no.Unsupported:
			out.Reason = option.Unsupported
		}
		return nil, out
	}
	p := &Prepared{Text: text, Keyspace: keyspace, Statement: stmt}
	batch, ok := stmt.(*ast.Batch)
	if !ok {
		return p, p.compile(schema, stmt)
	}
	if err := (&compiler{schema: schema, prepared: p}).batch(batch); err != nil {
		return nil, err
	}
	return p, nil
}

func (c *compiler) batch(batch *ast.Batch) error {
	p := c.prepared
	if batch.Using.Timestamp != nil {
		return unsupported("BEGIN BATCH USING TIMESTAMP; give it to the statements")
	}
	for _, s := range batch.Statements {
		part := &Prepared{Text: p.Text, Keyspace: p.Keyspace, Statement: s, Marks: p.Marks}
		if err := part.compile(c.schema, s); err != nil {
			return err
		}
		p.Marks, p.Keyspace = part.Marks, part.Keyspace
		p.Batch = append(p.Batch, part)
	}
	return nil
}

func (p *Prepared) compile(schema *catalog.Schema, stmt ast.Statement) error {
	c := &compiler{schema: schema, prepared: p}
	var err error
	switch s := stmt.(type) {
	case *ast.Select:
		if err = c.open(s.From); err == nil {
			p.Read, err = c.read(s)
		}
	case *ast.Insert:
		if err = c.open(s.Into); err == nil {
			p.Write, err = c.insert(s)
		}
	case *ast.Update:
		if err = c.open(s.Table); err == nil {
			p.Write, err = c.update(s)
		}
	case *ast.Delete:
		if err = c.open(s.From); err == nil {
			p.Write, err = c.delete(s)
		}
	case *ast.Truncate:
		err = c.open(s.Table)
	}
	if err != nil {
		return err
	}
	if p.Write != nil && c.table.System {
		return &catalog.Error{Code: gocql.ErrCodeUnauthorized, Message: "system keyspace is not user-modifiable."}
	}
	if p.Write != nil || p.Read != nil {
		p.route()
	}
	return nil
}

// open finds the table of a statement.
func (c *compiler) open(name cql.Name) error {
	keyspace := name.Keyspace
	if keyspace == "" {
		keyspace = c.prepared.Keyspace
	}
	if keyspace == "" {
		return invalid("No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename")
	}
	if c.schema.Keyspace(keyspace) == nil {
		return because(option.Missing, "keyspace %s does not exist", keyspace)
	}
	if c.table = c.schema.Table(keyspace, name.Name); c.table == nil {
		return c.missing(keyspace, name.Name)
	}
	c.prepared.Keyspace, c.prepared.Table = keyspace, c.table
	return nil
}

// missing rejects a statement for what is no table.
func (c *compiler) missing(keyspace, name string) error {
	_, read := c.prepared.Statement.(*ast.Select)
	switch view := c.schema.View(keyspace, name); {
	case view && read:
		return unsupported("a SELECT from the materialized view %s.%s", keyspace, name)
	case view:
		return invalid("Cannot directly modify a materialized view")
	}
	return because(option.Missing, "table %s does not exist", name)
}

// route finds the marks of the partition key.
func (p *Prepared) route() {
	var where *where
	if p.Write != nil {
		where = &p.Write.where
	} else {
		where = &p.Read.where
	}
	for _, r := range where.partition {
		if r == nil || r.list || len(r.terms) != 1 || r.terms[0].mark < 0 {
			p.Routing = nil
			return
		}
		p.Routing = append(p.Routing, uint16(r.terms[0].mark))
	}
}

// mark says what a question mark stands for.
func (c *compiler) mark(number int, name string, t *cqltype.Type) {
	p := c.prepared
	if number >= len(p.Marks) {
		p.Marks = slices.Grow(p.Marks, number+1-len(p.Marks))[:number+1]
	}
	p.Marks[number] = Column{name, t}
}

// Check says whether values can be bound, and puts their sets and maps in order, as Cassandra does. An error is a
// [*catalog.Error].
func (p *Prepared) Check(values []Value) error {
	if len(values) != len(p.Marks) {
		return invalid("Invalid amount of bind variables: expected %d and got %d", len(p.Marks), len(values))
	}
	for i, v := range values {
		if v.Unset || v.Bytes == nil {
			continue
		}
		if err := catalog.Validate(p.Marks[i].Type, v.Bytes); err != nil {
			return err
		}
		values[i].Bytes = catalog.Sort(p.Marks[i].Type, v.Bytes)
	}
	return nil
}

package cassandratest

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// Create executes schema statements: CREATE KEYSPACE, CREATE TABLE, CREATE TYPE, and ALTER and DROP of these. Each
// string is one statement, or several separated by semicolons, as in a file. If the keyspace of a table does not exist,
// it is created with the table, with a replica on each of up to three nodes. A table named without keyspace is in the
// keyspace of the last USE in the same call. An error ends the test; outside of a test, Create panics.
func (c *Cluster) Create(statements ...string) {
	if c.tb != nil {
		c.tb.Helper()
	}
	if err := c.create(statements); err != nil {
		if c.tb == nil {
			panic(err)
		}
		c.tb.Fatalf("cassandratest: %v", err)
	}
}

func (c *Cluster) create(statements []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := ""
	for _, text := range statements {
		for _, statement := range split(text) {
			if err := c.define(statement, &used); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
	}
	return nil
}

// split gives the statements of a text as they are written, without the semicolons behind them and without comments
// before them. A text that no statements can be found in is one.
func split(text string) (statements []string) {
	s, err := ast.NewScript(text)
	if err != nil {
		return []string{text}
	}
	for {
		if _, _, more := s.Next(); !more {
			break
		}
		span := s.PassOver()
		statements = append(statements, text[span.From:span.To])
	}
	if statements == nil {
		return []string{text}
	}
	return statements
}

// define carries out one statement, where the keyspace in use is that of tables without one.
func (c *Cluster) define(statement string, used *string) error {
	p, err := query.Prepare(c.data.Schema, statement, *used)
	if err != nil {
		return err
	}
	if use, ok := p.Statement.(*ast.Use); ok {
		if c.data.Schema.Keyspace(use.Keyspace) == nil {
			return fmt.Errorf("keyspace %s does not exist: create it first", use.Keyspace)
		}
		*used = use.Keyspace
		return nil
	}
	if err := c.keyspace(p.Statement, *used); err != nil {
		return err
	}
	reply := c.data.Execute(coordinator.Request{Node: 1, Statements: []coordinator.Bound{{Prepared: p}}})
	c.announce(reply.Change)
	return reply.Err
}

// keyspace creates that of a new table or type.
func (c *Cluster) keyspace(s ast.Statement, used string) error {
	var name string
	switch s := s.(type) {
	case *ast.CreateTable:
		name = cmp.Or(s.Table.Keyspace, used)
	case *ast.CreateType:
		name = cmp.Or(s.Type.Keyspace, used)
	default:
		return nil
	}
	if name == "" {
		return errors.New("no keyspace is named: name it by Schema.In, or in CQL as in shop.orders or by USE")
	}
	if c.data.Schema.Keyspace(name) != nil {
		return nil
	}
	_, err := c.data.Schema.Define(&ast.CreateKeyspace{Keyspace: name, Durable: true, Replication: map[string]string{
		"class": "NetworkTopologyStrategy", "dc1": strconv.Itoa(min(3, len(c.nodes))),
	}}, "")
	return err
}

// announce makes the nodes forget what was prepared for what has changed, and tells the clients that have asked for
// events. It is called with the lock.
func (c *Cluster) announce(change *catalog.Change) {
	if change == nil {
		return
	}
	event := &message.SchemaChangeEvent{
		ChangeType: primitive.SchemaChangeType(change.Type), Target: primitive.SchemaChangeTarget(change.Target),
		Keyspace: change.Keyspace, Object: change.Object,
	}
	for _, n := range c.nodes {
		for id, p := range n.prepared {
			if p.Keyspace == change.Keyspace && (p.Table == nil || change.Table == nil || p.Table.Name == change.Object) {
				delete(n.prepared, id)
			}
		}
		for conn := range n.conns {
			if conn.events {
				conn.send(chunk{bytes: encode(-1, event)})
			}
		}
	}
}

package cassandratest

import (
	"fmt"
	"strconv"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql"
)

// Create carries out definitions: CREATE KEYSPACE, CREATE TABLE, CREATE TYPE, ALTER and DROP of them. A table's keyspace is
// created with it, if need be, with a replica on each of up to three nodes. What is wrong ends the test.
func (c *Cluster) Create(statements ...string) {
	if c.tb != nil {
		c.tb.Helper()
	}
	if err := c.Define(statements...); err != nil {
		if c.tb == nil {
			panic(err)
		}
		c.tb.Fatalf("cassandratest: %v", err)
	}
}

// Define is [Cluster.Create] with an error.
func (c *Cluster) Define(statements ...string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range statements {
		p, err := query.Prepare(c.data.Schema, text, "")
		if err == nil {
			err = c.keyspace(p.Statement)
		}
		if err == nil {
			reply := c.data.Execute(coordinator.Request{Node: 1, Statements: []coordinator.Bound{{Prepared: p}}})
			err = reply.Err
			c.announce(reply.Change)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// keyspace creates that of a new table or type.
func (c *Cluster) keyspace(s cql.Statement) error {
	var name string
	switch s := s.(type) {
	case *cql.CreateTable:
		name = s.Table.Keyspace
	case *cql.CreateType:
		name = s.Type.Keyspace
	}
	if name == "" || c.data.Schema.Keyspace(name) != nil {
		return nil
	}
	_, err := c.data.Schema.Define(&cql.CreateKeyspace{Keyspace: name, Durable: true, Replication: map[string]string{
		"class": "NetworkTopologyStrategy", "dc1": strconv.Itoa(min(3, len(c.nodes))),
	}}, "")
	return err
}

// announce makes the nodes forget what was prepared for what has changed, and tells the clients that have asked for events. It
// is called with the lock.
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

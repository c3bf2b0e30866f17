package session_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type item struct{ SKU, Name string }

var items = tables.Must(tables.New[item]("item", tables.Table{Name: "items", PartKey: []string{"sku"}}))

// A service opens one Session at its start, and makes its writer and its reader of it.
func ExampleOpen() {
	cluster := cassandratest.New(3) // in production: gocql.NewCluster("10.0.0.1", "10.0.0.2")
	defer cluster.Close()
	cluster.Create("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
	config := cluster.Config()
	config.Keyspace = "shop"

	s, err := session.Open(config, session.LocalDC("dc1"), session.Budget(retry.NewBudget(500, 0.1)))
	if err != nil {
		panic(err)
	}
	defer s.Close()
	w, err := writer.New(s)
	fmt.Println(w != nil, err)
	// Output: true <nil>
}

// A keyspace for each tenant: writers of all of them share the connections.
func ExampleKeyspaces() {
	cluster := cassandratest.New(3)
	defer cluster.Close()
	declared := schema.Must(schema.Declare(schema.Sets(items)))
	for _, tenant := range []string{"t1", "t2"} {
		cluster.Create(declared.In(map[string]string{"": tenant}).Statements()...)
	}
	config := cluster.Config()
	s, err := session.Open(config, session.LocalDC("dc1"), session.StrictKeyspaces())
	if err != nil {
		panic(err)
	}
	defer s.Close()
	w, err := writer.New(s)
	if err != nil {
		panic(err)
	}

	for _, tenant := range []string{"t1", "t2"} {
		of := s.With(session.Keyspaces(map[string]string{"": tenant}))
		lamp := items.Insert(item{"4711", "lamp of " + tenant})
		_, err := w.With(writer.Session(of)).Write(context.Background(), "addItem", lamp)
		fmt.Println(tenant, err)
	}
	_, err = w.Write(context.Background(), "addItem", items.Insert(item{"4711", "lamp"})) // which tenant's?
	fmt.Println(errors.Is(err, writer.ErrInvalid))
	// Output:
	// t1 <nil>
	// t2 <nil>
	// true
}

// A service that has sessions of its own gives two: one for writes and one for reads.
func ExampleNew() {
	cluster := cassandratest.New(1) // in production: gocql.NewCluster("10.0.0.1", "10.0.0.2")
	defer cluster.Close()
	writes, err := session.Connect(session.Configure(cluster.Config(), "dc1"))
	if err != nil {
		panic(err)
	}
	defer writes.Close()
	reads, err := session.Connect(session.Configure(cluster.Config(), "dc1"))
	if err != nil {
		panic(err)
	}
	defer reads.Close()

	_, err = session.New(writes, reads)
	fmt.Println(err)
	_, err = session.New(writes, writes)
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}

package orderservice_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// Keyspace and tables are created where they are missing, with up to three replicas, and taken as they are where they
// exist.
func TestCreateSchema(t *testing.T) {
	t.Parallel()
	for nodes, replicas := range map[int]string{1: "1", 3: "3", 4: "3"} {
		c := cassandratest.Start(t, nodes)
		config := c.Config()
		in := orderservice.Cassandra{
			Hosts: config.Hosts, Keyspace: "shop", CreateSchema: true, Change: func(own *gocql.ClusterConfig) { own.Dialer = config.Dialer },
		}
		for range 2 {
			d, err := in.Open(t.Context())
			if err != nil {
				t.Fatalf("%d nodes: %v", nodes, err)
			}
			_, err = d.Writer.Write(t.Context(), "createOrder", orders.Orders.Insert(orders.New(gocql.MustRandomUUID(), nil)))
			if err != nil {
				t.Errorf("%d nodes: %v", nodes, err)
			}
			d.Close()
		}
		session, err := config.CreateSession()
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		var replication map[string]string
		err = session.Query(`SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = 'shop'`).Scan(&replication)
		if err != nil || replication["dc1"] != replicas {
			t.Errorf("%d nodes: %v, %v", nodes, replication, err)
		}
	}
}

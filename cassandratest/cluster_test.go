package cassandratest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
)

// What gocql sends is in the journal as it was sent, with the names of the columns.
func TestJournal(t *testing.T) {
	t.Parallel()
	transports(t, func(t trial) {
		s := t.start(t, 1)
		session := open(t, s, func(c *gocql.ClusterConfig) { c.Consistency = gocql.LocalQuorum; c.DefaultTimestamp = false })
		user, order := gocql.UUID{15: 1}, gocql.UUID{6: 0x10, 8: 0x80, 15: 2}
		if err := session.Query(insertOrder, user, 7, order, int64(5)).Exec(); err != nil {
			t.Fatal(err)
		}
		r := last(t, s, Execute)
		if r.Node != 1 || r.Consistency != gocql.LocalQuorum || r.DefaultTimestamp != nil || r.Applied != 1 || r.AppliedAt.IsZero() {
			t.Errorf("%+v", r)
		}
		st := r.Statements[0]
		if st.Text != insertOrder || st.Keyspace != "shop" || st.Table != "orders" || !r.On("orders") || !r.On("shop.orders") || r.On("o") {
			t.Errorf("%+v", st)
		}
		for column, want := range map[string][]byte{
			"user_id": user.Bytes(), "day": {0, 0, 0, 7}, "order_id": order.Bytes(), "[timestamp]": {0, 0, 0, 0, 0, 0, 0, 5},
		} {
			if v, ok := st.Value(column); !ok || !slices.Equal(v.Bytes, want) || v.Unset {
				t.Errorf("%s is %+v", column, v)
			}
		}
		if p := last(t, s, Prepare); p.Applied != 0 || p.Statements[0].Text != insertOrder || len(p.Statements[0].Values) != 0 {
			t.Errorf("%+v", p)
		}

		for i, value := range []any{gocql.UnsetValue, nil} {
			if err := session.Query(insertNote, 1, value).WithTimestamp(9).SerialConsistency(gocql.LocalSerial).Exec(); err != nil {
				t.Fatal(err)
			}
			r = last(t, s, Execute)
			if v := r.Statements[0].Values[1]; v.Unset != (i == 0) || v.Bytes != nil || r.DefaultTimestamp == nil || *r.DefaultTimestamp != 9 ||
				r.Serial != gocql.LocalSerial {
				t.Errorf("%+v", r)
			}
		}

		b := session.NewBatch(gocql.LoggedBatch)
		b.Query(insertOrder, user, 7, order, int64(6))
		b.Query(insertNote, 1, "milk")
		b.Query("DELETE FROM shop.notes WHERE id = 1")
		if err := session.ExecuteBatch(b); err != nil {
			t.Fatal(err)
		}
		r = last(t, s, Batch)
		if !r.Logged || r.Consistency != gocql.LocalQuorum || r.Applied != 1 || len(r.Statements) != 3 {
			t.Errorf("%+v", r)
		}
		if v, _ := r.Statements[1].Value("text"); r.Statements[1].Table != "notes" || string(v.Bytes) != "milk" {
			t.Errorf("%+v", r.Statements[1])
		}
		if r.Statements[2].Text != "DELETE FROM shop.notes WHERE id = 1" || r.Statements[2].Table != "notes" {
			t.Errorf("%+v", r.Statements[2])
		}
	})
}

// The values of a request are compared byte for byte, and null, empty and unset are three things.
func TestEqualStatements(t *testing.T) {
	t.Parallel()
	values := []Value{{}, {Unset: true}, {Bytes: []byte{}}, {Bytes: []byte{0}}}
	for i, a := range values {
		for j, b := range values {
			x, y := Statement{Text: "t", Values: []Value{a}}, Statement{Text: "t", Values: []Value{b}}
			if x.Equal(y) != (i == j) {
				t.Errorf("%+v and %+v", a, b)
			}
		}
	}
	if (Statement{Text: "a"}).Equal(Statement{Text: "b"}) {
		t.Error("texts differ")
	}
}

// gocql finds all nodes, takes the keyspace, and reads the schema that a test has declared.
func TestSchema(t *testing.T) {
	t.Parallel()
	transports(t, func(t trial) {
		s := t.start(t, 3)
		s.Create(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}`)
		session := open(t, s, func(c *gocql.ClusterConfig) {
			s.Create(`CREATE MATERIALIZED VIEW shop.orders_by_day AS SELECT * FROM shop.orders
				WHERE day IS NOT NULL AND user_id IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (day, user_id, order_id)`)
			c.Keyspace = "shop"
			c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
		})
		for n := 1; n <= 3; n++ {
			if len(s.Node(n).open()) == 0 {
				t.Errorf("no connection with node %d", n)
			}
		}
		ks, err := session.KeyspaceMetadata("shop")
		if err != nil {
			t.Fatal(err)
		}
		if ks.StrategyOptions["replication_factor"] != "2" || ks.Tables["notes"] == nil || !drivertest.HasView(ks, "orders_by_day") {
			t.Errorf("%+v", ks)
		}
		table := ks.Tables["orders"]
		if len(table.PartitionKey) != 2 || table.PartitionKey[1].Name != "day" || table.ClusteringColumns[0].Name != "order_id" ||
			table.ClusteringColumns[0].ClusteringOrder != "desc" || !strings.HasPrefix(fmt.Sprint(table.Columns["tags"].Type), "set") {
			t.Errorf("%+v", table)
		}
		var seconds int
		if err := session.Query(`SELECT gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?`,
			"shop", "orders").Scan(&seconds); err != nil || seconds != 100 {
			t.Errorf("%d s, %v", seconds, err)
		}
		if err := session.Query(`CREATE TABLE cups (id int PRIMARY KEY)`).Exec(); err != nil {
			t.Fatal(err)
		}
		if err := session.Query(`INSERT INTO cups (id) VALUES (?)`, 1).Exec(); err != nil { // in the keyspace of the session
			t.Fatal(err)
		}
		if r := last(t, s, Table("shop.cups"), Execute); r.Statements[0].Keyspace != "shop" {
			t.Errorf("%+v", r)
		}
		if err := session.Query(`INSERT INTO plates (id) VALUES (?)`, 1).Exec(); err == nil {
			t.Error("there is no such table")
		}
		if err := session.Query(`INSERT INTO cups (color) VALUES (?)`, 1).Exec(); err == nil {
			t.Error("there is no such column")
		}
	})
}

// The routing key that the driver makes of what PREPARED says leads to the node that owns the partition.
func TestTokens(t *testing.T) {
	t.Parallel()
	Test(t, 5, func(t *testing.T, s *Cluster) {
		s.Create(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
		session := open(t, s, func(c *gocql.ClusterConfig) {
			c.Keyspace = "shop"
			c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
		})
		<-time.After(time.Second) // for the pools to be full
		owners := make(map[int]int)
		for i := range 500 {
			q := session.Query(insertOrder, gocql.UUID{0: byte(i), 7: byte(i * 7), 15: byte(i >> 4)}, i, gocql.UUID{6: 0x10, 8: 0x80}, int64(1))
			key, err := q.GetRoutingKey()
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Exec(); err != nil {
				t.Fatal(err)
			}
			r, replicas := last(t, s, Execute), s.Replicas("shop", key)
			if len(replicas) != 1 || r.Node != replicas[0] {
				t.Fatalf("sent to node %d, owned by %v", r.Node, replicas)
			}
			owners[r.Node]++
		}
		for n := 1; n <= 5; n++ {
			if owners[n] < 50 {
				t.Errorf("of 500 partitions node %d owns %d", n, owners[n])
			}
		}
		s.Create(`ALTER KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}`)
		three := s.Replicas("shop", []byte("key"))
		slices.Sort(three)
		if len(three) != 3 || len(slices.Compact(three)) != 3 {
			t.Errorf("replicas %v", three)
		}
	})
}

// What was written is read, conditions look at it, and those who watch are told of the writes.
func TestWatch(t *testing.T) {
	t.Parallel()
	Test(t, 1, func(t *testing.T, s *Cluster) {
		session := open(t, s, nil)
		var seen []Request
		s.Watch(func(r Request) { seen = append(seen, r) })
		if err := session.Query(`SELECT text FROM shop.notes WHERE id = ?`, 1).Scan(new(string)); !errors.Is(err, gocql.ErrNotFound) {
			t.Errorf("of an empty table: %v", err)
		}
		for i, want := range []bool{true, false} {
			var id int
			var text string
			applied, err := session.Query(insertNote+` IF NOT EXISTS`, 1, "milk").ScanCAS(&id, &text)
			if applied != want || err != nil || !want && text != "milk" {
				t.Errorf("%d: %v, %q, %v", i, applied, text, err)
			}
		}
		var text string
		if err := session.Query(`SELECT text FROM shop.notes WHERE id = ?`, 1).Scan(&text); err != nil || text != "milk" {
			t.Errorf("%q, %v", text, err)
		}
		if r := last(t, s, Execute); r.Applied != 0 {
			t.Errorf("a read is applied: %v", r)
		}
		if len(seen) != 1 || !seen[0].On("notes") || seen[0].Applied != 1 {
			t.Errorf("seen: %v", seen)
		}
	})
}

// After Close nothing is left: no goroutine, no connection, no address in use.
func TestClose(t *testing.T) {
	t.Parallel()
	s := Listen(t, 2)
	session := open(t, s, nil)
	rule := s.When(Table("notes")).Do(Delay(time.Hour), Apply)
	ended := make(chan error, 1)
	go func() { ended <- session.Query(insertNote, 1, "milk").Exec() }()
	for rule.Handled() == 0 {
		wait(time.Millisecond, t.Context().Done())
	}
	s.Close()
	s.Close()
	if n := len(s.Node(1).open()) + len(s.Node(2).open()); n != 0 {
		t.Errorf("%d connections", n)
	}
	if err := <-ended; err == nil {
		t.Error("answered")
	}
	if r := last(t, s, Execute); r.Applied != 0 {
		t.Errorf("applied after Close: %v", r)
	}
}

// Create takes what stands in a file, and says what is wrong with which statement.
func TestCreateText(t *testing.T) {
	t.Parallel()
	c := New(1)
	defer c.Close()
	err := c.create([]string{
		`-- the shop; all of it
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		USE shop;
		CREATE TYPE item (name text);
		CREATE TABLE orders (id int PRIMARY KEY, items list<frozen<item>>) WITH comment = 'a;b'; -- one a customer
		CREATE TABLE bar.drinks (id int PRIMARY KEY);`,
		`INSERT INTO orders (id) VALUES (1)`, `CREATE TABLE notes (id int PRIMARY KEY)`,
	})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, table := range c.data.Schema.Tables() {
		if !table.System {
			found = append(found, table.Keyspace+"."+table.Name)
		}
	}
	if slices.Sort(found); !slices.Equal(found, []string{"bar.drinks", "shop.notes", "shop.orders"}) {
		t.Errorf("there is %v", found)
	}
	for text, want := range map[string]string{
		"CREATE TABLE t (id int PRIMARY KEY)": `CREATE TABLE t (id int PRIMARY KEY): no keyspace is named: name it by Schema.In, ` +
			`or in CQL as in shop.orders or by USE`,
		"USE nosuch": "USE nosuch: keyspace nosuch does not exist: create it first",
		"DROP TABLE shop.notes; CREATE shop.x (id int); DROP TABLE shop.orders": "CREATE shop.x (id int): ",
	} {
		if err := c.create([]string{text}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

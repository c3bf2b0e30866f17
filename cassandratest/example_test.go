package cassandratest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type payment struct{ PaymentID, Account string }

var payments = tables.Must(tables.New[payment]("payment",
	tables.Table{Name: "payments", PartKey: []string{"payment_id"}}))

// pay is a function of a service, whose test this is.
func pay(ctx context.Context, w *writer.Writer, p payment) string {
	_, err := w.Write(ctx, "pay", payments.Insert(p))
	switch writer.OutcomeOf(err) {
	case writer.Applied:
		return "paid"
	case writer.NotApplied:
		return "not paid: try again"
	default: // it may have been applied
		return "not known yet"
	}
}

// An outcome that the client cannot know: the cluster applies the write and answers nothing. What does the service tell
// its user? In a test, use Test in place of New: it runs in virtual time, where waiting for a timeout takes none.
func Example() {
	cluster := cassandratest.New(3)
	defer cluster.Close()
	cluster.Create(schema.Must(schema.Declare(schema.Sets(payments))).In(map[string]string{"": "bank"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "bank"
	s, err := session.Open(config)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	w, err := writer.New(s, writer.Timeout(200*time.Millisecond))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()

	lost := cluster.When(cassandratest.Table("payments")).Do(cassandratest.Apply, cassandratest.Drop)
	fmt.Println(pay(ctx, w, payment{"p1", "ann"}))
	lost.End()

	row, err := writer.Load(ctx, w, "show", payments, payment{PaymentID: "p1"})
	fmt.Println(row, err, lost.Handled() > 0)
	// Output:
	// not known yet
	// {p1 ann} <nil> true
}

// Journal is what was sent, and how often each request was applied.
func ExampleCluster_Journal() {
	cluster := cassandratest.New(1)
	defer cluster.Close()
	cluster.Create(schema.Must(schema.Declare(schema.Sets(payments))).In(map[string]string{"": "bank"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "bank"
	s, err := session.Open(config)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	w, err := writer.New(s)
	if err != nil {
		panic(err)
	}

	first := cluster.When(cassandratest.Table("payments"), cassandratest.Nth(1))
	overloaded := first.Do(cassandratest.Fail(cassandratest.Overloaded))
	_, err = w.Write(context.Background(), "pay", payments.Insert(payment{"p1", "ann"}))
	fmt.Println(err, overloaded.Handled())
	for _, r := range cluster.Journal(cassandratest.Table("payments"), cassandratest.Execute) {
		fmt.Println(r.Kind, r.Applied, r.Steps)
	}
	// Output:
	// <nil> 1
	// EXECUTE 0 [OVERLOADED]
	// EXECUTE 1 [answer]
}

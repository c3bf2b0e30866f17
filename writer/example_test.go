package writer_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type sale struct{ SaleID, UserID, Seat string }

var sales = tables.Must(tables.New[sale]("sale",
	tables.Table{Name: "sales_by_id", PartKey: []string{"sale_id"}},
	tables.Table{Name: "sales_by_user", PartKey: []string{"user_id"}, SortKey: []string{"sale_id"}},
))

// sealFor signs a failed write for a queue that others can write to.
func sealFor(key []byte, failed *writer.Error) ([]byte, error) {
	data, err := failed.MarshalBinary()
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(data)
	return mac.Sum(data), nil
}

// openFrom is the reverse of sealFor. It decodes nothing that was not signed with the key.
func openFrom(key, message []byte) (*writer.Error, error) {
	if len(message) < sha256.Size {
		return nil, errors.New("not a signed write")
	}
	data, sum := message[:len(message)-sha256.Size], message[len(message)-sha256.Size:]
	mac := hmac.New(sha256.New, key)
	mac.Write(data)
	if !hmac.Equal(mac.Sum(nil), sum) {
		return nil, errors.New("not signed with this key")
	}
	failed := new(writer.Error)
	return failed, failed.UnmarshalBinary(data)
}

// A failed write waits in a queue that others can write to. It is signed, and resumed by a writer that knows the sets.
func ExampleError_MarshalBinary_signed() {
	cluster := cassandratest.New(1)
	defer cluster.Close()
	cluster.Create(schema.Must(schema.Declare(schema.Sets(sales))).In(map[string]string{"": "shop"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config, session.LocalDC("dc1"))
	if err != nil {
		panic(err)
	}
	defer s.Close()
	w, err := writer.New(s, writer.Resumes(sales), writer.Retry(retry.Policy{MaxAttempts: 1}))
	if err != nil {
		panic(err)
	}
	fault := cluster.When(cassandratest.Table("sales_by_user")).
		Do(cassandratest.Fail(cassandratest.WriteTimeout("SIMPLE", 0, 1)))
	_, err = w.Write(context.Background(), "sellTicket", sales.Insert(sale{"t1", "bob", "12A"}))

	fault.End()

	key := []byte("a secret of the service, from where it keeps its secrets")
	var failed *writer.Error
	fmt.Println("failed:", errors.As(err, &failed))
	message, err := sealFor(key, failed)
	if err != nil {
		panic(err)
	}
	forged := append([]byte{}, message...)
	forged[len(forged)/2] ^= 1
	_, err = openFrom(key, forged)
	fmt.Println("forged:", err)
	stored, err := openFrom(key, message)
	if err != nil {
		panic(err)
	}
	_, err = w.Resume(context.Background(), stored)
	fmt.Println("resumed:", err)
	// Output:
	// failed: true
	// forged: not signed with this key
	// resumed: <nil>
}

// One switch answers all requests of a service.
func ExampleOutcomeOf() {
	status := func(err error) int {
		switch writer.OutcomeOf(err) {
		case writer.Applied:
			return http.StatusOK
		case writer.Conflict, writer.Taken:
			return http.StatusConflict
		case writer.Invalid:
			return http.StatusUnprocessableEntity
		case writer.NotFound:
			return http.StatusNotFound
		case writer.NotApplied:
			return http.StatusServiceUnavailable
		default: // it may have been applied
			return http.StatusAccepted
		}
	}
	lost := &writer.Error{Op: "sell", Tables: []writer.TableResult{
		{Table: "sales_by_id", Outcome: writer.Applied}, {Table: "sales_by_user", Outcome: writer.NotApplied},
	}}
	fmt.Println(status(nil), status(fmt.Errorf("sell: %w", lost)), status(writer.ErrTaken))
	// Output: 200 202 409
}

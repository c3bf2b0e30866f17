package baskets_test

import (
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// shop is a keyspace that is called customer.
type shop struct {
	t *testing.T
	w *writer.Writer
	r *reader.Reader
}

func open(t *testing.T) *shop {
	t.Helper()
	p := reading.Open(t, 3, baskets.Schema.In(map[string]string{"customer": ""}).Statements()...)
	p.Map(map[string]string{"customer": p.Keyspace})
	s := &shop{t, p.Writer, p.Reader}
	if err := s.w.Check(t.Context(), baskets.Baskets); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) write(w *writer.Writer, op string, c tables.Change) writer.Result {
	s.t.Helper()
	res, err := w.Write(s.t.Context(), op, c)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *shop) want(what string, customer gocql.UUID, want map[gocql.UUID]int32) {
	s.t.Helper()
	got, err := baskets.Of(s.t.Context(), s.r, customer)
	if err != nil {
		s.t.Fatal(err)
	}
	if !maps.Equal(got.Products, want) {
		s.t.Errorf("%s: %v, want %v", what, got.Products, want)
	}
}

func TestBasket(t *testing.T) {
	t.Parallel()
	s := open(t)
	customer, apples, bread := gocql.MustRandomUUID(), gocql.MustRandomUUID(), gocql.MustRandomUUID()
	type products = map[gocql.UUID]int32
	s.want("never used", customer, nil)
	for _, step := range []struct {
		op     string
		change tables.Change
		want   products
	}{
		{"add", baskets.Put(customer, apples, 3), products{apples: 3}},
		{"add another", baskets.Put(customer, bread, 1), products{apples: 3, bread: 1}},
		{"change", baskets.Put(customer, apples, 5), products{apples: 5, bread: 1}},
		{"remove", baskets.Remove(customer, apples), products{bread: 1}},
		{"exchange", baskets.Exchange(customer, bread, apples, 4), products{apples: 4}},
		{"exchange what is not there", baskets.Exchange(customer, gocql.MustRandomUUID(), bread, 2), products{apples: 4, bread: 2}},
		{"exchange back", baskets.Exchange(customer, apples, bread, 1), products{bread: 1}},
		{"remove what is not there", baskets.Remove(customer, apples), products{bread: 1}},
		{"none of it", baskets.Put(customer, bread, 0), nil},
		{"add again", baskets.Put(customer, apples, 2), products{apples: 2}},
		{"clear", baskets.Clear(customer), nil},
		{"clear the empty one", baskets.Clear(customer), nil},
		{"add after that", baskets.Put(customer, bread, 9), products{bread: 9}},
		{"remove the last", baskets.Remove(customer, bread, apples), nil},
	} {
		res := s.write(s.w, step.op, step.change)
		if want := writer.SamePartition; step.change.Kind() == tables.Patch && res.Mode != want {
			t.Errorf("%s: %v, want %v", step.op, res.Mode, want)
		}
		s.want(step.op, customer, step.want)
	}
}

// Nobody reads before writing, so nobody's product is lost, however many write at the same time.
func TestConcurrentPuts(t *testing.T) {
	t.Parallel()
	s := open(t)
	customer, want := gocql.MustRandomUUID(), make(map[gocql.UUID]int32)
	var wait sync.WaitGroup
	for i := range int32(40) {
		product := gocql.MustRandomUUID()
		want[product] = i + 1
		wait.Go(func() {
			if _, err := s.w.Write(t.Context(), "put", baskets.Put(customer, product, i+1)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	s.want("all of them", customer, want)
}

// What arrives late takes the place that its timestamp gives it: before the clear, the removal, the newer number.
func TestLateArrival(t *testing.T) {
	t.Parallel()
	s := open(t)
	customer, apples, bread := gocql.MustRandomUUID(), gocql.MustRandomUUID(), gocql.MustRandomUUID()
	cleared := s.write(s.w, "clear", baskets.Clear(customer)).Timestamp
	s.write(s.w.With(writer.At(cleared-1)), "put", baskets.Put(customer, apples, 1))
	s.want("put before the clear", customer, nil)
	removed := s.write(s.w, "remove", baskets.Remove(customer, apples)).Timestamp
	s.write(s.w.With(writer.At(removed-1)), "put", baskets.Put(customer, apples, 1))
	s.want("put before the removal", customer, nil)
	changed := s.write(s.w, "put", baskets.Put(customer, bread, 2)).Timestamp
	s.write(s.w.With(writer.At(changed-1)), "put", baskets.Put(customer, bread, 1))
	s.want("put before the change", customer, map[gocql.UUID]int32{bread: 2})
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	s := open(t)
	customer := gocql.MustRandomUUID()
	for name, change := range map[string]tables.Change{
		"nobody's basket":          baskets.Put(gocql.UUID{}, customer, 1),
		"removal of nothing":       baskets.Remove(customer),
		"elements of an empty map": baskets.Baskets.Patch(baskets.Basket{CustomerID: customer}, tables.Elements("products")),
		"product of another type":  baskets.Baskets.Patch(baskets.Basket{CustomerID: customer}, tables.Without("products", "apples")),
		"change of the customer":   baskets.Baskets.Patch(baskets.Basket{CustomerID: customer}, tables.Column("customer_id")),
	} {
		if _, err := s.w.Write(t.Context(), "put", change); !errors.Is(err, writer.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	s.want("afterwards", customer, nil)
}

package suite

import (
	"maps"
	"sync"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type basketTests struct{ *Place }

func (p basketTests) want(t *testing.T, what string, customer gocql.UUID, want map[gocql.UUID]int32) {
	t.Helper()
	got := value(baskets.Of(t.Context(), p.Reader, customer))(t)
	wrong(t, !maps.Equal(got.Products, want), "%s: %v, want %v", what, got.Products, want)
}

// Validate finds the table as it is declared.
func (p basketTests) Check(t *testing.T) {
	p.check(t, baskets.Baskets)
}

func (p basketTests) Basket(t *testing.T) {
	customer, apples, bread := gocql.MustRandomUUID(), gocql.MustRandomUUID(), gocql.MustRandomUUID()
	type products = map[gocql.UUID]int32
	p.want(t, "never used", customer, nil)
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
		{
			"exchange what is not there", baskets.Exchange(customer, gocql.MustRandomUUID(), bread, 2),
			products{apples: 4, bread: 2},
		},
		{"exchange back", baskets.Exchange(customer, apples, bread, 1), products{bread: 1}},
		{"remove what is not there", baskets.Remove(customer, apples), products{bread: 1}},
		{"none of it", baskets.Put(customer, bread, 0), nil},
		{"add again", baskets.Put(customer, apples, 2), products{apples: 2}},
		{"clear", baskets.Clear(customer), nil},
		{"clear the empty one", baskets.Clear(customer), nil},
		{"add after that", baskets.Put(customer, bread, 9), products{bread: 9}},
		{"remove the last", baskets.Remove(customer, bread, apples), nil},
	} {
		res := Write(t, p.Writer, step.op, step.change)
		want := writer.SamePartition
		wrong(t, step.change.Kind() == tables.Patch && res.Mode != want, "%s: %v, want %v", step.op, res.Mode, want)
		p.want(t, step.op, customer, step.want)
	}
}

// Nobody reads before writing, so nobody's product is lost, however many write at the same time.
func (p basketTests) ConcurrentPuts(t *testing.T) {
	customer, want := gocql.MustRandomUUID(), make(map[gocql.UUID]int32)
	var wait sync.WaitGroup
	for i := range int32(40) {
		product := gocql.MustRandomUUID()
		want[product] = i + 1
		wait.Go(func() {
			wantError(t, "write", errorOf(p.Writer.Write(t.Context(), "put", baskets.Put(customer, product, i+1))), nil)
		})
	}
	wait.Wait()
	p.want(t, "all of them", customer, want)
}

// What arrives late takes the place that its timestamp gives it: before the clear, the removal, the newer number.
func (p basketTests) LateArrival(t *testing.T) {
	customer, apples, bread := gocql.MustRandomUUID(), gocql.MustRandomUUID(), gocql.MustRandomUUID()
	cleared := Write(t, p.Writer, "clear", baskets.Clear(customer)).Timestamp
	Write(t, p.Writer.With(writer.At(cleared-1)), "put", baskets.Put(customer, apples, 1))
	p.want(t, "put before the clear", customer, nil)
	removed := Write(t, p.Writer, "remove", baskets.Remove(customer, apples)).Timestamp
	Write(t, p.Writer.With(writer.At(removed-1)), "put", baskets.Put(customer, apples, 1))
	p.want(t, "put before the removal", customer, nil)
	changed := Write(t, p.Writer, "put", baskets.Put(customer, bread, 2)).Timestamp
	Write(t, p.Writer.With(writer.At(changed-1)), "put", baskets.Put(customer, bread, 1))
	p.want(t, "put before the change", customer, map[gocql.UUID]int32{bread: 2})
}

func (p basketTests) BadInput(t *testing.T) {
	customer := gocql.MustRandomUUID()
	for name, change := range map[string]tables.Change{
		"nobody's basket":          baskets.Put(gocql.UUID{}, customer, 1),
		"removal of nothing":       baskets.Remove(customer),
		"elements of an empty map": baskets.Baskets.Patch(baskets.Basket{CustomerID: customer}, tables.Elements("products")),
		"product of another type": baskets.Baskets.Patch(baskets.Basket{CustomerID: customer},
			tables.Without("products", "apples")),
		"change of the customer": baskets.Baskets.Patch(baskets.Basket{CustomerID: customer}, tables.Column("customer_id")),
	} {
		wantInvalid(t, p.Writer, name, change)
	}
	p.want(t, "afterwards", customer, nil)
}

package suite

import (
	"context"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Create makes the tables of sets.
func Create(t *testing.T, p *Place, sets ...tables.Described) {
	t.Helper()
	p.ChangeSchema(t, p.Keyspace, schema.Must(schema.Declare(schema.Sets(sets...))).Statements()...)
}

// Insert writes rows, several at a time.
func Insert[T any](t *testing.T, p *Place, set *tables.Set[T], rows []T) {
	t.Helper()
	var wg sync.WaitGroup
	limit := make(chan struct{}, 16)
	for _, row := range rows {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			if _, err := p.Writer.Write(context.WithoutCancel(t.Context()), "insert", set.Insert(row)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// List reads a query whole.
func List[T any](t *testing.T, p *Place, q reader.Query[T]) []T {
	t.Helper()
	rows, _, err := reader.List(t.Context(), p.Reader, "list", q)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Pieces reads a query so many rows at a time, continued by token.
func Pieces[T any](t *testing.T, p *Place, q reader.Query[T], size int) (rows []T, times int) {
	t.Helper()
	var token reader.Token
	for {
		piece, next, err := reader.List(t.Context(), p.Reader, "list", q.Limit(size).After(token))
		if err != nil {
			t.Fatal(err)
		}
		rows, times = append(rows, piece...), times+1
		if token = next; token == "" {
			return rows, times
		}
	}
}

package suite

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Create makes the tables of sets.
func Create(t *testing.T, p *Place, sets ...tables.Described) {
	t.Helper()
	p.ChangeSchema(t, p.Keyspace, schema.Must(schema.Declare(schema.Sets(sets...))).Statements()...)
}

// Write carries out a write that must succeed.
func Write(t *testing.T, w *writer.Writer, op string, changes ...tables.Change) writer.Result {
	t.Helper()
	result, err := w.Write(t.Context(), op, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// wantInvalid makes a change that must be rejected before anything is sent.
func wantInvalid(t *testing.T, w *writer.Writer, what string, change tables.Change) {
	t.Helper()
	if _, err := w.Write(t.Context(), "write", change); !errors.Is(err, writer.ErrInvalid) {
		t.Errorf("%s: %v, want ErrInvalid", what, err)
	}
}

// check wants the tables to be as sets declare them.
func (p *Place) check(t *testing.T, sets ...tables.Described) {
	t.Helper()
	if err := schema.Validate(t.Context(), p.Session, schema.Sets(sets...)); err != nil {
		t.Fatal(err)
	}
}

// exec executes a statement by hand.
func (p *Place) exec(t *testing.T, statement string, values ...any) {
	t.Helper()
	if err := p.Session.Reads().Query(statement, values...).Exec(); err != nil {
		t.Fatal(err)
	}
}

// count is what a SELECT count(*) gives at ALL.
func (p *Place) count(t *testing.T, statement string, values ...any) (rows int) {
	t.Helper()
	if err := p.Session.Reads().Query(statement, values...).Consistency(gocql.All).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// all are the rows of a read that must succeed.
func all[T any](t *testing.T, rows iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
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
	return pages(t, func(token reader.Token) ([]T, reader.Token, error) {
		return reader.List(t.Context(), p.Reader, "list", q.Limit(size).After(token))
	})
}

// pages reads page after page, until there is no token.
func pages[T any](t *testing.T, read func(reader.Token) ([]T, reader.Token, error)) (rows []T, times int) {
	t.Helper()
	for token, more := reader.Token(""), true; more; more = token != "" {
		page, next, err := read(token)
		if err != nil {
			t.Fatal(err)
		}
		rows, token, times = append(rows, page...), next, times+1
	}
	return rows, times
}

package reading_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
)

// create makes the tables of a set, as it describes them.
func create(t *testing.T, p *reading.Place, set tables.Described) {
	t.Helper()
	for _, d := range set.Internal().Describe().Tables {
		createAs(t, p, d, d.Name)
	}
}

func createAs(t *testing.T, p *reading.Place, d entity.TableDescription, name string) {
	t.Helper()
	var columns, part, clustering, order []string
	for _, c := range d.Columns {
		columns = append(columns, c.Name+" "+c.Type)
		switch c.Kind {
		case "partition_key":
			part = append(part, c.Name)
		case "clustering":
			clustering = append(clustering, c.Name)
			if c.Desc {
				order = append(order, c.Name+" DESC")
			} else {
				order = append(order, c.Name+" ASC")
			}
		}
	}
	statement := fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (%s))", name, strings.Join(columns, ", "),
		strings.Join(append([]string{"(" + strings.Join(part, ", ") + ")"}, clustering...), ", "))
	if len(order) > 0 {
		statement += " WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"
	}
	cluster.ChangeSchema(t, p.Keyspace, statement)
}

// insert writes rows, several at a time.
func insert[T any](t *testing.T, p *reading.Place, set *tables.Set[T], rows []T) {
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

func list[T any](t *testing.T, p *reading.Place, q reader.Query[T]) []T {
	t.Helper()
	rows, _, err := reader.List(t.Context(), p.Reader, "list", q)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// pieces reads a query so many rows at a time, continued by token.
func pieces[T any](t *testing.T, p *reading.Place, q reader.Query[T], size int) (rows []T, times int) {
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

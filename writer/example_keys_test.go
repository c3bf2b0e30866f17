package writer_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type viewCount struct {
	Page, Country string
	Views         int64
}

// In a set of counters all columns alongside the keys are of type counter. A table whose key leaves out columns of the
// base key has the sums.
var viewCounts = tables.Must(tables.New[viewCount]("view_count",
	tables.Table{Name: "views_by_country", PartKey: []string{"page"}, SortKey: []string{"country"}},
	tables.Table{Name: "views", PartKey: []string{"page"}},
	tables.Type("views", "counter"),
))

// Add counts in all tables of the set. An Add whose answer was lost is unknown: it is not sent again, as it might count
// twice.
func ExampleWriter_Write_counters() {
	w, s, _, end := openTables(viewCounts)
	defer end()
	ctx := context.Background()

	for _, country := range []string{"at", "nl", "at"} {
		if _, err := w.Write(ctx, "countView",
			viewCounts.Add(viewCount{Page: "home", Country: country, Views: 1})); err != nil {
			fmt.Println(writer.OutcomeOf(err), err)
		}
	}
	var views int64
	err := s.Reads().Query("SELECT views FROM views WHERE page = ?", "home").Scan(&views)
	fmt.Println(views, err)
	// Output: 3 <nil>
}

type account struct {
	ID, Email string
	Version   gocql.UUID
}

// A Unique table has one row, and so one owner, for each address. Only Versioned sets have such tables.
var registered = tables.Must(tables.New[account]("account",
	tables.Table{Name: "accounts", PartKey: []string{"id"}},
	tables.Table{Name: "accounts_by_email", PartKey: []string{"email"}, Unique: true},
	tables.Versioned("version"),
))

// Nobody gets an address that somebody has. An account that changes its address gives up the one it had.
func ExampleWriter_Write_unique() {
	w, _, _, end := openTables(registered)
	defer end()
	ctx := context.Background()

	_, err := w.Write(ctx, "signUp", registered.Insert(account{ID: "ann", Email: "a@example.org"}))
	fmt.Println(err)
	_, err = w.Write(ctx, "signUp", registered.Insert(account{ID: "bob", Email: "a@example.org"}))
	fmt.Println(errors.Is(err, writer.ErrTaken))

	_, err = writer.Modify(ctx, w, "changeEmail", registered, account{ID: "ann"}, func(a account) (account, error) {
		a.Email = "ann@example.org"
		return a, nil
	})
	fmt.Println(err)
	_, err = w.Write(ctx, "signUp", registered.Insert(account{ID: "bob", Email: "a@example.org"}))
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// <nil>
	// <nil>
}

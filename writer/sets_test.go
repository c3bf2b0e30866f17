package writer

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/shop"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
)

type (
	Status = orders.Status
	Order  = orders.Order // stands in three tables, one of them by a status that changes
)

const (
	Open      = orders.Open
	Paid      = orders.Paid
	Shipped   = orders.Shipped
	Cancelled = orders.Cancelled
)

func orderSet(tb testing.TB, more ...tables.Option) *tables.Set[Order] {
	tb.Helper()
	return shop.Orders(tb, more...)
}

// newOrder is an order as it was read, with a stamp that is not ahead of virtual time.
func newOrder(status Status) Order {
	o := shop.NewOrder()
	o.OrderID, o.UserID = mustUUID("8a3c2e10-c6a1-11f0-8de9-0242ac120002"), mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ab")
	o.Status, o.UpdatedAt = status, earliest
	return o
}

// move is an order before and after it is paid.
func move() (before, after Order) { return newOrder(Open), newOrder(Paid) }

// Note stands in two tables with equal partition keys. It may lack a color and tags.
type Note struct {
	UserID  gocql.UUID
	NoteID  gocql.UUID
	Written time.Time
	Color   *string
	Tags    []string
	Text    string
}

func noteSet(tb testing.TB) *tables.Set[Note] {
	tb.Helper()
	return mustSet[Note](tb, "note",
		tables.Table{Name: "notes", PartKey: []string{"user_id"}, SortKey: []string{"note_id"}},
		tables.Table{Name: "notes_by_time", PartKey: []string{"user_id"}, SortKey: []string{"written DESC", "note_id"}},
		tables.Type("tags", "set<text>"),
	)
}

func newNote() Note {
	return Note{
		UserID: mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ab"), NoteID: mustUUID("11111111-5b1c-4c1e-9a51-0123456789ab"),
		Written: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Text: "milk",
	}
}

// Task has one owner at a time, who alone hands it on. It may lack a due date.
type Task struct {
	TaskID gocql.UUID
	Owner  string
	Code   *string
	Due    *time.Time
	Ends   *time.Time
}

func newTask(owner string) Task {
	return Task{TaskID: mustUUID("22222222-5b1c-4c1e-9a51-0123456789ab"), Owner: owner}
}

func taskSet(tb testing.TB, more ...tables.Option) *tables.Set[Task] {
	tb.Helper()
	return mustSet[Task](tb, "task", append([]tables.Option{
		tables.Table{Name: "tasks", PartKey: []string{"task_id"}},
		tables.Table{Name: "tasks_by_owner", PartKey: []string{"owner"}, SortKey: []string{"task_id"}},
	}, more...)...)
}

func mustSet[T any](tb testing.TB, entity string, options ...tables.Option) *tables.Set[T] {
	tb.Helper()
	s, err := tables.New[T](entity, options...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func mustUUID(s string) gocql.UUID {
	u, err := gocql.ParseUUID(s)
	if err != nil {
		panic(err)
	}
	return u
}

func ptr[T any](v T) *T { return &v }

func long(n int) string { return strings.Repeat("x", n) }

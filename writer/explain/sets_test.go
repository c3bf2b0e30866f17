package explain

import (
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/tables"
)

// Note stands in two tables with equal partition keys. It may lack a color and tags.
type Note struct {
	UserID  gocql.UUID
	NoteID  gocql.UUID
	Written time.Time
	Color   *string
	Tags    []string
	Text    string
}

// Task has one owner at a time, who alone hands it on. It may lack a due date.
type Task struct {
	TaskID gocql.UUID
	Owner  string
	Code   *string
	Due    *time.Time
	Ends   *time.Time
}

// View counts in three tables. Two of them share their partition key.
type View struct {
	PageID gocql.UUID
	At     time.Time
	Region string
	Views  int64
	Likes  int64
}

// Piece is versioned, and stands in two tables.
type Piece struct {
	ItemID  gocql.UUID
	Shelf   string
	Count   int32
	Version gocql.UUID
}

// bench is a row of a hall with seats in it.
type bench struct {
	Hall  string
	Seat  int32
	Count int32
}

// newOrder is an order as it was read, with a stamp that is not ahead of virtual time.
func newOrder(status orders.Status) orders.Order {
	o := shop.NewOrder()
	o.OrderID, o.UserID = mustUUID("8a3c2e10-c6a1-11f0-8de9-0242ac120002"),
		mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ab")
	o.Status, o.UpdatedAt = status, 946_684_800_000_000
	return o
}

// move is an order before and after it is paid.
func move() (before, after orders.Order) { return newOrder(orders.Open), newOrder(orders.Paid) }

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

func viewSet(tb testing.TB) *tables.Set[View] {
	tb.Helper()
	return mustSet[View](tb, "view",
		tables.Table{Name: "views", PartKey: []string{"page_id"}},
		tables.Table{Name: "views_by_day", PartKey: []string{"page_id"}, SortKey: []string{"day DESC"}},
		tables.Table{Name: "views_by_region", PartKey: []string{"region"}},
		tables.Derive("day", tables.Day("at")),
		tables.Type("views", "counter"), tables.Type("likes", "counter"),
	)
}

func newView() View {
	return View{
		PageID: mustUUID("44444444-5b1c-4c1e-9a51-0123456789ab"), At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Region: "eu", Views: 1, Likes: -2,
	}
}

func itemSet(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "items_by_shelf", PartKey: []string{"shelf"}, SortKey: []string{"item_id"}},
		tables.Versioned("version"),
	)
}

// seatSet is changed by Compare.
func seatSet(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "seat", tables.Table{Name: "seats", PartKey: []string{"item_id"}}, tables.Compare("count"))
}

func newItem() Piece {
	return Piece{
		ItemID: mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ab"), Shelf: "a",
		Version: entity.Version(time.Now().Add(-time.Second).UnixMicro(), 1),
	}
}

func benchSet(tb testing.TB) *tables.Set[bench] {
	tb.Helper()
	return mustSet[bench](tb, "bench",
		tables.Table{Name: "benches", PartKey: []string{"hall"}, SortKey: []string{"seat"}}, tables.Compare("count"))
}

// transactionalItems is itemSet with a unique shelf, in transactions of Cassandra 6.
func transactionalItems(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "items_by_count", PartKey: []string{"count"}, SortKey: []string{"item_id"}},
		tables.Table{Name: "item_of_shelf", PartKey: []string{"shelf"}, Unique: true},
		tables.Versioned("version"), tables.Transactional(),
	)
}

package turn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// The contenders by which commits are compared, and the contenders of the gate alone.
var (
	Compared = []string{"createOrder", "createOrder, Group", "move, OneOf", "update, Versioned", "newest ten of ten buckets"}
	Gated    = append(slices.Clone(Compared), "one row")
)

// Contenders are all.
var Contenders = slices.Concat(creating, changing, reading)

var creating = []Contender{
	creates("createOrder"),
	creates("createOrder, Group", group),
	creates("createOrder, Logged", writer.Logged()),
	{Name: "createOrder, traced", Open: func(ctx context.Context, p *Place) (Prepare, error) {
		traced := p.Session.With(session.Trace(tracing.New( // records, exports nowhere
			tracing.WithTracerProvider(sdktrace.NewTracerProvider()),
			tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))),
		)))
		return creates("", writer.Session(traced)).Open(ctx, p)
	}},
	createsByHand("one INSERT by hand", byHand.single),
	createsByHand("fan-out by hand", byHand.fanOut),
	createsByHand("unlogged batch by hand", batchByHand(gocql.UnloggedBatch)),
	createsByHand("logged batch by hand", batchByHand(gocql.LoggedBatch)),
	createsByHand("INSERT with two materialized views", byHand.viewed),
}

var group = writer.Group(4 << 10)

func creates(name string, options ...writer.Option) Contender {
	return insertsOf(name, "createOrder", orders.Orders, newOrder, options...)
}

func newOrder() orders.Order { return orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2)) }

// ofEach prepares something new for each operation.
func ofEach[T any](fresh func() T, do func(context.Context, *T) error) Prepare {
	return func(_ context.Context, n int) (func(context.Context, int) error, error) {
		list := make([]T, n)
		for i := range list {
			list[i] = fresh()
		}
		return func(ctx context.Context, i int) error { return do(ctx, &list[i]) }, nil
	}
}

// item is what is changed: two tables, by id and by status.
type item struct {
	ItemID    gocql.UUID
	Status    string
	Email     string
	Note      string
	UpdatedAt int64
	Version   gocql.UUID
}

func newItem() item {
	id := gocql.MustRandomUUID()
	return item{ItemID: id, Status: "open", Email: id.String() + "@example.org", Note: notes[0]}
}

// The changes: nobody else writes the item.
var notes = [2]string{"a note of some length", "another note of some length"}

func note(i *item) { i.Note = other(i.Note, notes) }
func move(i *item) { i.Status = other(i.Status, [2]string{"open", "paid"}) }

func other(now string, of [2]string) string {
	if now == of[0] {
		return of[1]
	}
	return of[0]
}

func items(prefix string, rules ...tables.Option) *tables.Set[item] {
	return tables.Must(tables.New[item](prefix, append([]tables.Option{
		tables.Table{Name: prefix + "_by_id", PartKey: []string{"item_id"}},
		tables.Table{Name: prefix + "_by_status", PartKey: []string{"status"}, SortKey: []string{"item_id"}},
	}, rules...)...))
}

var (
	version    = tables.Versioned("version")
	plain      = items("plain")
	oneOf      = tables.OneOf("status", "open", "paid", "shipped", "cancelled")
	oneOfItems = items("one_of", oneOf, tables.Stamp("updated_at"))
	versioned  = items("versioned", version)
)

var changing = []Contender{
	insertsByHand("insert by hand", byHand.together),
	inserts("insert", plain),
	inserts("insert, Group", plain, writer.Concurrent(), group),
	inserts("insert, OneOf", oneOfItems),
	insertsByHand("insert if not exists by hand", byHand.insertIfNotExists),
	inserts("insert, Versioned", versioned),
	inserts("insert, Versioned, Unique", items("unique_items", version,
		tables.Table{Name: "unique_items_of_email", PartKey: []string{"email"}, Unique: true})),
	updatesByHand("update by hand", note, byHand.together),
	updates("update", plain, note),
	updates("update, Group", plain, note, writer.Concurrent(), group),
	updates("update, OneOf", oneOfItems, note),
	updates("update, OneOf, Concurrent", oneOfItems, note, writer.Concurrent()),
	updates("update, OneOf, Concurrent, Group", oneOfItems, note, writer.Concurrent(), group),
	updatesByHand("move by hand, logged batch", move, byHand.inBatch),
	updates("move, SingleWriter", items("single", tables.SingleWriter("status")), move),
	updates("move, OneOf", oneOfItems, move),
	updates("move, OneOf, Concurrent, Group", oneOfItems, move, writer.Concurrent(), group),
	updatesByHand("compare-and-set by hand", note, byHand.compareAndSet),
	updates("update, Versioned", versioned, note),
	updatesByHand("move by hand, compare-and-set", move, byHand.compareAndSet),
	updates("move, Versioned", versioned, move),
}

func inserts(name string, s *tables.Set[item], options ...writer.Option) Contender {
	return insertsOf(name, "createItem", s, newItem, options...)
}

func insertsOf[T any](name, op string, s *tables.Set[T], fresh func() T, options ...writer.Option) Contender {
	return Contender{Name: name, Open: func(ctx context.Context, p *Place) (Prepare, error) {
		w := p.Writer.With(options...)
		return ofEach(fresh, func(ctx context.Context, entity *T) error {
			_, err := w.Write(ctx, op, s.Insert(*entity))
			return err
		}), p.Ensure(ctx, schema.Sets(s))
	}}
}

func updates(name string, s *tables.Set[item], edit func(*item), options ...writer.Option) Contender {
	return Contender{Name: name, Open: func(ctx context.Context, p *Place) (Prepare, error) {
		w := p.Writer.With(options...)
		written := func(i *item, r writer.Result) {
			s.SetStamp(i, r.Timestamp)
			if r.Version != (gocql.UUID{}) {
				i.Version = r.Version
			}
		}
		return again(func(ctx context.Context, i *item) error {
			result, err := w.Write(ctx, "createItem", s.Insert(*i))
			written(i, result)
			return err
		}, func(ctx context.Context, i *item) error {
			after := *i
			edit(&after)
			result, err := w.Write(ctx, "changeItem", s.Update(*i, after))
			*i = after
			written(i, result)
			return err
		}), p.Ensure(ctx, schema.Sets(s))
	}}
}

// again changes the same items in each turn. In a turn no item is changed twice.
func again(insert, change func(context.Context, *item) error) Prepare {
	var list []item
	return func(ctx context.Context, n int) (func(context.Context, int) error, error) {
		begin := len(list)
		for len(list) < n {
			list = append(list, newItem())
		}
		err := parallel.Do(16, len(list)-begin, func(i int) error { return insert(ctx, &list[begin+i]) })
		return func(ctx context.Context, i int) error { return change(ctx, &list[i]) }, err
	}
}

const buckets = 10

// measurement is a row of a stream in ten buckets.
type measurement struct {
	Stream string
	Ts     gocql.UUID
	Value  float64
	Note   string
}

// measurements is the stream.
var measurements = tables.Must(tables.New[measurement]("measurement",
	tables.Table{Name: "measurements", PartKey: []string{"stream", "hour", "bucket"}, SortKey: []string{"ts DESC"}},
	tables.Derive("hour", tables.Hour("ts")),
	tables.Derive("bucket", tables.Hash(buckets, "ts")),
	tables.Type("ts", "timeuuid"),
))

// begins is the first moment of the stream.
var begins = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

// streamName is the key of the stream.
const streamName = "plant-7"

var reading = []Contender{
	reads("newest ten of ten buckets", 4, func(ctx context.Context, p *Place) (int, error) { return list(ctx, p, "newest", streamed.Limit(10)) }),
	reads("ten reads by hand, sorted", 4, newestByHand(true)),
	reads("ten reads by hand, not merged", 4, newestByHand(false)),
	reads("one IN of ten buckets by hand", 4, newestByIn),
	reads("one row", 1, func(ctx context.Context, p *Place) (int, error) {
		return list(ctx, p, "one", reader.From(rare, "rare_by_id").Eq("item_id", rareItem.ItemID))
	}),
}

var (
	streamed = reader.From(measurements, "measurements").Eq("stream", streamName).GtOrEq("ts", begins).Lt("ts", begins.Add(time.Hour)).OrderBy("ts DESC")
	rare     = items("rare")
	rareItem = newItem()
)

func list[T any](ctx context.Context, p *Place, op string, q reader.Query[T]) (int, error) {
	rows, _, err := reader.List(ctx, p.Reader, op, q)
	return len(rows), err
}

// reads makes a contender that reads rows of the stream.
func reads(name string, slow int, read func(context.Context, *Place) (rows int, err error)) Contender {
	return Contender{Name: name, Slow: slow, Open: func(ctx context.Context, p *Place) (Prepare, error) {
		var first sync.Once
		err := p.Ensure(ctx, schema.Sets(measurements, rare))
		return func(ctx context.Context, _ int) (func(context.Context, int) error, error) {
			first.Do(func() { err = load(ctx, p) })
			want := 0
			if err == nil {
				want, err = read(ctx, p)
			}
			return func(ctx context.Context, _ int) error {
				rows, err := read(ctx, p)
				if err == nil && (rows != want || rows == 0) {
					err = errOther
				}
				return err
			}, err
		}, err
	}}
}

// load writes an hour of the stream, the same whenever it is called, and an item.
func load(ctx context.Context, p *Place) error {
	const rows = 400
	_, err := p.Writer.Write(ctx, "load", rare.Insert(rareItem))
	return errors.Join(err, parallel.Do(8, rows, func(i int) error {
		ts := gocql.UUIDFromTime(begins.Add(time.Duration(i) * time.Hour / rows))
		copy(ts[8:], []byte{0x80, 0, 0, 0, 0, 0, 0, 1}) // clock and node: the same whenever it is written
		m := measurement{streamName, ts, float64(i), "sixty bytes, about as long as the note of a measurement is!"}
		_, err := p.Writer.Write(ctx, "load", measurements.Insert(m))
		return err
	}))
}

package warnings

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
)

// item is a row of ten partitions, as many as a group may have, with small columns and one of any size.
type item struct {
	ID, Brand, Maker, Shop, Shelf, Box, Lot, Code, Label, Parcel int32
	A, B                                                         *int32
	Text                                                         string
}

var items = tables.Must(tables.New[item]("item", itemTables()...))

func itemTables() (all []tables.Option) {
	all = append(all, tables.Table{Name: "items", PartKey: []string{"id"}})
	for _, column := range []string{"brand", "maker", "shop", "shelf", "box", "lot", "code", "label", "parcel"} {
		all = append(all, tables.Table{Name: "items_by_" + column, PartKey: []string{column}, SortKey: []string{"id"}})
	}
	return all
}

func newItem(text int) item {
	n := rand.Int32N(1 << 30)
	return item{n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, &n, &n, strings.Repeat("x", text)}
}

// event is a row of a partition that many share.
type event struct {
	Source, ID gocql.UUID
	Text       string
}

var events = tables.Must(tables.New[event]("event", tables.Table{Name: "events", PartKey: []string{"source"}, SortKey: []string{"id"}}))

// batches keeps how many statements the batches of a session had.
type batches struct {
	mu   sync.Mutex
	sent []int
}

// ObserveBatch implements gocql.BatchObserver.
func (b *batches) ObserveBatch(_ context.Context, o gocql.ObservedBatch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, len(o.Statements))
}

func (b *batches) take() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent := b.sent
	b.sent = nil
	return sent
}

// The largest requests that the library sends without being told to are below what the nodes warn of: groups of ten
// partitions and 4 KiB, bulk writes of 64 rows or 32 KiB of a partition, logged batches, transactions. That the logs
// would show it is seen from batches by hand that are a little larger.
func TestNoWarnings(t *testing.T) {
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3, schema.Add(schema.Must(schema.Declare(schema.Sets(items, events))), orders.Schema, users.Schema).Statements()...)
	l := library{batches: new(batches)}
	writes := cluster.Session(t, keyspace, func(c *gocql.ClusterConfig) {
		session.Configure(c, "")
		c.BatchObserver = l.batches
	})
	s := testsession.New(t, writes, cluster.Session(t, keyspace))
	patient := retry.Policy{AttemptTimeout: 20 * time.Second, MaxElapsedTime: time.Minute}
	w, err := writer.New(s, writer.Group(4<<10), writer.Timeout(2*time.Minute), writer.Retry(patient))
	if err != nil {
		t.Fatal(err)
	}
	l.Writer = w
	if err := w.Warm(t.Context(), items, events, orders.Orders, users.Users); err != nil {
		t.Fatal(err)
	}
	text := largest(t, w)
	nodes := byHand(t, keyspace)

	// A node warns of the partitions of unlogged batches once a minute, whoever sends them: another test may have had it
	// do so.
	for range 3 {
		mark := cluster.MarkLogs(t)
		for range 10 { // so that each node coordinates some
			l.groups(t, text)
		}
		l.rowsOfAPartition(t, 300, 64)
		l.rowsOfAPartition(t, 2000, 15)
		l.changes(t)
		library := mark.Warnings(t)

		told := true
		for i, node := range nodes {
			told = node.warned(t, i, keyspace) && told
		}
		for i, all := range mark.Warnings(t) {
			for _, warning := range slices.Concat(library[i], all) {
				if strings.Contains(warning, keyspace) && !strings.Contains(warning, keyspace+".by_hand") {
					t.Errorf("node %d: %s", i+1, warning)
				}
			}
		}
		if told || t.Failed() {
			return
		}
		t.Log("a node has warned of an unlogged batch within the last minute, and would have kept silent: all again in a minute")
		time.Sleep(time.Minute)
	}
	t.Error("the nodes do not warn of batches of too many partitions")
}

// library is a writer whose batches are counted.
type library struct {
	*writer.Writer

	batches *batches
}

// largest is the length of the largest text of which all ten rows are still sent in one group.
func largest(t *testing.T, w *writer.Writer) int {
	t.Helper()
	one := func(text int) bool {
		plan, err := explained.Of(w.Internal().Explain("addItem", items.Insert(newItem(text))))
		if err != nil {
			t.Fatal(err)
		}
		return len(plan.Requests) == 1 && plan.Requests[0].Partitions == 10
	}
	text := 0
	for ; one(text); text++ {
		if text > 4<<10 {
			t.Fatal("a group has no limit")
		}
	}
	if text == 0 {
		t.Fatal("ten small rows are not sent together")
	}
	return text - 1
}

func (l *library) groups(t *testing.T, text int) {
	t.Helper()
	l.batches.take()
	if _, err := l.Write(t.Context(), "addItem", items.Insert(newItem(text))); err != nil {
		t.Fatal(err)
	}
	if sent := l.batches.take(); !slices.Equal(sent, []int{10}) {
		t.Errorf("batches of %v statements, want one of 10", sent)
	}
}

// rowsOfAPartition writes rows with a text each, of which some batch is to have so many.
func (l *library) rowsOfAPartition(t *testing.T, text, want int) {
	t.Helper()
	l.batches.take()
	var source iter.Seq2[bulk.Item, error] = func(yield func(bulk.Item, error) bool) {
		partition := gocql.MustRandomUUID()
		for range 1000 {
			change := events.Insert(event{partition, gocql.MustRandomUUID(), strings.Repeat("x", text)})
			if !yield(bulk.Item{Change: change}, nil) {
				return
			}
		}
	}
	run := bulk.WriteAll(t.Context(), l.Writer, "importEvents", source)
	for done := range run.All() {
		if done.Err != nil {
			t.Fatal(done.Err)
		}
	}
	if err := run.Err(); err != nil {
		t.Fatal(err)
	}
	if most := slices.Max(append(l.batches.take(), 0)); most < want {
		t.Errorf("the largest batch has %d rows of %d bytes, want %d", most, text, want)
	}
}

// changes moves an order by a logged batch, and a user by transactions.
func (l *library) changes(t *testing.T) {
	t.Helper()
	for range 10 {
		o := orders.New(gocql.MustRandomUUID(), inf.NewDec(1999, 2))
		res, err := l.Write(t.Context(), "createOrder", orders.Orders.Insert(o))
		if err != nil {
			t.Fatal(err)
		}
		o.UpdatedAt = res.Timestamp
		paid := o
		paid.Status = orders.Paid
		res, err = l.Write(t.Context(), "payOrder", orders.Orders.Update(o, paid))
		if err != nil || res.Mode != writer.LoggedBatch && res.Mode != writer.Fallback { // the latter after a logged batch that timed out
			t.Fatal(res.Mode, err)
		}
		u, err := users.SignUp(t.Context(), l.Writer, users.User{UserID: gocql.MustRandomUUID(), Email: gocql.MustRandomUUID().String(), Name: "Ada"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := users.ChangeEmail(t.Context(), l.Writer, u.UserID, gocql.MustRandomUUID().String()); err != nil {
			t.Fatal(err)
		}
	}
}

// hand sends batches to one node.
type hand struct{ *gocql.Session }

func byHand(t *testing.T, keyspace string) (nodes []hand) {
	t.Helper()
	cluster.ChangeSchema(t, keyspace, "CREATE TABLE by_hand (id int PRIMARY KEY, text text)")
	for _, host := range cluster.Hosts(t) {
		nodes = append(nodes, hand{cluster.Session(t, keyspace, func(c *gocql.ClusterConfig) {
			c.Hosts, c.HostFilter = []string{host}, gocql.WhiteListHostFilter(host)
		})})
	}
	return nodes
}

// warned has the node warn of the size of a batch, and says whether it has also warned of one of eleven partitions.
func (h hand) warned(t *testing.T, node int, keyspace string) bool {
	t.Helper()
	mark := cluster.MarkLogs(t)
	h.send(t, 11, 1)
	h.send(t, 2, 3<<10)
	size := fmt.Sprintf("Batch for [%s.by_hand] is of size", keyspace)
	has := func(log []string, text string) bool {
		return slices.ContainsFunc(log, func(w string) bool { return strings.Contains(w, text) && strings.Contains(w, keyspace+".by_hand") })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		log := mark.Warnings(t)[node]
		if has(log, size) {
			return has(log, "Unlogged batch covering 11 partitions")
		}
		select {
		case <-time.After(100 * time.Millisecond): // logs of containers come later
		case <-ctx.Done():
			t.Fatalf("node %d has not warned of a batch of 6 KiB: %q", node+1, log)
		}
	}
}

func (h hand) send(t *testing.T, partitions, bytes int) {
	t.Helper()
	b := h.NewBatch(gocql.UnloggedBatch).WithContext(t.Context())
	for i := range partitions {
		b.Query("INSERT INTO by_hand (id, text) VALUES (?, ?)", i, strings.Repeat("x", bytes))
	}
	if err := h.ExecuteBatch(b); err != nil {
		t.Fatal(err)
	}
}

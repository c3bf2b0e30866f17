package suite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

type readTests struct{ *Place }

type keyed[V any] struct {
	Side  string // one: all rows in one bucket; many: spread over five
	Shard int64
	Value V
	ID    int64
}

// The reader merges by an order of its own, which must be the server's, for every type that can be a clustering column.
// The same rows stand in a single partition, sorted by the server, and in buckets, merged by the reader. Values are
// chosen where orders differ: signs, lengths, bytes that are read signed in a timeuuid.
func (p readTests) MergesInTheServersOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	bytes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	someUUID := func(version byte) (u gocql.UUID) {
		copy(u[:], bytes(16))
		u[0], u[6] = u[0]%4, u[6]&0x0f|version<<4 // equal times now and then
		if version == 1 && rnd.IntN(2) == 0 {
			copy(u[:8], []byte{1, 2, 3, 4, 5, 6, 0x11, 8})
		}
		return u
	}
	now := time.Now().Truncate(time.Millisecond)
	columns := []orderedColumn{
		ordered("tiny", "tinyint", func() int8 { return int8(rnd.Uint32()) }),
		ordered("small", "smallint", func() int16 { return int16(rnd.Uint32()) }),
		ordered("int", "int", func() int32 { return rnd.Int32N(400) - 200 }),
		ordered("big", "bigint", func() int64 { return int64(rnd.Uint64()) }),
		ordered("varint", "varint", func() big.Int {
			n := new(big.Int).SetBytes(bytes(1 + rnd.IntN(10)))
			if rnd.IntN(2) == 0 {
				n.Neg(n)
			}
			return *n
		}),
		ordered("float", "float", func() float32 { return float32(rnd.NormFloat64()) }),
		ordered("double", "double", func() float64 {
			return []float64{
				rnd.NormFloat64() * 1e100, rnd.NormFloat64(), math.Inf(1), math.Inf(-1), 0,
				math.Copysign(0, -1),
			}[rnd.IntN(6)]
		}),
		ordered("text", "text", func() string {
			return []string{"a", "A", "é", "ÿ", "z", "\U0001f600", "￿", "aa"}[rnd.IntN(8)] + string(rune(32+rnd.IntN(900)))
		}),
		ordered("blob", "blob", func() []byte { return bytes(1 + rnd.IntN(3)) }),
		ordered("boolean", "boolean", func() bool { return rnd.IntN(2) == 0 }),
		ordered("timestamp", "timestamp", func() time.Time {
			return now.Add(time.Duration(rnd.Int64N(1e18)-5e17) * 4).UTC()
		}),
		ordered("date", "date", func() time.Time {
			return now.AddDate(0, 0, rnd.IntN(80_000)-40_000).Truncate(24 * time.Hour).UTC()
		}),
		ordered("time", "time", func() int64 { return rnd.Int64N(24 * 3600 * 1e9) }),
		ordered("timeuuid", "timeuuid", func() gocql.UUID { return someUUID(1) }),
		ordered("uuid", "uuid", func() gocql.UUID { return someUUID(byte([]int{1, 1, 4, 7, 3}[rnd.IntN(5)])) }),
		ordered("inet", "inet", func() net.IP { return bytes([]int{4, 16}[rnd.IntN(2)]) }),
		ordered("list", "frozen<list<int>>", func() []int32 {
			out := make([]int32, 1+rnd.IntN(3))
			for i := range out {
				out[i] = rnd.Int32N(4) - 2
			}
			return out
		}),
	}
	Create(t, p.Place, each(columns, func(c orderedColumn) tables.Described { return c.set })...)
	for _, c := range columns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, p.Place)
		})
	}
}

// orderedColumn is a set with a clustering column of a type, and the test of its order.
type orderedColumn struct {
	name string
	set  tables.Described
	test func(t *testing.T, p *Place)
}

func ordered[V any](name, cql string, draw func() V) orderedColumn {
	set := tables.Must(tables.New[keyed[V]]("keyed",
		tables.Table{Name: "by_" + name, PartKey: []string{"side", "bucket"}, SortKey: []string{"value DESC", "id"}},
		tables.Derive("bucket", tables.Hash(5, "shard")), tables.Type("value", cql)))
	var rows []keyed[V]
	for i := range int64(count) {
		v := draw()
		rows = append(rows, keyed[V]{"one", 0, v, i}, keyed[V]{"many", i, v, i})
	}
	return orderedColumn{name, set, func(t *testing.T, p *Place) {
		Insert(t, p, set, rows)
		one, many := reader.From(set, "by_"+name).Eq("side", "one"), reader.From(set, "by_"+name).Eq("side", "many")
		for _, order := range []string{"value DESC", "value ASC"} {
			want := ids(List(t, p, one.OrderBy(order)))
			if len(want) != count {
				t.Fatalf("%s: %d rows, want %d", name, len(want), count)
			}
			wantRows(t, name+" "+order+", merged", ids(List(t, p, many.OrderBy(order))), want)
			pieces, n := Pieces(t, p, many.OrderBy(order), 7)
			wantRows(t, name+" "+order+", in pieces", ids(pieces), want)
			wrong(t, n != 9, "%s %s: %d pieces", name, order, n)
		}
	}}
}

const count = 60 // values of a column

func ids[V any](rows []keyed[V]) []int64 {
	return each(rows, func(r keyed[V]) int64 { return r.ID })
}

// Doc is kept under versions, many of them in a partition of the base table.
type Doc struct {
	Tenant  string
	N       int
	Title   string
	Label   *string // unique in its tenant, if there is one
	Version gocql.UUID
}

var docs = tables.Must(tables.New[Doc]("doc",
	tables.Table{Name: "docs", PartKey: []string{"tenant"}, SortKey: []string{"n"}},
	tables.Table{Name: "docs_by_title", PartKey: []string{"title"}, SortKey: []string{"tenant", "n"}},
	tables.Table{Name: "docs_by_n", PartKey: []string{"n"}, SortKey: []string{"tenant"}},
	tables.Table{Name: "docs_by_label", PartKey: []string{"tenant"}, SortKey: []string{"label"}, Unique: true},
	tables.Versioned("version"),
))

// A deleted entity of a Versioned set is no row, and pages and tokens go on behind it.
func (p readTests) DeletedEntitiesAreNoRows(t *testing.T) {
	p.check(t, docs)
	var want []int
	for n := range 30 {
		d := Doc{Tenant: "a", N: n, Title: "x"}
		d.Version = Write(t, p.Writer, "create", docs.Insert(d)).Version
		if n%10 == 7 {
			want = append(want, n)
			continue
		}
		Write(t, p.Writer, "delete", docs.Delete(d))
	}
	small := p.reading(reader.PageSize(4))
	for _, limit := range []int{0, 1, 2, 3, 10} {
		rows, _ := Pieces(t, small, reader.From(docs, "docs").Eq("tenant", "a"), limit)
		wantRows(t, fmt.Sprint("limit ", limit), each(rows, func(d Doc) int { return d.N }), want)
	}
}

// Ticket moves between states under a single writer, by promise, which the tests break.
type Ticket struct {
	Desk  string
	N     int
	State string
	Title string // not in tickets_by_state
}

var (
	tickets = declareTickets("tickets", tables.Table{Name: "tickets", PartKey: []string{"desk", "n"}})
	// Of shelf tickets many have their base rows in one partition.
	shelfTickets = declareTickets("shelf", tables.Table{Name: "shelf", PartKey: []string{"desk"}, SortKey: []string{"n"}})
)

func declareTickets(name string, base tables.Table) *tables.Set[Ticket] {
	return tables.Must(tables.New[Ticket](name, base,
		tables.Table{
			Name: name + "_by_state", PartKey: []string{"state", "shard"}, SortKey: []string{"n DESC", "desk"},
			Columns: []string{},
		},
		tables.SingleWriter("state"), tables.Derive("shard", tables.Hash(3, "n"))))
}

var ticketStates = []string{"new", "open", "done"}

// inState are those of tickets that are in a state, in the order of the query table.
func inState(all []Ticket, state string) []Ticket {
	out := slices.DeleteFunc(slices.Clone(all), func(t Ticket) bool { return t.State != state })
	slices.SortFunc(out, func(a, b Ticket) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Desk, b.Desk)) })
	return out
}

// A SingleWriter set in which ghosts were planted, and tickets moved by two writers at a time, shows no ghost to a
// confirmed query, and limits and tokens count what is confirmed. What was left out is handed over, once.
func (p readTests) ConfirmedShowsNoGhosts(t *testing.T) {
	for name, set := range map[string]*tables.Set[Ticket]{"tickets": tickets, "shelf": shelfTickets} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, ghosts := p.haunt(t, name, set)
			for _, state := range ticketStates {
				query := reader.From(set, name+"_by_state").Eq("state", state)
				plain := List(t, p.Place, query)
				n := len(inState(want, state))
				wrong(t, len(plain) <= n+4, "%s: %d rows are not confirmed: there are too few ghosts, so the test says nothing",
					state, len(plain)-n)
				for _, limit := range []int{0, 1, 7, 1000} {
					p.readConfirmed(t, query, state, limit, inState(want, state), ghosts)
				}
			}
		})
	}
}

// readConfirmed reads a state page by page.
func (p readTests) readConfirmed(t *testing.T, query reader.Query[Ticket], state string, limit int, want []Ticket,
	ghosts int,
) {
	t.Helper()
	var got, left []Ticket
	query = query.Limit(limit).Confirm(func(row Ticket) { left = append(left, row) })
	for token, more := reader.Token(""), true; more; more = token != "" {
		rows, next, err := reader.List(t.Context(), p.Reader.With(reader.PageSize(5)), "list", query.After(token))
		must(t, err)
		wrong(t, len(rows) < limit && len(got)+len(rows) < len(want),
			"%s, limit %d: a page of %d rows, and more come after it", state, limit, len(rows))
		got, token = append(got, rows...), next
	}
	wantRows(t, fmt.Sprintf("%s, limit %d", state, limit), got, want)
	seen := make(map[string]bool)
	for _, row := range left {
		key := fmt.Sprint(row.Desk, row.N)
		wrong(t, row.State != state || slices.ContainsFunc(want, func(x Ticket) bool {
			return x.Desk == row.Desk && x.N == row.N
		}) || seen[key],
			"%s, limit %d: %v was handed over as not confirmed", state, limit, row)
		seen[key] = true
	}
	wrong(t, len(seen) < 5 || len(seen) > ghosts, "%s, limit %d: %d rows were handed over as not confirmed", state, limit,
		len(seen))
}

// haunt fills the tables, moves tickets by two writers at a time, plants ghosts, and gives the tickets as their base
// rows have them.
func (p readTests) haunt(t *testing.T, name string, set *tables.Set[Ticket]) (want []Ticket, ghosts int) {
	t.Helper()
	var moves sync.WaitGroup
	for n := range 45 {
		was := Ticket{Desk: fmt.Sprintf("%s%d", name, n%2), N: n / 2, State: "new", Title: fmt.Sprint("t", n)}
		Write(t, p.Writer, "create", set.Insert(was))
		want = append(want, was)
		if n%3 == 0 {
			continue
		}
		for _, state := range [][]string{{"open", "done"}, {"open", "new"}}[n%2] {
			moves.Go(func() {
				is := was
				is.State = state
				wantError(t, "write", errorOf(p.Writer.Write(t.Context(), "move", set.Update(was, is))), nil)
			})
		}
	}
	moves.Wait()
	session := p.Session.Reads()
	for i := range want {
		x := &want[i]
		must(t, session.Query(`SELECT state FROM `+name+` WHERE desk = ? AND n = ?`, x.Desk, x.N).Scan(&x.State))
	}
	plant := func(state, desk string, n int) {
		m := value(set.Insert(Ticket{Desk: desk, N: n, State: state}).Internal().Render(1, nil))(t)
		last := m.Mutations[len(m.Mutations)-1] // that of the query table
		must(t, session.Query(last.Statement, last.Args...).Exec())
		ghosts++
	}
	for n := range 30 {
		plant(ticketStates[n%3], name+"9", n) // without a base row
		if x := want[n]; x.State != ticketStates[n%3] {
			plant(ticketStates[n%3], x.Desk, x.N) // whose base row has another state
		}
	}
	return want, ghosts + len(want)
}

// The row of a deleted entity is not confirmed while its base row is a fence, nor when that is gone.
func (p readTests) DeletedEntitiesAreNotConfirmed(t *testing.T) {
	for n := range 10 {
		d := Doc{Tenant: "confirmed", N: n, Title: "shared"}
		d.Version = Write(t, p.Writer, "create", docs.Insert(d)).Version
		if n%3 == 0 {
			continue
		}
		Write(t, p.Writer, "delete", docs.Delete(d))
		late := gocql.TimeUUID() // as of a write that was under way, with a timestamp above that of the delete
		for _, table := range []string{"docs_by_title", "docs_by_n"} {
			p.exec(t, `INSERT INTO `+table+` (title, tenant, n, version) VALUES (?, ?, ?, ?)`,
				d.Title, d.Tenant, d.N, late)
		}
	}
	query := reader.From(docs, "docs_by_title").Eq("title", "shared")
	if plain := List(t, p.Place, query); len(plain) != 10 {
		t.Fatalf("%d rows that are not confirmed: the test says nothing", len(plain))
	}
	left := 0
	rows := List(t, p.Place, query.Confirm(func(Doc) { left++ }))
	for _, d := range rows {
		current := (Doc{"confirmed", d.N, "shared", nil, d.Version})
		wrong(t, d != current || d.Version == (gocql.UUID{}), "%+v", d)
	}
	wantRows(t, "documents", each(rows, func(d Doc) int { return d.N }), []int{0, 3, 6, 9})
	wrong(t, left != 6, "%d left out", left)
	for n := range 10 { // here the key is in the fence, too
		rows := List(t, p.Place, reader.From(docs, "docs_by_n").Eq("n", n).Eq("tenant", "confirmed").Confirm())
		wrong(t, (len(rows) == 1) != (n%3 == 0), "document %d: %v", n, rows)
	}
}

// A claim of a Unique table is confirmed if its owner has the key. Those of writes that never finished are not, and
// pages go on behind them.
func (p readTests) ClaimsAreConfirmedByTheirOwners(t *testing.T) {
	var want []string
	for n := range 20 {
		label := fmt.Sprintf("l%02d", n)
		if n%3 == 0 {
			Write(t, p.Writer, "create", docs.Insert(Doc{Tenant: "claims", N: n, Title: "claimed", Label: &label}))
			want = append(want, "claimed"+label)
			continue
		}
		owner := []int{1000 + n, n - n%3, n - n%3}[n%3] // one that is not there, or has another label
		p.exec(t, `INSERT INTO docs_by_label (tenant, label, n, claim) VALUES (?, ?, ?, now())`,
			"claims", label, owner)
	}
	// The titles are those of base rows.
	rows, _ := Pieces(t, p.Place, reader.From(docs, "docs_by_label").Eq("tenant", "claims").Confirm(), 2)
	wantRows(t, "claims", each(rows, func(d Doc) string { return d.Title + *d.Label }), want)
}

// Base rows of one partition cost one request for a page.
func (p readTests) BaseRowsOfAPartitionAreReadTogether(t *testing.T) {
	const rows = 120 // more than one request asks for
	var inserts []tables.Change
	for n := range rows {
		inserts = append(inserts, shelfTickets.Insert(Ticket{Desk: "one", N: n, State: "together"}))
	}
	Write(t, p.Writer, "create", inserts...)
	c := &baseReads{table: "shelf"}
	traced := p.reading(reader.Session(p.Session.With(session.Trace(c))))
	got := List(t, traced, reader.From(shelfTickets, "shelf_by_state").Eq("state", "together").Confirm())
	wrong(t, len(got) != rows, "%d rows", len(got))
	// Of each of three shards there is one page, or two.
	wrong(t, c.sent < 3 || c.sent > 6, "%d requests for base rows", c.sent)
}

// baseReads counts what is sent for rows of a base table.
type baseReads struct {
	table string
	mu    sync.Mutex
	sent  int
}

func (c *baseReads) TraceStart(ctx context.Context, _ session.OperationStart) context.Context {
	return ctx
}
func (c *baseReads) TraceEnd(context.Context, session.OperationEnd) {}

func (c *baseReads) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	return context.WithValue(ctx, c, d.Tables[0] == c.table)
}

func (c *baseReads) TraceRequestEnd(ctx context.Context, d session.RequestEnd) {
	if of, _ := ctx.Value(c).(bool); of {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sent += d.Pages
	}
}

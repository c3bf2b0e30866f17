package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/tenants"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// tenantIDs are the same for all tenants: what tells their items apart is the tenant alone.
func tenantIDs(n int) []gocql.UUID {
	out := make([]gocql.UUID, n)
	for i := range out {
		out[i] = gocql.UUID{byte(i + 1), 6: 0x40, 8: 0x80}
	}
	return out
}

var tenantNames = []string{"acme", "globex", "initech"}

// Tenants that share tables write items of the same ids at the same time, move them and delete some. Each finds its
// own, all of them and nothing else.
func (p tenantTests) TenantInTheKey(t *testing.T) {
	const count = 12
	together(len(tenantNames), func(n int) {
		tenant := tenantNames[n]
		for i, id := range tenantIDs(count) {
			item := tenants.Item{TenantID: tenant, EntityID: id, State: tenants.Draft, Title: tenant + fmt.Sprint(i)}
			res, err := p.Writer.Write(t.Context(), "createItem", tenants.Shared.Insert(item))
			if err != nil {
				t.Error(err)
				return
			}
			item.UpdatedAt = res.Timestamp
			published := item
			published.State = tenants.Published
			switch i % 3 {
			case n: // of each id one tenant publishes its item, and another deletes its own
				_, err = p.Writer.Write(t.Context(), "publishItem", tenants.Shared.Update(item, published))
			case (n + 1) % 3:
				_, err = p.Writer.Write(t.Context(), "deleteItem", tenants.Shared.Delete(item))
			}
			wantError(t, "write", err, nil)
		}
	})
	for n, tenant := range tenantNames {
		for state, rest := range map[tenants.State]int{tenants.Published: n, tenants.Draft: (n + 2) % 3} {
			var want []string
			for i := range count {
				if i%3 == rest {
					want = append(want, tenant+fmt.Sprint(i))
				}
			}
			items := value(tenants.InState(t.Context(), p.Reader, tenant, state, 100))(t)
			for _, item := range items {
				wrong(t, item.TenantID != "" && item.TenantID != tenant, "%s sees an item of %s", tenant, item.TenantID)
			}
			wantRows(t, tenant+", "+string(state), each(items, func(i tenants.Item) string { return i.Title }), want)
		}
	}
	p.wantCount(t, len(tenantNames)*count*2/3, `SELECT count(*) FROM items_by_id`)
}

// tenantTests have a keyspace that tenants share, and those of a market.
type tenantTests struct {
	*Place
	market *market
}

// market is the keyspaces of tenants, and their directory.
type market struct {
	Place
	dialer    faulty.Dialer // of the writes
	keyspaces map[string]string
	directory *tenants.Directory
}

func openMarket(t *testing.T, shared Place) *market {
	t.Helper()
	m := &market{Place: shared, keyspaces: make(map[string]string)}
	for _, tenant := range tenantNames {
		m.keyspaces[tenant] = m.MakeKeyspace(t, 3, tenants.OwnSchema.In(map[string]string{tenants.Tenant: ""}).
			Statements()...)
	}
	return m.connect(t)
}

// connect opens sessions of its own, with a dialer that no other test uses.
func (m *market) connect(t *testing.T) *market {
	t.Helper()
	own := &market{Place: m.Place, keyspaces: m.keyspaces}
	writes, reads := own.Dial(t, "", configured, own.dialer.Configure), own.Dial(t, "", configured)
	own.use(t, testsession.New(t, writes, reads, session.StrictKeyspaces()))
	own.directory = tenants.NewDirectory(own.Session, own.Writer, own.Reader, own.keyspaces)
	return own
}

func (m *market) of(t *testing.T, tenant string) (*writer.Writer, *reader.Reader) {
	t.Helper()
	w, r, err := m.directory.Of(tenant)
	must(t, err)
	return w, r
}

// titles are those of all rows of a test in both tables of a tenant, read from its keyspace, not through the library.
func (m *market) titles(t *testing.T, tenant, test string) map[string][]string {
	t.Helper()
	out := make(map[string][]string)
	for _, table := range []string{"items_by_id", "items_by_state"} {
		query := m.Session.Reads().Query(`SELECT title FROM ` + m.keyspaces[tenant] + `.` + table).Consistency(gocql.All)
		for _, row := range value(rowsOf[tenants.OwnItem](query))(t) {
			if strings.Contains(row.Title, test) {
				out[table] = append(out[table], row.Title)
			}
		}
		slices.Sort(out[table])
	}
	return out
}

// One set and one session for all tenants, each in its own keyspace: items of the same ids, written, moved and read at
// the same time from several goroutines a tenant, so that statements of all keyspaces are under way together. Each
// keyspace has its tenant's rows and nobody else's.
func (p tenantTests) KeyspacePerTenant(t *testing.T) {
	m := p.market
	for _, tenant := range tenantNames {
		w, _ := m.of(t, tenant)
		must(t, w.Warm(t.Context(), tenants.Own))
	}
	const count = 24
	const parts = 3
	together(len(tenantNames)*parts, func(n int) {
		tenant, part := tenantNames[n/parts], n%parts
		for i, id := range tenantIDs(count) {
			if i%parts != part {
				continue
			}
			w, _, err := m.directory.Of(tenant) // each time, as a service does
			if err != nil {
				t.Error(err)
				return
			}
			item := tenants.OwnItem{EntityID: id, State: tenants.Draft, Title: fmt.Sprintf("%s own %02d", tenant, i)}
			res, err := w.Write(t.Context(), "createItem", tenants.Own.Insert(item))
			if err != nil {
				t.Error(err)
				return
			}
			item.UpdatedAt = res.Timestamp
			published := item
			published.State = tenants.Published
			wantError(t, "write", errorOf(w.Write(t.Context(), "publishItem", tenants.Own.Update(item, published))), nil)
		}
	})
	for _, tenant := range tenantNames {
		var want []string
		for i := range count {
			want = append(want, fmt.Sprintf("%s own %02d", tenant, i))
		}
		for table, titles := range m.titles(t, tenant, "own") {
			wantRows(t, tenant+"."+table, titles, want)
		}
		_, r := m.of(t, tenant)
		items := value(tenants.OwnInState(t.Context(), r, tenants.Published, 100))(t)
		got := each(items, func(i tenants.OwnItem) string { return i.Title })
		slices.Sort(got)
		wantRows(t, tenant+" reads", got, want)
	}
}

// A write that failed is finished in the keyspace that it was for, stored or not, whichever tenant's writer does it.
func (p tenantTests) ResumeKeepsTheKeyspace(t *testing.T) {
	m := p.market.connect(t)
	acme, _ := m.of(t, "acme")
	globex, _ := m.of(t, "globex")
	for i, id := range tenantIDs(104)[100:] { // not those of the other test
		item := tenants.OwnItem{EntityID: id, State: tenants.Draft, Title: fmt.Sprintf("acme resumed %d", i)}
		if i == 0 { // statements are prepared now
			Write(t, acme, "createItem", tenants.Own.Insert(item))
			continue
		}
		resuming := globex
		m.dialer.LoseReplies(1)
		failed := failedOf(t, errorOf(acme.With(writer.Retry(retry.Policy{MaxAttempts: 1})).Write(t.Context(), "createItem",
			tenants.Own.Insert(item))))
		wantError(t, "write", failed, writer.ErrUnknown)
		for _, r := range failed.Tables {
			wrong(t, r.Keyspace != m.keyspaces["acme"], "it is of keyspace %s", r.Keyspace)
		}
		if i > 1 {
			failed = stored(t, failed)
			// What comes out of storage may be forged, so a tenant's writer resumes no other's.
			_, err := globex.Resume(t.Context(), failed)
			wrong(t, !errors.Is(err, writer.ErrInvalid) || !errors.Is(err, writer.ErrUnknown),
				"%v, want ErrInvalid beside ErrUnknown", err)
			resuming = acme
		}
		must(t, errorOf(resuming.Resume(t.Context(), failed)))
	}
	for table, titles := range m.titles(t, "acme", "resumed") {
		wantRows(t, "acme."+table, titles, []string{"acme resumed 0", "acme resumed 1", "acme resumed 2", "acme resumed 3"})
	}
	for _, other := range []string{"globex", "initech"} {
		found := m.titles(t, other, "resumed")
		wrong(t, len(found) > 0, "%s has %v", other, found)
	}
}

func (p tenantTests) BadInput(t *testing.T) {
	m := p.market
	for _, tenant := range []string{"", "nobody", "acme.items; DROP KEYSPACE x", m.keyspaces["acme"]} {
		w, _, err := m.directory.Of(tenant)
		wrong(t, err == nil || w != nil, "tenant %q has a writer", tenant)
	}
	item := tenants.OwnItem{EntityID: tenantIDs(1)[0], State: tenants.Draft, Title: "lost"}
	forged := m.Writer.With(writer.Session(
		m.Session.With(session.Keyspaces(map[string]string{tenants.Tenant: "x.y; DROP KEYSPACE z"}))))
	wantInvalid(t, forged, "CQL for a keyspace", tenants.Own.Insert(item))
	wantInvalid(t, m.Writer, "no tenant", tenants.Own.Insert(item)) // mapped to no tenant
	wantError(t, "items of nobody's keyspace", errorOf(tenants.OwnInState(t.Context(), m.Reader, tenants.Draft, 1)),
		reader.ErrInvalid)
	shared := tenants.Item{TenantID: "acme", EntityID: tenantIDs(1)[0], State: tenants.Draft}
	theirs, nobody := shared, shared
	theirs.TenantID, nobody.TenantID = "globex", ""
	w := m.Writer.With(writer.Session(m.Session.With(session.Keyspaces(map[string]string{"": m.Keyspace}))))
	for name, change := range map[string]tables.Change{
		"given to another tenant": tenants.Shared.Update(shared, theirs), "of no tenant": tenants.Shared.Insert(nobody),
	} {
		wantInvalid(t, w, name, change)
	}
	wantError(t, "items of no tenant", errorOf(tenants.InState(t.Context(), m.Reader, "", tenants.Draft, 1)),
		reader.ErrInvalid)
}

package suite

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type pageViewTests struct{ *Place }

var march2 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// Views of two days are counted in all, and each on its day; one is taken back.
func (p pageViewTests) Views(t *testing.T) {
	p.check(t, pageviews.Counts, pageviews.Visits)
	page, user := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	for i := range 10 {
		// four before midnight
		v := pageviews.Visit{UserID: user, ViewedAt: march2.Add(time.Duration(i-4) * time.Hour), PageID: page}
		if counted, err := pageviews.View(t.Context(), p.Writer, v); err != nil || counted != writer.Applied {
			t.Fatal(counted, err)
		}
	}
	back := pageviews.Count{PageID: page, ViewedAt: march2, ViewCount: -1}
	res, err := p.Writer.Write(t.Context(), "takeBack", pageviews.Counts.Add(back))
	if err != nil || res.Mode != writer.Counter || res.Counters != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	n, err := pageviews.Total(t.Context(), p.Reader, page)
	wrong(t, err != nil || n != 9, "%d views, %v, want 9", n, err)
	n, err = pageviews.Total(t.Context(), p.Reader, gocql.MustRandomUUID())
	wrong(t, err != nil || n != 0, "a page nobody saw has %d views, %v", n, err)
	var days []time.Time
	var counts []int64
	for _, c := range all(t, pageviews.ByDay(t.Context(), p.Reader, page, march2.AddDate(0, 0, -1),
		march2.AddDate(0, 0, 1))) {
		days, counts = append(days, c.Day), append(counts, c.ViewCount)
	}
	wrong(t, !slices.Equal(counts, []int64{5, 4}) || !days[0].Equal(march2) || !days[1].Equal(march2.AddDate(0, 0, -1)),
		"%v on %v", counts, days)
	for _, err := range pageviews.ByDay(t.Context(), p.Reader, page, march2.AddDate(0, 0, 1), march2.AddDate(0, 0, 2)) {
		t.Errorf("a day without views: %v", err)
	}
	visits := p.count(t, `SELECT count(*) FROM visits_by_user WHERE user_id = ?`, user)
	wrong(t, visits != 10, "%d visits", visits)
	for _, table := range []string{"page_views", "page_views_by_day"} {
		var compression map[string]string
		if err := p.Session.Reads().Query(
			`SELECT compression FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?`,
			p.Keyspace, table).Scan(&compression); err != nil || compression["chunk_length_in_kb"] != "4" {
			t.Errorf("%s: %v, %v", table, compression, err)
		}
	}
}

// Replies are lost while several users see one page. What was acknowledged is counted, what is unknown may be, nothing
// is counted twice, and every visit is kept.
func (p pageViewTests) LostReplies(t *testing.T) {
	dialer := &faulty.Dialer{}
	w := NewWriter(t, p.Faulty(t, dialer), writer.Timeout(20*time.Second))
	page, warm := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	if counted, err := pageviews.View(t.Context(), w, pageviews.Visit{
		UserID: warm, ViewedAt: march2,
		PageID: warm,
	}); err != nil || counted != writer.Applied {
		t.Fatal(counted, err) // statements are prepared now
	}
	const users, each = 4, 30
	var mu sync.Mutex
	known := make(map[writer.Outcome]int64)
	var wg sync.WaitGroup
	for u := range users {
		user := gocql.UUID{byte(u + 1), 6: 0x40, 8: 0x80}
		wg.Go(func() {
			for i := range each {
				if i%3 == 0 {
					dialer.LoseReplies(1)
				}
				counted, err := pageviews.View(t.Context(), w,
					pageviews.Visit{UserID: user, ViewedAt: march2.Add(time.Duration(i) * time.Second), PageID: page})
				wrong(t, err != nil, "the visit: %v", err)
				mu.Lock()
				known[counted]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	dialer.LoseReplies(0)
	acknowledged, unknown := known[writer.Applied], known[writer.Unknown]
	t.Logf("acknowledged %d, not applied %d, unknown %d", acknowledged, known[writer.NotApplied], unknown)
	wrong(t, unknown == 0 || acknowledged == 0, "no reply of a counter was lost, or all were")
	for _, query := range []string{
		`SELECT view_count FROM page_views WHERE page_id = ?`, `SELECT view_count FROM page_views_by_day WHERE page_id = ?`,
	} {
		var counted, row int64
		rows := p.Session.Reads().Query(query, page).Consistency(gocql.All).Iter()
		for rows.Scan(&row) {
			counted += row
		}
		must(t, rows.Close())
		t.Logf("%s: %d", query, counted)
		wrong(t, counted < acknowledged || counted > acknowledged+unknown, "%s: counted %d, acknowledged %d, unknown %d",
			query, counted, acknowledged, unknown)
	}
	for u := range users {
		user := gocql.UUID{byte(u + 1), 6: 0x40, 8: 0x80}
		visits := p.count(t, `SELECT count(*) FROM visits_by_user WHERE user_id = ?`, user)
		wrong(t, visits != each, "user %d: %d visits", u, visits)
	}
}

var hitTables = []string{
	`CREATE TABLE hits (page_id uuid PRIMARY KEY, hits counter)`,
	`CREATE TABLE hits_by_site (site text PRIMARY KEY, hits counter)`,
}

// Alongside a logged batch counters go in requests of their own, and Cassandra takes both. Two entities whose counters
// share a row are added up in it, also within one request.
func (p pageViewTests) SharedRow(t *testing.T) {
	type hits struct {
		PageID gocql.UUID
		Site   string
		Hits   int64
	}
	set := tables.Must(tables.New[hits]("hits",
		tables.Table{Name: "hits", PartKey: []string{"page_id"}},
		tables.Table{Name: "hits_by_site", PartKey: []string{"site"}},
		tables.Type("hits", "counter"),
	))
	visit := func() pageviews.Visit {
		return pageviews.Visit{UserID: gocql.MustRandomUUID(), ViewedAt: march2, PageID: gocql.MustRandomUUID()}
	}
	res, err := p.Writer.Write(t.Context(), "hit",
		set.Add(hits{gocql.MustRandomUUID(), "shop", 2}), pageviews.Visits.Insert(visit()),
		set.Add(hits{gocql.MustRandomUUID(), "shop", 3}), pageviews.Visits.Insert(visit()))
	if err != nil || res.Mode != writer.LoggedBatch || res.Counters != 3 || res.Attempts != 4 {
		t.Fatalf("%+v, %v", res, err)
	}
	var n int64
	err = p.Session.Reads().Query(`SELECT hits FROM hits_by_site WHERE site = 'shop'`).Consistency(gocql.All).Scan(&n)
	wrong(t, err != nil || n != 5, "%d hits, %v, want 5", n, err)
}

func (p pageViewTests) BadInput(t *testing.T) {
	user, page := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	for name, v := range map[string]pageviews.Visit{
		"no page": {UserID: user, ViewedAt: march2}, "no time": {UserID: user, PageID: page},
		"nobody": {ViewedAt: march2, PageID: page},
	} {
		counted, err := pageviews.View(t.Context(), p.Writer, v)
		wrong(t, !errors.Is(err, writer.ErrInvalid) || counted != writer.NotApplied, "%s: %v, %v, want ErrInvalid", name,
			counted, err)
	}
	c := pageviews.Count{PageID: page, ViewedAt: march2, ViewCount: 1}
	for name, change := range map[string]tables.Change{
		"set to a number": pageviews.Counts.Insert(c), "replaced": pageviews.Counts.Update(c, c),
		"reset":   pageviews.Counts.Delete(c),
		"nothing": pageviews.Counts.Add(pageviews.Count{PageID: page, ViewedAt: march2}),
	} {
		wantInvalid(t, p.Writer, name, change)
	}
	wantInvalid(t, p.Writer.With(writer.Logged()), "in a logged batch", pageviews.Counts.Add(c))
	n, err := pageviews.Total(t.Context(), p.Reader, page)
	wrong(t, err != nil || n != 0, "%d views, %v, of what was refused", n, err)
}

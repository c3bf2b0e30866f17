package suite

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type pageViewTests struct{ *Place }

var march2 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// view says whether the view was counted: a node that is slow or behind may not say so.
func (pageViewTests) view(t *testing.T, w *writer.Writer, v pageviews.Visit) bool {
	t.Helper()
	counted, err := pageviews.View(t.Context(), w, v)
	if err != nil {
		t.Fatal(counted, err)
	}
	return counted == writer.Applied
}

func (p pageViewTests) total(t *testing.T, page gocql.UUID) int64 {
	t.Helper()
	return value(pageviews.Total(t.Context(), p.Reader, page))(t)
}

// Views of two days are counted in all, and each on its day; one is taken back.
func (p pageViewTests) Views(t *testing.T) {
	p.check(t, pageviews.Counts, pageviews.Visits)
	var page, user gocql.UUID
	for began := time.Now(); ; {
		page, user = gocql.MustRandomUUID(), gocql.MustRandomUUID()
		counted := 0
		for i := range 10 { // four before midnight
			if p.view(t, p.Writer, pageviews.Visit{UserID: user, ViewedAt: march2.Add(time.Duration(i-4) * time.Hour), PageID: page}) {
				counted++
			}
		}
		if counted == 10 {
			break
		}
		if t.Logf("%d of 10 views were acknowledged", counted); time.Since(began) > time.Minute {
			t.Fatal("no ten views in a row are acknowledged")
		}
	}
	back := pageviews.Count{PageID: page, ViewedAt: march2, ViewCount: -1}
	res, err := p.Writer.Write(t.Context(), "takeBack", pageviews.Counts.Add(back))
	if err != nil || res.Mode != writer.Counter || res.Counters != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	n, none := p.total(t, page), p.total(t, gocql.MustRandomUUID())
	wrong(t, n != 9 || none != 0, "%d views, want 9; a page nobody saw has %d", n, none)
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
	p.wantCount(t, 10, `SELECT count(*) FROM visits_by_user WHERE user_id = ?`, user)
	for _, table := range []string{"page_views", "page_views_by_day"} {
		compression := cell[map[string]string](t, p.Place,
			`SELECT compression FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?`, p.Keyspace, table)
		wrong(t, compression["chunk_length_in_kb"] != "4", "%s: %v", table, compression)
	}
}

// Replies are lost while several users see one page. What was acknowledged is counted, what is unknown may be, nothing
// is counted twice, and every visit is kept.
func (p pageViewTests) LostReplies(t *testing.T) {
	w, dialer := p.lossy(t)
	page, warm := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	p.view(t, w, pageviews.Visit{UserID: warm, ViewedAt: march2, PageID: warm}) // statements are prepared now
	const users, each = 4, 30
	var mu sync.Mutex
	known := make(map[writer.Outcome]int64)
	together(users, func(u int) {
		user := gocql.UUID{byte(u + 1), 6: 0x40, 8: 0x80}
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
	dialer.LoseReplies(0)
	acknowledged, unknown := known[writer.Applied], known[writer.Unknown]
	t.Logf("acknowledged %d, not applied %d, unknown %d", acknowledged, known[writer.NotApplied], unknown)
	wrong(t, unknown == 0 || acknowledged == 0, "no reply of a counter was lost, or all were")
	for _, query := range []string{
		`SELECT view_count FROM page_views WHERE page_id = ?`, `SELECT view_count FROM page_views_by_day WHERE page_id = ?`,
	} {
		counted := int64(0)
		for _, row := range value(rowsOf[pageviews.Count](p.Session.Reads().Query(query, page).Consistency(gocql.All)))(t) {
			counted += row.ViewCount
		}
		t.Logf("%s: %d", query, counted)
		wrong(t, counted < acknowledged || counted > acknowledged+unknown, "%s: counted %d, acknowledged %d, unknown %d",
			query, counted, acknowledged, unknown)
	}
	for u := range users {
		user := gocql.UUID{byte(u + 1), 6: 0x40, 8: 0x80}
		p.wantCount(t, each, `SELECT count(*) FROM visits_by_user WHERE user_id = ?`, user)
	}
}

type hits struct {
	PageID gocql.UUID
	Site   string
	Hits   int64
}

var pageHits = tables.Must(tables.New[hits]("hits",
	tables.Table{Name: "hits", PartKey: []string{"page_id"}},
	tables.Table{Name: "hits_by_site", PartKey: []string{"site"}},
	tables.Type("hits", "counter"),
))

// Alongside a logged batch counters go in requests of their own, and Cassandra takes both. Two entities whose counters
// share a row are added up in it, also within one request.
func (p pageViewTests) SharedRow(t *testing.T) {
	visit := func() pageviews.Visit {
		return pageviews.Visit{UserID: gocql.MustRandomUUID(), ViewedAt: march2, PageID: gocql.MustRandomUUID()}
	}
	res, err := p.Writer.Write(t.Context(), "hit",
		pageHits.Add(hits{gocql.MustRandomUUID(), "shop", 2}), pageviews.Visits.Insert(visit()),
		pageHits.Add(hits{gocql.MustRandomUUID(), "shop", 3}), pageviews.Visits.Insert(visit()))
	if err != nil || res.Mode != writer.LoggedBatch || res.Counters != 3 || res.Attempts != 4 {
		t.Fatalf("%+v, %v", res, err)
	}
	n := cell[int64](t, p.Place, `SELECT hits FROM hits_by_site WHERE site = 'shop'`)
	wrong(t, n != 5, "%d hits, want 5", n)
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
	n := p.total(t, page)
	wrong(t, n != 0, "%d views of what was refused", n)
}

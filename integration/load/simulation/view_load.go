package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// viewLoad counts views of pages in two tables, and keeps the visits alongside them. A count may be lost without an
// answer, and is never sent again. Each view counts a number of its own: so the sums tell which were counted, and
// whether one was counted twice.
type viewLoad struct {
	*crew
	pages   []gocql.UUID
	history *history.History[view]
}

// view is a logical write.
type view struct {
	pageviews.Visit

	count int64
}

// The tables of a view.
const (
	visitTable = "visits_by_user"
	total      = "page_views"
	daily      = "page_views_by_day"
)

// pageViews is how many views a page has on average: few enough to try all that may have been counted.
const pageViews = 6

func newViewLoad(c *crew) *viewLoad {
	l := &viewLoad{crew: c, history: history.New[view](nil)}
	random := chance(c.Seed, c.index, 1)
	for range max(1, c.share/pageViews) {
		l.pages = append(l.pages, uuid(random))
	}
	return l
}

func (l *viewLoad) run(ctx context.Context) {
	l.work(ctx, func(ctx context.Context, name string, number uint64) {
		random := chance(l.Seed, number)
		p := l.current(ctx)
		now := time.Now()
		v := view{
			Visit: pageviews.Visit{UserID: uuid(random), ViewedAt: now.Truncate(time.Millisecond), PageID: l.pages[random.IntN(len(l.pages))]},
			count: 1 + random.Int64N(1<<40),
		}
		noted := l.history.Begin(name, tables.Insert, v)
		l.weather.begin(mark(v.UserID[:]), number)
		l.weather.begin(v.count, number)
		l.doom(p, random)
		l.meets(number)
		result, err := mood(p.writer, random).Write(p.ctx, "viewPage", pageviews.Visits.Insert(v.Visit), //nolint:contextcheck // it ends with its process
			pageviews.Counts.Add(pageviews.Count{PageID: v.PageID, ViewedAt: v.ViewedAt, ViewCount: v.count}))
		l.meets(number)
		if p.killed() {
			l.weather.note(clientKilled, number)
			return
		}
		told := told(l.crew, l.history, noted)
		if failed := told(result, err); failed != nil && failed.Resumable() && random.IntN(3) > 0 {
			l.queue.hand(ctx, p, random, failed, &message{
				attempts: &attempts{told: told, again: func() { l.history.Again(noted, total, daily) }},
				about:    []any{v.UserID}, number: number, most: 4,
			})
		}
	})
}

func (l *viewLoad) check(ctx context.Context, p *process, report *Report) error {
	sums := make(map[string]map[gocql.UUID]int64)
	for _, table := range []string{total, daily} {
		rows, err := history.All[pageviews.Count](ctx, p.session.Reads(), table, "page_id", "view_count")
		if err != nil {
			return err
		}
		sums[table] = make(map[gocql.UUID]int64)
		for _, r := range rows {
			sums[table][r.PageID] += r.ViewCount
		}
	}
	visits, err := history.All[pageviews.Visit](ctx, p.session.Reads(), visitTable, "user_id", "viewed_at", "page_id")
	if err != nil {
		return err
	}
	diverging := make(map[string]int)
	for _, page := range l.pages {
		if sums[total][page] != sums[daily][page] {
			diverging["page with different counts in its tables"]++
		}
	}
	report.add(l.crew, l.history.Count(), diverging, l.faults(sums, visits)...)
	return nil
}

// faults is what must not be in the tables after what clients were told.
func (l *viewLoad) faults(sums map[string]map[gocql.UUID]int64, visits []pageviews.Visit) []string {
	var found []string
	there := make(map[string]bool) // by all that a visit is
	for _, v := range visits {
		there[fmt.Sprint(v.UserID, v.PageID, v.ViewedAt.UnixMilli())] = true
	}
	byPage := make(map[gocql.UUID][]*history.Write[view])
	writes := l.history.Writes()
	for n := range writes {
		w, v := &writes[n], &writes[n].Row
		byPage[v.PageID] = append(byPage[v.PageID], w)
		name := fmt.Sprint(v.UserID, v.PageID, v.ViewedAt.UnixMilli())
		is, told := there[name], w.Of(visitTable)
		delete(there, name)
		switch {
		case w.Contradiction != "":
			found = append(found, fmt.Sprintf("unsound outcome: the visit of %v: %s", v.UserID, w.Contradiction))
		case told == writer.Applied && !is:
			found = append(found, fmt.Sprintf("lost: the visit of %v", v.UserID))
		case told == writer.NotApplied && is:
			found = append(found, fmt.Sprintf("unsound outcome: the visit of %v is there, although it was told not to be", v.UserID))
		}
	}
	for name := range there {
		found = append(found, "a visit that nobody made: "+name)
	}
	for table, sum := range sums {
		for page := range sum {
			if byPage[page] == nil {
				found = append(found, fmt.Sprintf("%s counts views of %v, which nobody made", table, page))
			}
		}
	}
	for page, views := range byPage {
		for table, sum := range sums {
			if fault := miscount(table, sum[page], views); fault != "" {
				found = append(found, fmt.Sprintf("page %v: %s", page, fault))
			}
		}
	}
	slices.Sort(found)
	return found
}

// miscount says why a sum cannot be that of the views that were acknowledged and of some of which nothing is known;
// empty if it can.
func miscount(table string, sum int64, views []*history.Write[view]) string {
	rest, told := sum, make(map[writer.Outcome][]int64)
	for _, w := range views {
		outcome := w.Of(table)
		told[outcome] = append(told[outcome], w.Row.count)
		if outcome == writer.Applied {
			rest -= w.Row.count
		}
	}
	unknown := told[writer.Unknown]
	if some(unknown, rest) {
		return ""
	}
	for _, one := range told[writer.Applied] {
		if some(unknown, rest+one) {
			return fmt.Sprintf("lost: %s lacks %d, which was acknowledged", table, one)
		}
	}
	for _, one := range told[writer.NotApplied] {
		if some(unknown, rest-one) {
			return fmt.Sprintf("unsound outcome: %s counts %d, which was not applied", table, one)
		}
	}
	return fmt.Sprintf("%s counts %d, of which %d were acknowledged, and no choice of %v makes up the rest", table, sum, sum-rest, unknown)
}

// some says whether some of the counts, or none, make up the sum.
func some(counts []int64, sum int64) bool {
	if sum == 0 || len(counts) == 0 || sum < 0 {
		return sum == 0
	}
	return some(counts[1:], sum-counts[0]) || some(counts[1:], sum)
}

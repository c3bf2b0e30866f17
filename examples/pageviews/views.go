// Package pageviews is an example: the views of a page, counted forever and by day, and alongside them who has seen
// what, in one logical write.
package pageviews

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Count is a row of counters. In an Add, ViewCount is what to add.
type Count struct {
	PageID    gocql.UUID
	ViewedAt  time.Time // kept nowhere: the day follows from it
	Day       time.Time // filled by the library, and only in rows of page_views_by_day
	ViewCount int64
}

// Counts are the views of a page. Counters cannot be in a table with other columns, so they are a set of their own.
var Counts = tables.Must(tables.New[Count]("page_view_count",
	tables.Table{Name: "page_views", PartKey: []string{"page_id"}},
	tables.Table{Name: "page_views_by_day", PartKey: []string{"page_id"}, SortKey: []string{"day DESC"}},
	tables.Derive("day", tables.Day("viewed_at")), tables.Type("day", "date"),
	tables.Type("view_count", "counter"),
))

// Visit is one view of a page by a user.
type Visit struct {
	UserID   gocql.UUID
	ViewedAt time.Time
	PageID   gocql.UUID
}

// Visits are kept by user, the last ones first.
var Visits = tables.Must(tables.New[Visit]("visit",
	tables.Table{Name: "visits_by_user", PartKey: []string{"user_id"}, SortKey: []string{"viewed_at DESC", "page_id"}},
))

var smallChunks = map[string]string{"class": "LZ4Compressor", "chunk_length_in_kb": "4"}

// Schema creates the tables in the keyspace of the session. A counter is read before it is written, a few bytes out of
// a chunk that has to be decompressed: so the chunks are small.
var Schema = schema.Must(schema.Declare(
	schema.Sets(Counts, Visits),
	schema.With("page_views", schema.Options{Compression: smallChunks}),
	schema.With("page_views_by_day", schema.Options{Compression: smallChunks}),
))

// Flawed is how the option is often written: Cassandra rejects it, as it does not say which compressor the chunks are
// for.
const Flawed = `CREATE TABLE page_views (page_id uuid PRIMARY KEY, view_count counter) WITH compression = {'chunk_length_in_kb': 4}`

// View keeps a visit and counts it, in one logical write. The error is the visit's, which may be repeated. What
// is known of the count is told alongside it, and is the end of the matter: a view that was lost, or counted without an
// answer, is not counted again, because that would be two.
func View(ctx context.Context, w *writer.Writer, v Visit) (counted writer.Outcome, err error) {
	_, err = w.Write(ctx, "viewPage", Visits.Insert(v), Counts.Add(Count{PageID: v.PageID, ViewedAt: v.ViewedAt, ViewCount: 1}))
	var failed *writer.Error
	if errors.As(err, &failed) && failed.Resumable() { // only the visit is sent again
		_, err = w.Resume(ctx, failed)
	}
	if !errors.As(err, &failed) {
		return writer.Applied, err
	}
	counted = writer.NotApplied
	for i, counters := 0, 0; i < len(failed.Tables); i++ {
		table := failed.Tables[i]
		if !table.Counter {
			continue
		}
		if counters++; counters == 1 || counted == table.Outcome {
			counted = table.Outcome
		} else {
			counted = writer.Unknown // one table with it, another without
		}
	}
	if failed.OnlyCounters() {
		return counted, nil // the visit is kept
	}
	return counted, err
}

// Total is how often a page was seen: at least by those that were acknowledged, at most by those and the unknown ones.
func Total(ctx context.Context, r *reader.Reader, page gocql.UUID) (int64, error) {
	rows, _, err := reader.List(ctx, r, "pageViews", reader.From(Counts, "page_views").Eq("page_id", page))
	if err != nil || len(rows) == 0 { // what was never added to has no row
		return 0, err
	}
	return rows[0].ViewCount, nil
}

// ByDay gives the views of a page from a day on and before another one, the last day first.
func ByDay(ctx context.Context, r *reader.Reader, page gocql.UUID, from, to time.Time) iter.Seq2[Count, error] {
	q := reader.From(Counts, "page_views_by_day").Eq("page_id", page).GtOrEq("day", from).Lt("day", to)
	return reader.Read(ctx, r, "pageViewsByDay", q).All()
}

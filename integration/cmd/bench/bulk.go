package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/denorm-go/denorm/writer/bulk"
)

// line is a row of the bulk benchmark: a message of a channel, of an author.
type line struct {
	Channel   int
	MessageID gocql.UUID
	Author    int
	Text      string
}

// messages is a set of two tables, which have partitions in common or not.
func messages(entity string, first, second []string) *tables.Set[line] {
	return tables.Must(tables.New[line](entity,
		tables.Table{Name: entity + "_1", PartKey: first[:1], SortKey: first[1:]}, tables.Table{Name: entity + "_2", PartKey: second[:1], SortKey: second[1:]}))
}

var samples = []*tables.Set[line]{
	messages("by_channel", []string{"channel", "message_id"}, []string{"channel", "author", "message_id"}),
	messages("by_author", []string{"channel", "message_id"}, []string{"author", "channel", "message_id"}),
	messages("by_message", []string{"message_id"}, []string{"author", "message_id"}),
}

// importWays are ways to import rows. The first is what the others are compared with.
var importWays = []struct {
	name    string
	options []writer.Option
	write   func(ctx context.Context, p *turn.Place, w *writer.Writer, s *tables.Set[line], rows []line) error
}{
	{": Write", nil, inLoop},
	{": Write, Group", []writer.Option{writer.Group(4 << 10)}, inLoop},
	{": INSERTs by hand", nil, inLoopByHand},
	{": WriteAll", nil, inBulk},
	{": WriteAll, Group", []writer.Option{writer.Group(4 << 10)}, inBulk},
}

func importerNames(sample string) (names []string) {
	for _, way := range importWays[1:] {
		names = append(names, sample+way.name)
	}
	return names
}

func importers() (list []turn.Contender) {
	for _, s := range samples {
		for _, way := range importWays {
			list = append(list, turn.Contender{Name: s.Internal().Entity() + way.name, Open: func(ctx context.Context, p *turn.Place) (turn.Prepare, error) {
				w := p.Writer.With(way.options...)
				return func(_ context.Context, n int) (func(context.Context, int) error, error) {
					rows := make([]line, n)
					for i := range rows {
						rows[i] = line{rand.IntN(200), gocql.MustRandomUUID(), rand.IntN(100_000), "a message of some length, as people write them"}
					}
					return func(ctx context.Context, _ int) error { return way.write(ctx, p, w, s, rows) }, nil
				}, p.Ensure(ctx, schema.Sets(s))
			}})
		}
	}
	return list
}

const goroutines = 64

func inLoop(ctx context.Context, _ *turn.Place, w *writer.Writer, s *tables.Set[line], rows []line) error {
	return parallel.Do(goroutines, len(rows), func(i int) error {
		_, err := w.Write(ctx, "import", s.Insert(rows[i]))
		return err
	})
}

func inBulk(ctx context.Context, _ *turn.Place, w *writer.Writer, s *tables.Set[line], rows []line) error {
	return insertAll(ctx, w, s, slices.Values(rows))
}

func insertAll[T any](ctx context.Context, w *writer.Writer, s *tables.Set[T], rows iter.Seq[T]) error {
	run := bulk.WriteAll(ctx, w, "import", func(yield func(bulk.Item, error) bool) {
		for row := range rows {
			if !yield(bulk.Item{Change: s.Insert(row)}, nil) {
				return
			}
		}
	})
	for range run.All() { //nolint:contextcheck // the run has it
	}
	return run.Err()
}

// inLoopByHand writes both tables at the same time.
func inLoopByHand(ctx context.Context, p *turn.Place, _ *writer.Writer, s *tables.Set[line], rows []line) error {
	return parallel.Do(goroutines, len(rows), func(i int) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		at, row := time.Now().UnixMicro(), rows[i]
		return parallel.Do(2, 2, func(table int) error {
			return p.Session.Writes().Query(fmt.Sprintf(`INSERT INTO %s_%d (channel, message_id, author, text) VALUES (?, ?, ?, ?) USING TIMESTAMP ?`, s.Internal().Entity(), table+1),
				row.Channel, row.MessageID, row.Author, row.Text, at).WithContext(ctx).Idempotent(true).Exec()
		})
	})
}

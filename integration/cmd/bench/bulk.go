package main

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// line is a row of the bulk benchmark: a message of a channel, of an author.
type line struct {
	Channel   int
	MessageID gocql.UUID
	Author    int
	Text      string
}

// messages is a set of two tables.
func messages(entity string, second tables.Table) *tables.Set[line] {
	second.Name = entity + "_2"
	first := tables.Table{Name: entity + "_1", PartKey: []string{"channel"}, SortKey: []string{"message_id"}}
	if second.PartKey[0] == "message_id" {
		first.PartKey, first.SortKey = []string{"message_id"}, nil
		second.PartKey, second.SortKey = []string{"author", "message_id"}, nil
	}
	return tables.Must(tables.New[line](entity, first, second))
}

// sample is rows by what their partitions have in common.
type sample struct {
	name, what, entity string
	set                *tables.Set[line]
}

var samples = []sample{
	{"all", "both tables by channel, of which there are 200", "by_channel", messages("by_channel", tables.Table{PartKey: []string{"channel"}, SortKey: []string{"author", "message_id"}})},
	{"half", "one table by channel, one by author, of whom there are 100,000", "by_author", messages("by_author", tables.Table{PartKey: []string{"author"}, SortKey: []string{"channel", "message_id"}})},
	{"none", "one table by message, one by author, of whom there are 100,000", "by_message", messages("by_message", tables.Table{PartKey: []string{"message_id"}})},
}

// bulkBench inserts many rows, by WriteAll and by loops.
type bulkBench struct {
	rounds, rows int
	only         string
}

func (b *bulkBench) flags(f *flag.FlagSet) {
	f.IntVar(&b.rounds, "rounds", 5, "how many rounds")
	f.IntVar(&b.rows, "rows", 12_000, "rows of each contender a round")
	f.StringVar(&b.only, "only", "", "measure only this sample: all, half or none")
}

func (b *bulkBench) schema() *schema.Schema {
	return schema.Must(schema.Declare(schema.Sets(samples[0].set, samples[1].set, samples[2].set)))
}

// importer writes rows of a sample.
type importer struct {
	name  string
	write func(ctx context.Context, s *sample, rows []line) error

	perSecond, cpu, server [3]figure // by the number of the sample
}

// loop is a semaphore: so many goroutines.
const loop = 64

func (b *bulkBench) run(ctx context.Context, p *place) (map[string]string, error) {
	w, err := writer.New(p.session)
	if err != nil {
		return nil, err
	}
	grouped := w.With(writer.Group(4 << 10))
	list := []*importer{
		{name: "64 goroutines, INSERTs by hand", write: func(ctx context.Context, s *sample, rows []line) error {
			return parallel.Do(loop, len(rows), func(i int) error { return insertByHand(ctx, p.session.Writes(), s, rows[i]) })
		}},
		{name: "64 goroutines, Write", write: inLoop(w)},
		{name: "64 goroutines, Write in groups", write: inLoop(grouped)},
		{name: "WriteAll", write: inBulk(w)},
		{name: "WriteAll in groups", write: inBulk(grouped)},
	}
	for round := range b.rounds + 1 {
		progress("round %d of %d", round, b.rounds)
		for n := range samples {
			if b.only != "" && b.only != samples[n].name {
				continue
			}
			for _, i := range rand.Perm(len(list)) {
				if err := list[i].turn(ctx, n, b.rows, round > 0); err != nil {
					return nil, fmt.Errorf("%s, %s: %w", list[i].name, samples[n].name, err)
				}
			}
		}
	}
	return map[string]string{"bulk-benchmark.md": b.report(list, p.hosts)}, nil
}

// turn measures an importer once.
func (i *importer) turn(ctx context.Context, n, rows int, counts bool) error {
	all := make([]line, rows)
	for at := range all {
		all[at] = line{Channel: rand.IntN(200), MessageID: gocql.MustRandomUUID(), Author: rand.IntN(100_000), Text: "a message of some length, as people write them"}
	}
	server, err := cluster.CPU(ctx)
	if err != nil {
		return err
	}
	cpu, start := cpuTime(), time.Now()
	if err := i.write(ctx, &samples[n], all); err != nil {
		return err
	}
	took, used := time.Since(start), cpuTime()-cpu
	end, err := cluster.CPU(ctx)
	if err != nil || !counts {
		return err
	}
	i.perSecond[n].add(float64(rows) / took.Seconds())
	i.cpu[n].add(float64(used.Microseconds()) / float64(rows))
	i.server[n].add(float64((end - server).Microseconds()) / float64(rows))
	return nil
}

func inLoop(w *writer.Writer) func(context.Context, *sample, []line) error {
	return func(ctx context.Context, s *sample, rows []line) error {
		return parallel.Do(loop, len(rows), func(i int) error {
			_, err := w.Write(ctx, "import", s.set.Insert(rows[i]))
			return err
		})
	}
}

func inBulk(w *writer.Writer) func(context.Context, *sample, []line) error {
	return func(ctx context.Context, s *sample, rows []line) error {
		bulk := w.WriteAll(ctx, "import", source(s, rows))
		for range bulk.All() { //nolint:contextcheck // the run has it
		}
		return bulk.Err()
	}
}

func source(s *sample, rows []line) iter.Seq2[writer.Item, error] {
	return func(yield func(writer.Item, error) bool) {
		for _, row := range rows {
			if !yield(writer.Item{Change: s.set.Insert(row)}, nil) {
				return
			}
		}
	}
}

// insertByHand writes both tables at the same time.
func insertByHand(ctx context.Context, session *gocql.Session, s *sample, row line) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	at := time.Now().UnixMicro()
	return parallel.Do(2, 2, func(i int) error {
		return session.Query(fmt.Sprintf(`INSERT INTO %s_%d (channel, message_id, author, text) VALUES (?, ?, ?, ?) USING TIMESTAMP ?`, s.entity, i+1),
			row.Channel, row.MessageID, row.Author, row.Text, at).WithContext(ctx).Idempotent(true).Exec()
	})
}

func (b *bulkBench) report(list []*importer, nodes int) string {
	var text strings.Builder
	fmt.Fprintf(&text, `# Bulk benchmark

%d rows of two tables, inserted by WriteAll and by loops of %d goroutines, at LOCAL_QUORUM on %d real Cassandra nodes on this machine. %d rounds,
contenders in random order; medians over the rounds, in brackets the smallest and the largest, and the median of the ratios to
%q of the same round. Client and servers share the machine: compare the lines with each other, not with another run.
`, b.rows, loop, nodes, b.rounds, list[1].name)
	for n, s := range samples {
		if len(list[0].perSecond[n]) == 0 {
			continue
		}
		fmt.Fprintf(&text, "\n## Partitions in common: %s\n\n%s.\n\n| | rows a second | | client CPU a row, µs | | CPU of all servers a row, µs | |\n"+
			"| --- | --- | --- | --- | --- | --- | --- |\n", s.name, strings.ToUpper(s.what[:1])+s.what[1:])
		for _, i := range list {
			row := []string{i.name}
			for _, f := range []struct{ own, other figure }{
				{i.perSecond[n], list[1].perSecond[n]}, {i.cpu[n], list[1].cpu[n]}, {i.server[n], list[1].server[n]},
			} {
				row = append(row, f.own.cell("%.0f"), fmt.Sprintf("%.2f x", f.own.times(f.other)))
			}
			text.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	return text.String() + "\n" + written("bench")
}

package reading_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/leaks"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
)

type sample struct {
	Host string
	At   time.Time
	N    int32
}

var samples = tables.Must(tables.New[sample]("sample",
	tables.Table{Name: "samples", PartKey: []string{"host", "hour", "bucket"}, SortKey: []string{"at DESC", "n"}},
	tables.Derive("hour", tables.Hour("at")), tables.Derive("bucket", tables.Hash(4, "n")),
))

var midnight = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

// fill writes a sample every ten seconds, two of each moment in different buckets.
func fill(t *testing.T, p *suite.Place, hours int) []sample {
	t.Helper()
	suite.Create(t, p, samples)
	var rows []sample
	for i := range hours * 360 {
		rows = append(rows, sample{"h", midnight.Add(time.Duration(i/2) * 20 * time.Second), int32(i)})
	}
	suite.Insert(t, p, samples, rows)
	return rows
}

func stretch(from, to time.Duration) reader.Query[sample] {
	return reader.From(samples, "samples").Eq("host", "h").GtOrEq("at", midnight.Add(from)).Lt("at", midnight.Add(to))
}

// What a query gives from real nodes is what filtering and sorting all rows gives: at the edges of buckets, over empty
// ones, in both directions, in pages of any size, continued by token; and no goroutine is left of it, also if it is
// cancelled or broken off.
func TestFanInOnRealNodes(t *testing.T) {
	cluster.Need(t, 3)
	p := nodes.Cassandra.Open(t, 3)
	rows := fill(t, p, 3)
	suite.List(t, p, stretch(0, 3*time.Hour)) // prepares the statement on every node
	before := goleak.IgnoreCurrent()
	const hour, second = time.Hour, time.Second
	for _, r := range [][2]time.Duration{{0, 3 * hour}, {hour, 2 * hour}, {hour - 20*second, hour + 20*second}, {-hour, 0}, {-5 * hour, 20 * second}, {2*hour + second, 9 * hour}} {
		var want []sample
		for _, row := range rows {
			if at := row.At.Sub(midnight); at >= r[0] && at < r[1] {
				want = append(want, row)
			}
		}
		slices.SortFunc(want, func(a, b sample) int {
			if c := b.At.Compare(a.At); c != 0 {
				return c
			}
			return int(a.N - b.N)
		})
		for _, size := range []int{1000, 7} {
			sized := *p
			sized.Reader = p.Reader.With(reader.PageSize(size))
			q := stretch(r[0], r[1])
			got := suite.List(t, &sized, q)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, pages of %d: %d rows, want %d", r, size, len(got), len(want))
			}
			turned := suite.List(t, &sized, q.OrderBy("at ASC"))
			slices.Reverse(turned)
			if fmt.Sprint(turned) != fmt.Sprint(want) {
				t.Errorf("%v, pages of %d, oldest first: %d rows, want %d", r, size, len(turned), len(want))
			}
			if pieces, _ := suite.Pieces(t, &sized, q, 101); fmt.Sprint(pieces) != fmt.Sprint(want) {
				t.Errorf("%v, in pieces: %d rows, want %d", r, len(pieces), len(want))
			}
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	count := 0
	var failed error
	for _, err := range reader.Read(ctx, p.Reader.With(reader.PageSize(5)), "cancelled", stretch(0, 3*hour)).All() {
		if failed = err; err == nil {
			if count++; count == 50 {
				cancel()
			}
		}
	}
	var named *reader.Error
	if !errors.Is(failed, context.Canceled) || !errors.As(failed, &named) || named.Table != "samples" || len(named.Buckets) != 2 {
		t.Errorf("cancelled after %d rows: %v", count, failed)
	}
	for _, err := range reader.Read(t.Context(), p.Reader.With(reader.PageSize(5)), "broken", stretch(0, 3*hour)).All() {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if err := leaks.Wait(before); err != nil {
		t.Errorf("left behind: %v", err)
	}
}

//go:build upgrade

package upgrade_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// minutes counts what happens, by minute and kind.
type minutes struct {
	began time.Time

	mu   sync.Mutex
	told []map[string]int
}

func (m *minutes) add(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.told) <= int(time.Since(m.began)/time.Minute) {
		m.told = append(m.told, make(map[string]int))
	}
	m.told[len(m.told)-1][kind]++
}

// String has a line for each minute.
func (m *minutes) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for n, told := range m.told {
		fmt.Fprintf(&b, "\nminute %d: %v", n, told)
	}
	return b.String()
}

// failed counts an attempt of a session that failed, which the library or the driver may repeat.
func (m *minutes) failed(err error) {
	var answer gocql.RequestError
	var network *net.OpError
	switch {
	case err == nil:
	case errors.As(err, &answer):
		m.add(fmt.Sprintf("%T", answer))
	case errors.As(err, &network):
		m.add(network.Op + " of a connection")
	default:
		m.add(err.Error())
	}
}

// ObserveQuery implements gocql.QueryObserver.
func (m *minutes) ObserveQuery(_ context.Context, q gocql.ObservedQuery) { m.failed(q.Err) }

// ObserveBatch implements gocql.BatchObserver.
func (m *minutes) ObserveBatch(_ context.Context, b gocql.ObservedBatch) { m.failed(b.Err) }

// tally is a number that is counted up by lightweight transactions.
type tally struct {
	ID      string
	N       int
	Version gocql.UUID
}

var tallies = tables.Must(tables.New[tally]("tally", tables.Table{Name: "tallies", PartKey: []string{"id"}}, tables.Versioned("version")))

// rows is how many tallies there are.
const rows = 10

// counter counts tallies up.
type counter struct {
	w                     *writer.Writer
	told                  minutes
	acknowledged, unknown atomic.Int64
}

// work counts up, one after the other, until over is closed.
func (c *counter) work(t *testing.T, over <-chan struct{}) {
	t.Helper()
	for n := 0; !sleep.Unless(over, 100*time.Millisecond); n++ {
		_, err := writer.Modify(t.Context(), c.w, "count", tallies, tally{ID: strconv.Itoa(n % rows)}, func(t tally) (tally, error) {
			t.N++
			return t, nil
		})
		outcome := writer.OutcomeOf(err)
		c.told.add(outcome.String())
		switch outcome {
		case writer.Applied:
			c.acknowledged.Add(1)
		case writer.Unknown:
			c.unknown.Add(1)
		case writer.NotApplied, writer.Conflict:
		default:
			t.Errorf("a count is %v: %v", outcome, err)
		}
	}
}

// judge compares the rows with what was told.
func (c *counter) judge(t *testing.T, s *session.Session) {
	t.Helper()
	var sum int64
	for id := range rows {
		var n int64
		if err := s.Reads().Query("SELECT n FROM tallies WHERE id = ?", strconv.Itoa(id)).Consistency(gocql.Consistency(gocql.Serial)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	acknowledged, unknown := c.acknowledged.Load(), c.unknown.Load()
	if sum < acknowledged || sum > acknowledged+unknown {
		t.Errorf("%d counts are acknowledged, %d unknown, and the rows have %d", acknowledged, unknown, sum)
	}
	t.Logf("transactions: %d counts acknowledged, %d unknown, %d lost; told%s", acknowledged, unknown, max(0, acknowledged-sum), &c.told)
}

//go:build !race

package writer

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/testutil/cost"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// How long a stored error takes to be decoded grows with its bytes, and not with their square, whatever it has many of.
// An error is compared with 16 of a sixteenth, in processor time of one thread, so that other load does not count. With
// the square it would take 16 times as long. The race detector is left out: it slows the garbage collection of large
// values down more than the rest.
func TestStoredErrorsAreDecodedInLinearTime(t *testing.T) { //nolint:paralleltest // it stays on one thread
	at := time.Now().UnixMicro()
	key := strings.Repeat("k", 60_000)
	for name, stored := range map[string]func(n int) wireError{
		"transactions with claims": func(n int) wireError {
			w := wireError{Op: "x", Timestamp: at, Mode: Transaction}
			for i := range n {
				w.Decision.Conditions = append(w.Decision.Conditions, signUp(at, i))
			}
			return w
		},
		"conditions under a long key": func(n int) wireError {
			w := wireError{Op: "x", Timestamp: at, Mode: Transaction}
			long := forgedCondition{
				Entity: "e", Kind: tables.Insert, Versioned: true, Transactional: true, Version: entity.Version(at, 0),
				VersionColumn: "version",
				Keyspace:      "shop", Table: "t", Part: 1,
			}
			for i := range n / 200 {
				long.Key, long.Columns = i+1, append(long.Columns, cell(fmt.Sprintf("k%x", i), wireHas, "text", []byte(key)))
			}
			w.Decision.Conditions = append(w.Decision.Conditions, wire.Append(nil, long))
			for i := range n {
				w.Decision.Conditions = append(w.Decision.Conditions, signUp(at, i))
			}
			return w
		},
		"keys given up for a long value": func(n int) wireError {
			c := forgedCondition{
				Entity: "e", Kind: tables.Insert, Versioned: true, Version: entity.Linked(entity.Version(at, 0), gocql.UUID{}),
				VersionColumn: "version", Keyspace: "shop", Table: "t",
				Key: 1, Part: 1,
				Columns: []forgedCell{
					cell("id", wireHas, "int", number(1)),
					cell("email", wireHas, "text", []byte(strings.Repeat(key, n/200))),
				},
			}
			for i := range n {
				c.Releases = append(c.Releases, forgedClaim{
					"shop", fmt.Sprintf("t%d", i), 1,
					[]forgedCell{cell("email", wireHas, "text", []byte("e"))},
				})
			}
			return wireError{
				Op: "x", Timestamp: at, Mode: Conditional,
				Decision: wireDecision{Conditions: [][]byte{wire.Append(nil, c)}},
			}
		},
		"compared columns of a long key": func(n int) wireError {
			c := forgedCondition{Entity: "e", Kind: tables.Update, Keyspace: "shop", Table: "t", Key: n, Part: 1}
			for i := range 2 * n {
				c.Columns = append(c.Columns, cell(fmt.Sprintf("c%x", i), wireHas, "int", number(i)))
			}
			c.Compared = c.Columns[n:]
			return wireError{
				Op: "x", Timestamp: at, Mode: Conditional,
				Decision: wireDecision{Conditions: [][]byte{wire.Append(nil, c)}},
			}
		},
		"tables": func(n int) wireError {
			w := wireError{Op: "x", Timestamp: at, Mode: FanOut}
			for i := range n {
				m := put(at, func(m *forged) { m.Table = fmt.Sprintf("t%d", i) })
				w.Paths = append(w.Paths, wirePath{Outcome: Unknown, Err: "e", Mutations: [][]byte{m.stored()}})
			}
			return w
		},
	} {
		const few, times = 600, 16
		took := func(n, repeats int) time.Duration {
			data := sealed(stored(n))
			runtime.GC()
			_, spent := cost.Of(func() {
				for range repeats {
					e := new(Error)
					if err := e.UnmarshalBinary(data); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					_ = e.Error()
				}
			})
			return spent
		}
		ratio := math.Inf(1)
		for range 3 { // the least: caches are shared with other processes
			small, large := took(few, 2*times), took(times*few, 2) // as many bytes
			t.Logf("%s: %v, %v", name, small, large)
			if ratio = min(ratio, float64(large)/float64(small)); ratio <= 5 {
				break
			}
		}
		if ratio > 5 {
			t.Errorf("%s: in one error the same takes %.1f times as long", name, ratio)
		}
	}
}

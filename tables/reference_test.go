package tables_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/internal/testutil/race"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

const (
	referencePairs = 100_000 // of a declaration and a change
	referencePart  = 1_000   // pairs to a line of the file
	changesOfASet  = 50
)

// What is sent for 100,000 made-up pairs of declaration and change is what it was when the file was written: texts,
// bytes, timestamps, and which changes are invalid. A line of the file is the digest of 1,000 pairs, so that a
// difference can be found. Only with DENORM_TEST_LENGTH=1 are all compared, and does -update write the file again,
// which is right only if different requests are meant.
func TestReference(t *testing.T) {
	t.Parallel()
	pairs := max(10, length.Of(t, referencePairs/referencePart)) * referencePart
	if race.Enabled { // CI runs all of them without
		pairs = 4 * referencePart
	}
	var text strings.Builder
	counts := make(map[string]int)
	for part := range pairs / referencePart {
		h := reference{sha256.New()}
		for n := range referencePart / changesOfASet {
			r := rand.New(rand.NewPCG(uint64(part), uint64(n)))
			changes, kind := referenceSet(r)
			counts[kind]++
			h.add("%s\n", kind)
			for range changesOfASet {
				counts[h.change(r, changes())]++
			}
		}
		fmt.Fprintf(&text, "%06d %x\n", part*referencePart, h.Sum(nil)[:12])
	}
	t.Log(counts)
	for _, what := range []string{
		"plain", "counters", "versioned", "compared", "insert", "update", "upsert", "delete", "add", "patch", "claims",
		"merge", "invalid",
	} {
		if counts[what] < pairs/50_000+1 {
			t.Errorf("only %d of %s in %d pairs: %v", counts[what], what, pairs, counts)
		}
	}
	if counts["invalid"] > pairs/5 {
		t.Errorf("%d changes are invalid", counts["invalid"])
	}
	if pairs == referencePairs {
		golden.Check(t, "reference.golden", text.String())
	} else if want, err := os.ReadFile("testdata/reference.golden"); err != nil ||
		!strings.HasPrefix(string(want), text.String()) {
		t.Errorf("%v, got\n%s", err, &text)
	}
}

// reference is a digest of requests.
type reference struct{ hash.Hash }

func (h reference) add(format string, args ...any) { _, _ = fmt.Fprintf(h, format, args...) }

// change adds what a change sends, and gives what kind it is of.
func (h reference) change(r *rand.Rand, c tables.Change) string {
	at := referenceNow.UnixMicro() + r.Int64N(1000)
	keyspace := func(name string) string { return name + "_eu" }
	h.add("%s %d\n", c, at)
	kind := c.Kind().String()
	var invalid *tables.InvalidError
	if c.Internal().Conditional() {
		out, err := c.Internal().RenderConditional(at, timeuuidAt(at), keyspace)
		if errors.As(err, &invalid) {
			h.add("invalid %s %s %s\n", invalid.Entity, invalid.Table, invalid.Column)
			return "invalid"
		}
		cond := out.Condition
		h.add("%s %x %t %x %d %s %s\n", cond, cond.PartitionKey, cond.Base().Set.LocalSerial, cond.Keys, cond.Digest(), cond.Before,
			cond.Version)
		if cond.By != layout.Compared {
			for _, s := range cond.Base().Swap(cond.Swap()) {
				h.statement(s)
			}
			for _, s := range finishing(cond) {
				h.statement(s)
			}
		} else {
			h.statement(cond.Compare())
		}
		for _, claim := range out.Claims {
			h.statement(claim.Take(timeuuidAt(at + 1)))
			h.statement(claim.Replace(timeuuidAt(at+1), timeuuidAt(at-1)))
			kind = "claims"
		}
		for _, claim := range out.Releases {
			h.statement(claim.Free(timeuuidAt(at - 1)))
		}
		h.add("%x\n", out.Key)
		h.mutations(out.Mutations)
		return kind
	}
	out, err := c.Internal().Render(at, keyspace)
	if errors.As(err, &invalid) {
		h.add("invalid %s %s %s\n", invalid.Entity, invalid.Table, invalid.Column)
		return "invalid"
	}
	h.add("%x\n", out.Key)
	for _, m := range out.Mutations {
		if m.Kind == statement.Merge {
			kind = "merge"
		}
	}
	h.mutations(out.Mutations)
	return kind
}

func (h reference) mutations(list []statement.Mutation) {
	for i := range list {
		m := &list[i]
		h.add("%s %d %t %x %q %d\n", m, m.Timestamp, m.Rotates, m.PartitionKey, m.Names, m.Size())
		h.statement(statement.Bound{Text: m.Statement, Args: m.Args})
		if ends, ok := m.ExpiresAt(); ok {
			for _, now := range []time.Time{referenceNow, ends} {
				text, args := m.At(now)
				h.statement(statement.Bound{Text: text, Args: args})
			}
		}
	}
}

func (h reference) statement(s statement.Bound) {
	h.add("%s", s.Text)
	for _, a := range s.Args {
		switch v := a.(type) {
		case *cqltype.Value:
			if v.Data == nil {
				h.add("|%s null", v.Type.String())
				continue
			}
			h.add("|%s %x", v.Type.String(), v.Data)
		default: // gocql.UnsetValue, an UUID, a number, bytes, a map with one entry
			h.add("|%T %v", a, a)
		}
	}
	h.add("\n")
}

// timeuuidAt is a timeuuid of a time in microseconds.
func timeuuidAt(micros int64) gocql.UUID {
	return gocql.TimeUUIDWith(micros*10+0x01b21dd213814000, 1, []byte("denorm"))
}

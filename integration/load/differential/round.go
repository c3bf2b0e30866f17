package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// round makes statements for one table and a few keys. The same seed gives the same statements for other keys.
type round struct {
	*rand.Rand
	t       *table
	base    int                // the first of the values of the first column
	domains map[string][]datum // of the other columns of the key
	timed   bool               // writes have timestamps, which are small and few
	written int                // statements that write
	old     bool               // the real server has no MAXWRITETIME
	single  bool               // no IN of partition keys: in a batch with conditions Cassandra fails at it as at a bug of its own
}

// keys is how many values of the first column a round has.
const keys = 3

func newRound(t *table, seed uint64, base int) *round {
	g := &round{Rand: rand.New(rand.NewPCG(seed, 0)), t: t, base: base, domains: make(map[string][]datum)}
	for i, c := range t.key() {
		if i == 0 {
			for n := range keys {
				g.domains[c.name] = append(g.domains[c.name], number(base+n))
			}
			continue
		}
		g.domains[c.name] = c.typ.several(g.Rand, 2+g.IntN(2))
	}
	g.timed = !t.counter && !t.lwt && g.IntN(8) > 0
	return g
}

// roundSteps is about how many statements a round has.
const roundSteps = 40

// steps are its statements. One that writes is followed by some that read.
func (g *round) steps() []transcript.Step {
	var out []transcript.Step
	for len(out) < roundSteps {
		write := g.write()
		out = append(out, g.weigh(write, writeLevels))
		if g.t.brief {
			continue
		}
		if len(write.Statements) > 1 || g.IntN(3) > 0 {
			out = append(out, g.weigh(g.whole(), readLevels))
		}
		if g.IntN(2) == 0 {
			out = append(out, g.weigh(g.read(), readLevels))
		}
	}
	if g.t.brief {
		last := g.whole()
		last.Wait = 5
		out = append(out, last)
		for range 5 {
			out = append(out, g.read())
		}
	}
	return append(out, g.all())
}

// The levels alongside ALL. What is applied is on all replicas, as it may be read from any of them.
var (
	writeLevels = []string{"THREE", "SERIAL", "LOCAL_SERIAL"}
	readLevels  = []string{"ONE", "TWO", "THREE", "QUORUM", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE", "SERIAL", "LOCAL_SERIAL", "ANY"}
)

// weigh gives some steps a level.
func (g *round) weigh(s transcript.Step, levels []string) transcript.Step {
	if s.Batch != "" || strings.HasPrefix(s.Statements[0].Text, "BEGIN") {
		levels = levels[:1] // at SERIAL a batch is written by a quorum
	}
	if g.IntN(12) == 0 {
		s.Level = levels[g.IntN(len(levels))]
	}
	return s
}

// text is a statement that is being written.
type text struct {
	strings.Builder
	*round
	values []transcript.Value
	bound  int  // in percent
	once   bool // IN has no value twice: bounds of several columns follow
}

func (g *round) text(format string, args ...any) *text {
	x := &text{round: g, bound: []int{100, 100, 100, 0, 0, 50}[g.IntN(6)]}
	x.add(format, args...)
	return x
}

func (x *text) add(format string, args ...any) *text {
	_, _ = fmt.Fprintf(&x.Builder, format, args...) // never fails
	return x
}

// put adds a value, as a mark or a literal.
func (x *text) put(d datum) *text {
	if !d.unset && x.IntN(100) >= x.bound {
		return x.add("%s", d.text)
	}
	x.values = append(x.values, transcript.Value{Bytes: d.bytes, Unset: d.unset})
	return x.add("?")
}

// list adds values with commas between.
func (x *text) list(data []datum) *text { return each(x, data, ", ", func(d datum) { x.put(d) }) }

// each adds something for each of several, with a separator between.
func each[T any](x *text, several []T, separator string, add func(T)) *text {
	for i, one := range several {
		if i > 0 {
			x.add("%s", separator)
		}
		add(one)
	}
	return x
}

// statement is what was written.
func (x *text) statement() transcript.Statement {
	return transcript.Statement{Text: x.String(), Values: x.values}
}

func (x *text) step() transcript.Step {
	return transcript.Step{Statements: []transcript.Statement{x.statement()}}
}

// pick is one of several, each as often as its weight.
func (g *round) pick(weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	n := g.IntN(total)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return 0
}

// keyOf is some value of a column of the key.
func (g *round) keyOf(c column) datum {
	d := g.domains[c.name]
	return d[g.IntN(len(d))]
}

// some are some different values of a column of the key, in any order.
func (g *round) some(c column) []datum {
	var out []datum
	d := g.domains[c.name]
	for _, i := range g.Perm(len(d))[:1+g.IntN(len(d))] {
		out = append(out, d[i])
	}
	return out
}

// content is what is written to a column: a value, null or unset.
func (g *round) content(t typ) datum {
	switch g.pick(80, 12, 8) {
	case 1:
		return null
	case 2:
		return unset
	}
	return t.value(g.Rand)
}

// subset are some columns, at least one, in any order.
func (g *round) subset(columns []column) []column {
	if len(columns) == 0 {
		return nil
	}
	var out []column
	for _, i := range g.Perm(len(columns))[:1+g.IntN(min(4, len(columns)))] {
		out = append(out, columns[i])
	}
	return out
}

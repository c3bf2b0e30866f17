package differential

import (
	"context"
	"fmt"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/transcript"
)

// Pair is the two clusters.
type Pair struct{ Real, InProcess *gocql.Session }

// Played is a step and what the clusters have answered.
type Played struct {
	Step            transcript.Step
	Real, InProcess transcript.Reply
}

// Play carries steps out on both, up to the first one that they do not agree about.
func (p Pair) Play(ctx context.Context, steps []transcript.Step) (played []Played, difference string, lost bool) {
	for _, s := range steps {
		one := Played{Step: s, Real: transcript.Run(ctx, p.Real, s)}
		if one.Real.Lost() {
			return append(played, one), "", true
		}
		s.Wait = 0 // it has passed
		one.InProcess = transcript.Run(ctx, p.InProcess, s)
		played = append(played, one)
		if difference = transcript.Difference(one.Real, one.InProcess); difference != "" {
			return played, difference, false
		}
	}
	return played, "", false
}

// Finding is a difference.
type Finding struct {
	Seed       uint64
	Table      string
	Difference string
	Played     []Played // the last is the one they do not agree about
}

// String is the finding with the statements that lead to it.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (seed %d)\n", f.Table, f.Difference, f.Seed)
	for _, p := range f.Played {
		fmt.Fprintf(&b, "\t%v\n", p.Step)
		if p.Real.Error != "" {
			fmt.Fprintf(&b, "\t\trefused: %s\n", p.Real.Error)
		}
	}
	last := f.Played[len(f.Played)-1]
	fmt.Fprintf(&b, "\tCassandra:  %v\n\tin process: %v", last.Real, last.InProcess)
	return b.String()
}

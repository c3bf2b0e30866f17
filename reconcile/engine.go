package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/engine"
	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
)

// Internal is for engines of this repository that distribute the ranges of a run over several processes, as module
// reconcile/temporal does.
func (r *Reconciler) Internal(ctx context.Context, kind string, set tables.Described, fills string) (engine.Run, error) {
	options := []Option{Lookup()}
	if kind == engine.Backfill {
		options = append(options, Tables(fills))
	}
	j, err := r.open(ctx, set, options)
	switch {
	case err != nil:
		return nil, err
	case j.store != nil:
		return nil, invalid("State: another engine stores its runs itself: leave the option out")
	case kind != engine.Verify && kind != engine.Backfill:
		return nil, invalid("%q is not a kind of runs that can be done in units: %s and %s are", kind, engine.Verify, engine.Backfill)
	}
	if j.kind = kind; kind == engine.Backfill {
		if err := j.checkFill(); err != nil {
			return nil, err
		}
	}
	return units{j, each.Of(j.tables, func(t *table) string { return t.live.ID.String() })}, nil
}

// units does units of a job, each as a job of its own, all with its access.
type units struct {
	*job
	ids []string // of the tables on this cluster; a table that is created later under the same name has another one
}

// Phases implements [engine.Run].
func (u units) Phases() []engine.Phase {
	compares := engine.Phase{Tables: each.Of(u.compared(), (*table).Name), Names: u.names()}
	if u.kind != engine.Backfill {
		return []engine.Phase{compares}
	}
	return []engine.Phase{{Fills: true, Tables: compares.Tables[:1], Names: compares.Names[:1]}, compares}
}

// Declaration implements [engine.Run].
func (u units) Declaration() string {
	text, _ := json.Marshal([]any{u.kind, u.names(), describe.Of(u.set), u.ids, u.config.consistency, u.at}) // it has nothing that JSON does not have
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Share implements [engine.Run].
func (u units) Share(rate, inFlight int) {
	u.throttle.set(false, rate)
	u.throttle.setMost(max(1, min(inFlight, u.inFlight)))
}

// Do implements [engine.Run].
func (u units) Do(ctx context.Context, in engine.Unit, from engine.Done, tell func(engine.Done)) (engine.Done, error) {
	i := slices.IndexFunc(u.compared(), func(t *table) bool { return t.Name() == in.Table })
	if i < 0 {
		return from, invalid("table %s is none of the run", in.Table)
	}
	j := &job{
		config: u.config, access: u.access, set: u.set, entity: u.entity, kind: u.kind, tables: u.tables, queries: u.queries, uniques: u.uniques,
		report: &Report{Entity: u.entity, Began: time.Now()}, queue: newQueue(),
	}
	p := &pieces{job: j, in: in, table: u.compared()[i], counts: from, start: in.Low, tell: tell}
	if from.Begun {
		p.start = from.Cursor
	}
	p.at = p.start
	if j.counts = p; in.Fills {
		j.each = j.fillRow
	}
	p.cursor = p.at
	ctx, j.stop = context.WithCancelCause(ctx)
	defer j.stop(nil)
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		j.settleAll(ctx)
	}()
	err := p.scan(ctx)
	if err != nil {
		j.stop(err) // what waits to be looked at again comes after what is to be done again
	}
	j.queue.close()
	ticker := time.NewTicker(time.Second) // what is settled is told while the rest waits
	defer ticker.Stop()
	for ended := false; !ended; {
		select {
		case <-settled:
			ended = true
		case <-ticker.C:
		}
		if failed := p.advance(ctx); err == nil && failed != nil {
			err = failed
			j.stop(err)
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return p.done(), err
}

// pieces are the parts in which a unit is done, so that what is done of it ends between two tokens: a partition is
// never left in its middle, as a key would have to say where. What is left of a piece when a process ends is done
// again.
type pieces struct {
	*job
	in     engine.Unit
	table  *table
	start  int64 // what is before was done by attempts before this one
	at     int64 // all pieces are up to this
	tell   func(engine.Done)
	todo   []*piece    // in their order, those that are not known to be done
	cursor int64       // what is before is done
	counts engine.Done // also of earlier attempts

	mu     sync.Mutex
	claims []int64 // tokens of claims that no base row holds
}

// piece is a unit of the job.
type piece struct {
	*unit
	put int
}

// A piece should take some seconds, and a unit no less than three.
const (
	firstPieces = 4096 // of a unit
	shortPiece  = 2 * time.Second
	longPiece   = 20 * time.Second
)

// scan reads the pieces, until it is time to leave the rest.
func (p *pieces) scan(ctx context.Context) error {
	width := max(1, (uint64(p.in.High)-uint64(p.in.Low))/firstPieces)
	for first := true; p.at < p.in.High && (first || p.in.Until.IsZero() || time.Now().Before(p.in.Until)); first = false {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		high := p.in.High
		if width < uint64(high)-uint64(p.at) {
			high = p.at + int64(width)
		}
		next := &piece{unit: newUnit(p.table, segment{p.at, high})}
		began, put, uncovered := time.Now(), p.report.Put, p.uncovered()
		p.todo = append(p.todo, next)
		p.unit(ctx, next.unit)
		if next.put = p.report.Put - put; p.uncovered() > uncovered {
			next.failed.Store(true)
		}
		p.at = high
		switch took := time.Since(began); {
		case took < shortPiece && width < 1<<61:
			width *= 4
		case took > longPiece:
			width = max(1, width/2)
		}
		if err := p.advance(ctx); err != nil {
			return err
		}
	}
	return nil
}

// advance moves the cursor over what is done, and tells. It gives an error at a piece that should be done again.
func (p *pieces) advance(ctx context.Context) error {
	for len(p.todo) > 0 && p.todo[0].open.Load() == 0 {
		next := p.todo[0]
		if next.again.Load() {
			err := *next.cause.Load()
			away := p.away(ctx, err)
			if away || !p.in.Skip {
				err = fmt.Errorf("tokens above %d up to %d of %s: %w", next.in.low, next.in.high, p.table.qualified(), err)
				if away {
					err = fmt.Errorf("%w: %w", engine.ErrAway, err)
				}
				return err
			}
		}
		if next.failed.Load() {
			p.counts.Uncovered++
		}
		p.counts.Rows += next.rows.Load()
		p.counts.InFlight += next.inFlight.Load()
		p.counts.Ending += next.ending.Load()
		p.counts.Put += int64(next.put)
		p.cursor, p.todo = next.in.high, p.todo[1:]
	}
	p.tell(p.done())
	return nil
}

func (p *pieces) uncovered() int {
	p.report.mu.Lock()
	defer p.report.mu.Unlock()
	return p.report.Uncovered
}

// away says whether an error is due to the cluster and not to the place where it was met: too few replicas are alive,
// or a read of the base table at another place fails as well.
func (p *pieces) away(ctx context.Context, err error) bool {
	var unavailable *gocql.RequestErrUnavailable
	if errors.As(err, &unavailable) {
		return true
	}
	token := rand.Int64() - rand.Int64() //nolint:gosec // any place of the ring
	_, _, failed := p.page(ctx, p.base(), segment{token - 1, token}, 1, mark{})
	return failed != nil
}

// done is what is done up to the cursor.
func (p *pieces) done() engine.Done {
	out := p.counts
	out.Begun, out.Cursor, out.Found = true, p.cursor, nil
	out.Found.AddAll(p.counts.Found)
	p.report.mu.Lock()
	for i := range p.report.findings {
		if f := &p.report.findings[i]; p.token(f) <= p.cursor {
			out.Found.Add(f.Table, f.Class.String(), 1)
		}
	}
	if p.report.omitted > 0 {
		out.Uncovered++ // their number is not known
	}
	p.report.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, token := range p.claims {
		if token <= p.cursor {
			out.Unheld++
		}
	}
	return out
}

// ofBase says whether a class is found by who reads the base row, as nothing in the other table leads to it.
func ofBase(c Class, row int64) bool {
	return c == repair.Missing || c == repair.Unclaimed || c == repair.Shared || c == repair.Ahead && row == 0
}

// token is where the row is of which a finding is one.
func (p *pieces) token(f *Finding) int64 {
	if ofBase(f.Class, micros(f.RowTime)) {
		return tokenOf(p.base(), f.entity)
	}
	return tokenOf(f.t, f.key)
}

func tokenOf(t *table, key string) int64 {
	_, partition := tablerow.Arguments(t.Layout, key)
	return murmur3.Token(partition)
}

// own leaves the findings of rows of this unit: those of others are found by the units which read their rows, and are
// counted once.
func (p *pieces) own(found []Finding) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool {
		t := f.t
		if ofBase(f.Class, micros(f.RowTime)) {
			t = p.base()
		}
		token := p.token(&f)
		return t != p.table || !p.mine(token)
	})
}

// unheld notes a claim that no base row holds.
func (p *pieces) unheld(at place) {
	token := tokenOf(at.t, at.key)
	if at.t != p.table || !p.mine(token) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims = append(p.claims, token)
}

// mine says whether this attempt of the unit counts what is at a token.
func (p *pieces) mine(token int64) bool { return token > p.start && token <= p.in.High }

package reconcile

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/retry"
)

// claim is a key of a table of unique keys on the cluster, on behalf of an entity.
func (j *job) claim(p place, own string) *versioned.UniqueKey {
	c := tablerow.ClaimOf(p.t.Layout, own, p.key, j.keyspace)
	base := tablerow.BaseRow(j.base().Layout, own, j.keyspace)
	return versioned.NewKey(j.env(), c, base, func(owner *entity.Base) versioned.Store { return j.versionedBase(owner) })
}

// lookAtClaims reads those claims of a suspect that a look has not read yet.
func (j *job) lookAtClaims(ctx context.Context, s *suspect, l *repair.Look) error {
	read := make(map[place]bool, len(l.Claims))
	for _, c := range l.Claims {
		read[place{j.table(c.Table), c.Key}] = true
	}
	for p := range s.places {
		if !p.t.Unique() || read[p] {
			continue
		}
		c, err := j.readClaim(ctx, p, s.entity)
		if err != nil {
			return err
		}
		l.Claims = append(l.Claims, c)
	}
	return nil
}

// readClaim reads a claim, and if it is another entity's, whether that one's base row has the key.
func (j *job) readClaim(ctx context.Context, p place, own string) (repair.Claim, error) {
	out, k := repair.Claim{Table: p.t.Name(), Key: p.key}, j.claim(p, own)
	claim, _, err := decide.Try(ctx, j.baseOf(own), k.Read)
	if err != nil || claim.Owner == "" {
		return out, err
	}
	out.Owner, out.Own, out.At = claim.Owner, claim.Owner == own, entity.Timestamp(claim.Token)
	if out.Own {
		return out, nil
	}
	base := k.Base(claim.Owner)
	row, _, err := decide.Try(ctx, base, base.Read)
	out.Held = k.Held(row)
	return out, err
}

// placesOfClaims adds the unique keys of the base row to what is to be read, and says whether there are any that the
// look has not read.
func (j *job) placesOfClaims(s *suspect, l *repair.Look) (more bool) {
	if l.Base == nil {
		return false
	}
	for _, u := range j.uniques {
		if key, there := l.Base.KeyIn(u.Layout); there && !s.places[place{u, key}] {
			s.places[place{u, key}] = true
			more = true
		}
	}
	return more
}

// firstClaims reads the claims of a base row that a scan has found.
func (j *job) firstClaims(ctx context.Context, r *row, l *repair.Look) error {
	for _, u := range j.uniques {
		key, there := r.KeyIn(u.Layout)
		if !there {
			continue
		}
		have, err := j.row(ctx, u, key, j.level())
		if err != nil {
			return err
		}
		if l.Unique = append(l.Unique, u.Layout); have != nil {
			l.Claims = append(l.Claims, repair.Claim{Table: u.Name(), Key: key, Own: have.Entity() == r.Entity()})
		}
	}
	return nil
}

// unheld counts the claims of a look that no base row holds and no write in flight explains.
func (j *job) unheld(s *suspect, l repair.Look, began time.Time) (counted bool) {
	old := began.Add(-j.settle).UnixMicro()
	for _, c := range l.Unheld() {
		p := place{j.table(c.Table), c.Key}
		if c.At >= old || l.Version.At >= old || l.Version.Pending || s.unheld[p] {
			continue
		}
		if s.unheld == nil {
			s.unheld = make(map[place]bool)
		}
		s.unheld[p], counted = true, true
		j.report.unheld(p.t)
		if j.counts != nil {
			j.counts.unheld(p)
		}
	}
	return counted
}

// Why keys are not claimed.
const heldByTwo = "two base rows have the unique key, and nothing says which is right: Modify one of them to another key, or delete it"

var errTaken = left("another entity has the unique key, or has claimed it a moment ago: repair again; what is then shared is left to you")

// reclaim claims unique keys for a base row that has them, and gives it a new version. If another entity has one, the
// error is errTaken.
func (j *job) reclaim(ctx context.Context, own string, keys []repair.Finding) error {
	b := j.baseOf(own)
	row, _, err := decide.Try(ctx, b, b.Read)
	if err != nil || !row.Present || row.Unfinished() {
		return err // the next look says what there is to do
	}
	stored, _ := row.Columns.(*entity.Row)
	read := tablerow.OfBase(b.Base.Base, *stored)
	var claims []versioned.Key
	for _, f := range keys {
		t := j.table(f.Table)
		if key, there := read.KeyIn(t.Layout); there && key == f.Key {
			claims = append(claims, j.claim(place{t, key}, own))
		}
	}
	if len(claims) == 0 {
		return nil
	}
	result := versioned.Reclaim(ctx, b, row, claims, nextVersion, j.settle)
	var other *versioned.TakenError
	switch {
	case errors.As(result.Err, &other):
		return errTaken
	case result.Outcome == retry.Applied:
		return nil
	}
	return result.Err
}

func nextVersion(above int64) gocql.UUID {
	return entity.Version(max(time.Now().UnixMicro(), above+1), rand.Uint64()) //nolint:gosec // it tells writers apart, it hides nothing
}

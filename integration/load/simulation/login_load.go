package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// loginLoad changes rows that end, in part and as a whole, from what was known of their end some time ago. All that is
// not rejected is brought to its end, so each cell must be that of the write with the largest timestamp, or gone with
// its end, in both tables.
type loginLoad struct {
	*crew
	hot     []Login
	history *history.History[Login]

	mu sync.Mutex
	// Writes whose client was killed, and that had expired before they could be made again: nobody knows of them, nor can
	// finish them.
	lost map[int]bool
}

// The ends of logins: some come while messages are under way, others after all is over.
const (
	soon = 20 * time.Second
	far  = 4 * time.Hour
)

func newLoginLoad(c *crew, p *process) (*loginLoad, error) {
	l := &loginLoad{crew: c, history: history.New[Login](nil), lost: make(map[int]bool)}
	random := chance(c.Seed, c.index, 1)
	for n := range things {
		number, at := int64(l.number(0, n)), time.Now().Add(-2*skew).UnixMicro()
		v := Login{LoginID: uuid(random), UserID: uuid(random), Name: number, Page: number, EndsAt: time.Now().Add(far)}
		noted := l.history.BeginAt(c.service.name, tables.Insert, v, at)
		result, err := p.writer.With(writer.At(at)).Write(p.ctx, "login", loginSet.Insert(v))
		l.history.End(noted, result.Timestamp, err)
		if err != nil {
			return nil, err
		}
		l.hot = append(l.hot, v)
	}
	return l, nil
}

func (l *loginLoad) run(ctx context.Context) {
	l.work(ctx, func(ctx context.Context, name string, number uint64) {
		random := chance(l.Seed, number)
		p := l.current(ctx)
		now := time.Now()
		kind, v := tables.Update, l.hot[random.IntN(len(l.hot))]
		if random.IntN(4) == 0 {
			kind, v.LoginID, v.UserID = tables.Insert, uuid(random), uuid(random)
		}
		v.Name, v.Page, v.EndsAt = int64(number), int64(number), now.Add(far)
		if random.IntN(2) == 0 {
			v.EndsAt = now.Add(3*time.Second + time.Duration(random.Int64N(int64(soon))))
		}
		v.EndsAt = v.EndsAt.Truncate(time.Millisecond)
		at := now.Add(time.Duration(random.Int64N(int64(2*skew))) - skew).UnixMicro()
		change := loginSet.Insert(v)
		if kind == tables.Update {
			switch random.IntN(8) {
			case 0:
				kind, change = tables.Delete, loginSet.Delete(v)
			case 1, 2, 3:
				change = loginSet.Update(v, v)
			default:
				kind, change = tables.Patch, loginSet.Patch(v, tables.Column("page"))
			}
		}
		noted, made := l.history.BeginAt(name, kind, v, at), false // made: again, after its client was killed
		l.send(ctx, p, random, v.LoginID, number, at, change, &attempts{
			func(result writer.Result, err error) *writer.Error { return l.told(noted, v, made, result, l.Lie(err)) },
			func() { l.history.Again(noted) },
			func() {
				made = true
				l.history.Repeat(noted)
			},
		})
	})
}

// told notes what is known of a write.
func (l *loginLoad) told(noted int, v Login, made bool, result writer.Result, err error) *writer.Error {
	if made && errors.Is(err, writer.ErrInvalid) && !v.EndsAt.After(time.Now().Add(skew)) { // by a clock that may be ahead
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lost[noted] = true
		return nil
	}
	l.history.End(noted, result.Timestamp, err)
	return l.failed(err)
}

func (l *loginLoad) check(ctx context.Context, p *process, report *Report) error {
	found := make(map[string]map[gocql.UUID]string)
	for _, table := range loginTables {
		read, err := history.All[loginRow](ctx, p.session.Reads(), table, "login_id", "name", "page", "ends_at")
		if err != nil {
			return err
		}
		found[table] = make(map[gocql.UUID]string)
		for _, r := range read {
			found[table][r.LoginID] += r.String()
		}
	}
	report.add(l.crew, l.history.Count(), nil, l.faults(found)...)
	return nil
}

var loginTables = []string{"logins", "logins_by_user"}

// loginRow is a row of a login, of which all but the key may have ended. Its user is not looked at: a patch of what has
// ended leaves it out of the base table.
type loginRow struct {
	LoginID            gocql.UUID `json:"-"`
	Name, Page, EndsAt *int64
}

func (r loginRow) String() string {
	text, _ := json.Marshal(r) // never fails
	return string(text)
}

// faults is what must not be in the tables, or was told.
func (l *loginLoad) faults(found map[string]map[gocql.UUID]string) []string {
	writes := l.history.Writes()
	of := make(map[gocql.UUID][]int)
	var faults []string
	for n := range writes {
		id := writes[n].Row.LoginID
		of[id] = append(of[id], n)
		if wrong := writes[n].Contradiction; wrong != "" {
			faults = append(faults, fmt.Sprintf("login %v: %s", id, wrong))
		}
	}
	for id, numbers := range of {
		want, known := l.due(writes, numbers, time.Now())
		for _, table := range loginTables {
			if has := found[table][id]; has != want && known {
				faults = append(faults, fmt.Sprintf("login %v has in %s: %q, and must have: %q", id, table, has, want))
			}
			delete(found[table], id)
		}
	}
	for _, table := range loginTables {
		for id := range found[table] {
			faults = append(faults, fmt.Sprintf("login %v, which nobody made, is in %s", id, table))
		}
	}
	slices.Sort(faults)
	return faults
}

// due is the row that the writes with these numbers leave. It is not known after a write that was lost, until a later
// one has replaced the row.
func (l *loginLoad) due(writes []history.Write[Login], numbers []int, now time.Time) (row string, known bool) {
	var left loginRow
	known = true
	slices.SortFunc(numbers, func(a, b int) int { return cmp.Compare(writes[a].Timestamp, writes[b].Timestamp) })
	for _, n := range numbers {
		w := &writes[n]
		switch {
		case w.Outcome == writer.NotApplied:
			continue
		case l.lost[n]:
			known = false
		case w.Outcome == writer.Applied && w.Kind != tables.Patch:
			known = true
		}
		if w.Kind != tables.Patch {
			left.Name = nil
		}
		left.Page, left.EndsAt = nil, nil
		if w.Kind == tables.Delete || !w.Row.EndsAt.After(now) {
			continue
		}
		ends := w.Row.EndsAt.UnixMilli()
		left.Page, left.EndsAt = &w.Row.Page, &ends
		if w.Kind != tables.Patch {
			left.Name = &w.Row.Name
		}
	}
	if left == (loginRow{}) {
		return "", known
	}
	return left.String(), known
}

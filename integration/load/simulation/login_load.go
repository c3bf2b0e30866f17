package simulation

import (
	"context"
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
	hot []Login

	mu     sync.Mutex
	writes []*loginWrite
}

// loginWrite is a logical write.
type loginWrite struct {
	Login

	kind    tables.Kind
	at      int64
	refused bool // it was said not to be applied, and left
	applied bool
	open    bool
	made    bool // again, after its client was killed
	lost    bool // its client was killed, and it had expired before it could be made again: nobody knows, nor can finish it
}

// The ends of logins: some come while messages are under way, others after all is over.
const (
	soon = 20 * time.Second
	far  = 4 * time.Hour
)

func newLoginLoad(c *crew, p *process) (*loginLoad, error) {
	l := &loginLoad{crew: c}
	random := chance(c.Seed, c.index, 1)
	for n := range things {
		number := int64(l.number(0, n))
		v := &loginWrite{
			Login: Login{LoginID: uuid(random), UserID: uuid(random), Name: number, Page: number, EndsAt: time.Now().Add(far)},
			kind:  tables.Insert, applied: true, at: time.Now().Add(-2 * skew).UnixMicro(),
		}
		if _, err := p.writer.With(writer.At(v.at)).Write(p.ctx, "login", loginSet.Insert(v.Login)); err != nil {
			return nil, err
		}
		l.hot, l.writes = append(l.hot, v.Login), append(l.writes, v)
	}
	return l, nil
}

func (l *loginLoad) run(ctx context.Context) {
	l.work(ctx, func(ctx context.Context, _ string, number uint64) {
		random := chance(l.Seed, number)
		p := l.current(ctx)
		now := time.Now()
		v := &loginWrite{kind: tables.Update, open: true, Login: l.hot[random.IntN(len(l.hot))]}
		if random.IntN(4) == 0 {
			v.kind, v.LoginID, v.UserID = tables.Insert, uuid(random), uuid(random)
		}
		v.Name, v.Page, v.EndsAt = int64(number), int64(number), now.Add(far)
		if random.IntN(2) == 0 {
			v.EndsAt = now.Add(3*time.Second + time.Duration(random.Int64N(int64(soon))))
		}
		v.EndsAt = v.EndsAt.Truncate(time.Millisecond)
		v.at = now.Add(time.Duration(random.Int64N(int64(2*skew))) - skew).UnixMicro()
		change := loginSet.Insert(v.Login)
		if v.kind == tables.Update {
			switch random.IntN(8) {
			case 0:
				v.kind, change = tables.Delete, loginSet.Delete(v.Login)
			case 1, 2, 3:
				change = loginSet.Update(v.Login, v.Login)
			default:
				v.kind, change = tables.Patch, loginSet.Patch(v.Login, tables.Column("page"))
			}
		}
		l.mu.Lock()
		l.writes = append(l.writes, v)
		l.mu.Unlock()
		l.send(ctx, p, random, v.LoginID, number, v.at, change, &attempts{
			func(_ writer.Result, err error) *writer.Error { return l.told(v, l.Lie(err)) },
			func() { l.again(v) }, func() { l.madeAgain(v) },
		})
	})
}

// told notes what is known of a write.
func (l *loginLoad) told(v *loginWrite, err error) *writer.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v.made && errors.Is(err, writer.ErrInvalid) && !v.EndsAt.After(time.Now().Add(skew)) { // by a clock that may be ahead
		v.lost = true
		return nil
	}
	failed := l.failed(err)
	v.applied = v.applied || err == nil
	v.refused = errors.As(err, &failed) && failed.NotApplied()
	v.open = !v.applied && !v.refused
	return failed
}

func (l *loginLoad) again(v *loginWrite) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.refused, v.open = false, !v.applied
}

func (l *loginLoad) madeAgain(v *loginWrite) {
	l.again(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	v.made = true
}

func (l *loginLoad) check(ctx context.Context, p *process, report *Report) (err error) {
	found := make(map[string]map[gocql.UUID]string)
	for _, table := range loginTables {
		if found[table], err = readLogins(ctx, p.session.Reads(), table); err != nil {
			return err
		}
	}
	report.logins(l, l.faults(found))
	return nil
}

var loginTables = []string{"logins", "logins_by_user"}

func readLogins(ctx context.Context, session *gocql.Session, table string) (map[gocql.UUID]string, error) {
	read, err := history.All[loginRow](ctx, session, table, "login_id", "name", "page", "ends_at")
	rows := make(map[gocql.UUID]string)
	for _, r := range read {
		rows[r.LoginID] += shown(r.Name, r.Page, r.EndsAt)
	}
	return rows, err
}

// loginRow is a row of a login, of which all but the key may have ended.
type loginRow struct {
	LoginID    gocql.UUID
	Name, Page *int64
	EndsAt     *time.Time
}

// shown is a row. Its user is not looked at: a patch of what has ended leaves it out of the base table.
func shown(name, page *int64, ends *time.Time) string {
	text := "a row"
	if name != nil {
		text += fmt.Sprintf(", name %d", *name)
	}
	if page != nil {
		text += fmt.Sprintf(", page %d", *page)
	}
	if ends != nil {
		text += fmt.Sprintf(", until %d", ends.UnixMilli())
	}
	return text
}

// faults is what must not be in the tables.
func (l *loginLoad) faults(found map[string]map[gocql.UUID]string) []string {
	of := make(map[gocql.UUID][]*loginWrite)
	for _, v := range l.writes {
		of[v.LoginID] = append(of[v.LoginID], v)
	}
	var faults []string
	for id, writes := range of {
		want, known := due(writes, time.Now())
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

// due is the row that writes leave. It is not known after a write that was lost, until a later one has replaced the
// row.
func due(writes []*loginWrite, now time.Time) (row string, known bool) {
	var name, page *int64
	var ends *time.Time
	known = true
	slices.SortFunc(writes, func(a, b *loginWrite) int { return int(a.at - b.at) })
	for _, v := range writes {
		switch {
		case v.refused:
			continue
		case v.lost:
			known = false
		case v.applied && v.kind != tables.Patch:
			known = true
		}
		lives := v.kind != tables.Delete && v.EndsAt.After(now)
		if v.kind != tables.Patch {
			name = nil
		}
		page, ends = nil, nil
		if !lives {
			continue
		}
		page, ends = &v.Page, &v.EndsAt
		if v.kind != tables.Patch {
			name = &v.Name
		}
	}
	if name == nil && page == nil && ends == nil {
		return "", known
	}
	return shown(name, page, ends), known
}

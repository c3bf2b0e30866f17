package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// ledger is a set whose rows carry the numbers of their changes, and are changed under conditions.
type ledger[T any] struct {
	set     *tables.Set[T]
	key     func(id gocql.UUID) T
	change  func(l *ledgerLoad[T], random *rand.Rand, before T, number int64) T // of a zero before: creates
	last    func(row T) int64                                                   // its latest change
	read    func(ctx context.Context, session *gocql.Session) (*soak.AccountTables, error)
	check   func(t *soak.AccountTables, ids []gocql.UUID, writes []history.Write[soak.Account]) *soak.AccountReport
	unowned func(ctx context.Context, session *gocql.Session, row T) string // what is wrong with the owner of its unique key; nil: it has none
	touches bool                                                            // the next change of a row finishes what others have left
}

var accountLedger = ledger[soak.Account]{
	set: soak.Accounts,
	key: func(id gocql.UUID) soak.Account { return soak.Account{AccountID: id} },
	change: func(l *ledgerLoad[soak.Account], random *rand.Rand, a soak.Account, number int64) soak.Account {
		before := a.Changes
		a.Changes = append(slices.Clone(before), number)
		a.Status = fmt.Sprintf("status %d", random.IntN(1000))
		if a.Email == "" {
			a.Email = soak.Address(len(l.ids))
			return a
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		email := l.former[before[len(before)-1]]
		if random.IntN(l.moves) > 0 && (email == "" || random.IntN(2) == 0) {
			return a
		}
		if email == "" || random.IntN(4) == 0 {
			email = soak.Address(random.IntN(l.addresses))
		}
		if email != a.Email {
			l.former[number], a.Email = a.Email, email
		}
		return a
	},
	last: func(a soak.Account) int64 { return a.Changes[len(a.Changes)-1] },
	read: soak.ReadAccounts, check: soak.CheckAccounts, unowned: unowned, touches: true,
}

// unowned tells of an account whose address the register gives to nobody or to another, though the account has had it
// since it was read: its version has stayed.
func unowned(ctx context.Context, session *gocql.Session, a soak.Account) string {
	one := func(statement string, key any) (id gocql.UUID, err error) {
		return id, session.Query(statement, key).WithContext(ctx).Consistency(gocql.Consistency(gocql.Serial)).Scan(&id)
	}
	owner, err := one("SELECT account_id FROM accounts_by_email WHERE email = ?", a.Email)
	if err != nil && !errors.Is(err, gocql.ErrNotFound) || owner == a.AccountID {
		return ""
	}
	if version, err := one("SELECT version FROM accounts WHERE account_id = ?", a.AccountID); err != nil || version != a.Version {
		return ""
	}
	return fmt.Sprintf("account %v has %s, and the register says that %v has it", a.AccountID, a.Email, owner)
}

var seatLedger = ledger[Seat]{
	set: seatSet,
	key: func(id gocql.UUID) Seat { return Seat{SeatID: id} },
	change: func(_ *ledgerLoad[Seat], _ *rand.Rand, s Seat, number int64) Seat {
		s.Changes = append(slices.Clone(s.Changes), number)
		s.Holder = number
		return s
	},
	last: func(s Seat) int64 { return s.Changes[len(s.Changes)-1] },
	read: readSeats, check: soak.CheckChanges,
}

func readSeats(ctx context.Context, session *gocql.Session) (*soak.AccountTables, error) {
	rows, err := history.All[soak.AccountRow](ctx, session, "seats", "seat_id AS account_id", "changes")
	return &soak.AccountTables{Base: rows}, err
}

// ledgerLoad changes rows, of accounts their addresses too. Nobody finishes all that failed, or what a killed client
// was at, but the next one to change the row.
type ledgerLoad[T any] struct {
	*crew
	ledger[T]
	history   *history.History[soak.Account]
	ids       []gocql.UUID
	owners    []string // what was wrong with owners of keys meanwhile
	moves     int      // of that many changes of an account, one is of its address
	addresses int
	before    *soak.AccountReport // before every row was touched

	mu     sync.Mutex
	former map[int64]string // addresses that changes give up, and the next ones often want back
}

func newLedgerLoad[T any](c *crew, p *process, of ledger[T]) (*ledgerLoad[T], error) {
	l := &ledgerLoad[T]{crew: c, ledger: of, history: history.New[soak.Account](nil), former: make(map[int64]string)}
	random := chance(c.Seed, c.index, 1)
	rows := things * 4 // a transaction at a time
	l.moves, l.addresses = 5, 2*rows
	if c.Seed%2 == 0 { // few addresses for few accounts, which go to and fro
		rows = things / 2
		l.moves, l.addresses = 2, 4*rows
	}
	for i := range rows {
		id, number := uuid(random), int64(l.number(0, i))
		noted := l.history.Begin(c.service.name, tables.Insert, soak.Account{AccountID: id, Changes: []int64{number}})
		result, err := p.writer.Write(p.ctx, "create", l.set.Insert(l.change(l, random, l.key(id), number)))
		l.history.End(noted, result.Timestamp, err)
		if err != nil {
			return nil, err
		}
		l.ids = append(l.ids, id)
	}
	return l, nil
}

func (l *ledgerLoad[T]) run(ctx context.Context) {
	l.work(ctx, func(ctx context.Context, name string, number uint64) {
		random := chance(l.Seed, number)
		id := l.ids[random.IntN(len(l.ids))]
		for {
			p := l.current(ctx)
			before, err := writer.Load(p.ctx, p.writer, "load", l.set, l.key(id)) //nolint:contextcheck // it ends with its process
			if err == nil {
				if l.unowned != nil {
					l.own(ctx, p, before)
				}
				l.write(ctx, p, name, random, number, id, before)
				return
			}
			rest(random)
		}
	})
}

// own notes if a row does not own its unique key.
func (l *ledgerLoad[T]) own(ctx context.Context, p *process, row T) {
	if wrong := l.unowned(ctx, p.session.Reads(), row); wrong != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.owners = append(l.owners, wrong)
	}
}

// write makes one change, which other clients may have overtaken.
func (l *ledgerLoad[T]) write(ctx context.Context, p *process, name string, random *rand.Rand, number uint64, id gocql.UUID, before T) {
	after := l.change(l, random, before, int64(number))
	l.queue.echo(ctx, id, random)
	l.queue.echo(ctx, l.last(before), random)
	noted := l.history.Begin(name, tables.Update, soak.Account{AccountID: id, Changes: []int64{int64(number)}})
	l.doom(p, random)
	l.meets(number)
	result, err := mood(p.writer, random).Write(p.ctx, "change", l.set.Update(before, after)) //nolint:contextcheck // it ends with its process
	l.meets(number)
	if p.killed() {
		l.weather.note(clientKilled, number)
		return
	}
	// What was rejected is left to the queue as well, now and then: whoever fills it may not look.
	told := told(l.crew, l.history, noted)
	if failed := told(result, err); failed != nil && random.IntN(4) > 0 {
		l.queue.hand(ctx, p, random, failed, &message{
			attempts: &attempts{told: told, again: func() { l.history.Again(noted) }},
			about:    []any{id, int64(number)}, number: number, most: 4,
		})
	}
}

// finish touches every row, as the next change would.
func (l *ledgerLoad[T]) finish(ctx context.Context) {
	p := l.current(ctx)
	defer l.clients.close()
	contents, err := l.read(ctx, p.session.Reads())
	if err != nil {
		l.trouble(fmt.Errorf("%s: %w", l.service.name, err))
		return
	}
	l.before = l.ledger.check(contents, l.ids, l.history.Writes())
	if !l.touches {
		return
	}
	for _, id := range l.ids {
		_, err := writer.Modify(ctx, p.writer, "touch", l.set, l.key(id), func(row T) (T, error) { return row, nil })
		if err != nil {
			l.trouble(fmt.Errorf("%s: touch a row: %w", l.service.name, err))
		}
	}
}

func (l *ledgerLoad[T]) check(ctx context.Context, p *process, report *Report) error {
	contents, err := l.read(ctx, p.session.Reads())
	if err != nil || l.before == nil { // there is a trouble
		return err
	}
	found := l.ledger.check(contents, l.ids, l.history.Writes())
	report.add(l.crew, l.history.Count(), map[string]int{
		"pending in the base row, completed by the next write": l.before.Divergence(), "unique address without an owner": len(found.Unclaimed),
	}, append(l.owners, soak.Wrong(l.before, found)...)...)
	return nil
}

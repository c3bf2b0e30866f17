package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/history"
	"github.com/denorm-go/denorm/integration/soak"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// accountLoad changes accounts, their addresses too. Nobody finishes what failed, or what a killed client was at, but the next
// one to change the account.
type accountLoad struct {
	*crew
	history  *history.History[soak.Account]
	accounts []gocql.UUID
	before   *soak.AccountReport // before every account was touched
}

func newAccountLoad(w *world, s service, index uint64, share int) (*accountLoad, error) {
	l := &accountLoad{crew: newCrew(w, s, index, share), history: history.New[soak.Account](nil)}
	random := chance(w.Seed, index, 1)
	p, err := boot(context.Background(), w.cluster, s.keyspace, 0, s.mode)
	if err != nil {
		return nil, err
	}
	defer p.close()
	for i := range things * 4 { // a transaction at a time
		id := uuid(random)
		number := int64(l.number(0, i))
		a := soak.Account{AccountID: id, Email: soak.Address(i), Status: "new", Changes: []int64{number}}
		noted := l.history.Begin(s.name, tables.Insert, soak.Account{AccountID: id, Changes: a.Changes})
		result, err := p.writer.Write(p.ctx, "createAccount", soak.Accounts.Insert(a))
		l.history.End(noted, result.Timestamp, err)
		if err != nil {
			return nil, err
		}
		l.accounts = append(l.accounts, id)
	}
	return l, nil
}

func (l *accountLoad) run(ctx context.Context) {
	l.work(ctx, func(ctx context.Context, name string, number uint64) {
		random := chance(l.Seed, number)
		key := soak.Account{AccountID: l.accounts[random.IntN(len(l.accounts))]}
		for {
			p := l.current(ctx)
			before, err := writer.Load(p.ctx, p.writer, "account", soak.Accounts, key) //nolint:contextcheck // it ends with its process
			if err == nil {
				l.change(p, name, random, number, before)
				return
			}
			rest(random)
		}
	})
}

// change makes one change, which other clients may have overtaken.
func (l *accountLoad) change(p *process, name string, random *rand.Rand, number uint64, before soak.Account) {
	after := before
	after.Changes = append(slices.Clone(before.Changes), int64(number))
	after.Status = fmt.Sprintf("status %d", random.IntN(1000))
	if random.IntN(5) == 0 {
		after.Email = soak.Address(random.IntN(2 * len(l.accounts)))
	}
	noted := l.history.Begin(name, tables.Update, soak.Account{AccountID: before.AccountID, Changes: []int64{int64(number)}})
	l.doom(p, random)
	l.meets(number)
	result, err := mood(p.writer, random).Write(p.ctx, "changeAccount", soak.Accounts.Update(before, after))
	l.meets(number)
	for resumed := false; ; resumed = true {
		if p.killed() {
			l.weather.note("client killed", number)
			return
		}
		err = l.Lie(err)
		l.history.End(noted, result.Timestamp, err)
		var failed *writer.Error
		switch {
		case err == nil || errors.As(err, &failed) && failed.NotApplied() && !errors.Is(err, writer.ErrInvalid):
			return
		case failed == nil || errors.Is(err, writer.ErrInvalid):
			l.trouble(fmt.Errorf("%s: %w", name, err))
			return
		case resumed || random.IntN(2) == 0:
			return
		}
		l.history.Again(noted)
		result, err = p.writer.Resume(p.ctx, failed)
	}
}

// finish touches every account, as the next change would.
func (l *accountLoad) finish(ctx context.Context) {
	p := l.current(ctx)
	contents, err := soak.ReadAccounts(ctx, p.reads)
	if err != nil {
		l.trouble(fmt.Errorf("%s: %w", l.service.name, err))
		return
	}
	l.before = soak.CheckAccounts(contents, l.accounts, l.history.Writes())
	for _, id := range l.accounts {
		_, err := writer.Modify(ctx, p.writer, "touchAccount", soak.Accounts, soak.Account{AccountID: id},
			func(a soak.Account) (soak.Account, error) { return a, nil })
		if err != nil {
			l.trouble(fmt.Errorf("%s: touch an account: %w", l.service.name, err))
		}
	}
}

func (l *accountLoad) check(ctx context.Context, report *Report) {
	p := l.current(ctx)
	defer func() { p.close() }()
	contents, err := soak.ReadAccounts(ctx, p.reads)
	if err != nil {
		l.trouble(fmt.Errorf("%s: %w", l.service.name, err))
		return
	}
	if l.before == nil { // there is a trouble
		return
	}
	report.accounts(l, l.before, soak.CheckAccounts(contents, l.accounts, l.history.Writes()))
}

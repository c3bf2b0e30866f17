package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Account is a versioned row with an e-mail address that no other one has. It carries the numbers of the changes that
// were made to it, so that what became of each of them can be read from it forever.
type Account struct {
	AccountID gocql.UUID
	Email     string
	Status    string // any text, so the tables by status cannot be swept
	Changes   []int64
	Version   gocql.UUID
}

// Accounts are kept by id and by status. The addresses are a register alongside them.
var Accounts = tables.Must(tables.New[Account]("account",
	tables.Table{Name: "accounts", PartKey: []string{"account_id"}},
	tables.Table{Name: "accounts_by_status", PartKey: []string{"status"}, SortKey: []string{"account_id"}},
	tables.Table{Name: "accounts_by_email", PartKey: []string{"email"}, Unique: true},
	tables.Versioned("version"),
	tables.Type("changes", "frozen<list<bigint>>"),
))

// Grace is how long a claim of an address that its owner does not hold is left alone.
const Grace = 2 * time.Second

// AccountService is what the clients of accounts are called.
const AccountService = "accounts"

// addresses is how many there are for each account: few enough that accounts want the same one.
const addresses = 2

// Address is one of the addresses that accounts may have.
func Address(n int) string { return fmt.Sprintf("%d@example.org", n) }

// AccountClient changes accounts, in a process of its own that can be killed at any moment.
type AccountClient struct {
	hot.Process
	Accounts []gocql.UUID `json:"accounts"`
}

// Run changes accounts until it is over.
func (c *AccountClient) Run(over context.Context) error {
	return c.Do(over, func(ctx context.Context, p hot.Running) error {
		l := accountLoad{AccountClient: c, history: history.New[Account](p.Journal)}
		l.number.Store(c.First)
		return parallel.Do(c.Writers, c.Writers, func(n int) error {
			w := p.Writer
			if n%2 == 1 {
				w = w.With(hot.Impatient())
			}
			return l.work(ctx, over.Done(), w)
		})
	}, writer.ClaimGrace(Grace))
}

type accountLoad struct {
	*AccountClient
	history *history.History[Account]
	number  atomic.Int64
}

func (l *accountLoad) work(ctx context.Context, over <-chan struct{}, w *writer.Writer) error {
	rest := func() (isOver bool) { return sleep.Unless(over, rand.N(2*l.Pause)) }
	for {
		before := l.before(ctx, w)
		for _, before := range before {
			if rest() {
				return nil
			}
			if err := l.change(ctx, w, before); err != nil {
				return fmt.Errorf("%s: %w", l.Name, err)
			}
		}
		if len(before) == 0 && rest() {
			return nil
		}
	}
}

// before reads some accounts. By the time that the last of them is written others may have been there.
func (l *accountLoad) before(ctx context.Context, w *writer.Writer) []Account {
	const ahead = 3
	var read []Account
	for range ahead {
		id := l.Accounts[rand.IntN(len(l.Accounts))]
		if a, err := writer.Load(ctx, w, "account", Accounts, Account{AccountID: id}); err == nil {
			read = append(read, a)
		}
	}
	return read
}

// change makes one change, from a before-image that another client may have overtaken. What is not known afterwards is
// resumed once, stored for somebody else, or left.
func (l *accountLoad) change(ctx context.Context, w *writer.Writer, before Account) error {
	number := l.number.Add(1)
	after := before
	after.Changes = append(append([]int64(nil), before.Changes...), number)
	after.Status = fmt.Sprintf("status %d", rand.IntN(1000))
	if rand.IntN(5) == 0 {
		after.Email = Address(rand.IntN(addresses * len(l.Accounts)))
	}
	noted := l.history.Begin(l.Name, tables.Update, Account{AccountID: before.AccountID, Changes: []int64{number}})
	res, err := w.Write(ctx, "changeAccount", Accounts.Update(before, after))
	l.history.End(noted, res.Timestamp, err)
	var failed *writer.Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &failed) || errors.Is(err, writer.ErrInvalid) {
		return err
	}
	switch rand.IntN(3) {
	case 0: // also what was not applied: who stores it may not look
		return l.Outbox.Put(history.Place{History: filepath.Base(l.Journal), N: noted}, failed)
	case 1:
		if failed.NotApplied() {
			return nil
		}
		l.history.Again(noted)
		res, err = w.Resume(ctx, failed)
		l.history.End(noted, res.Timestamp, err)
	}
	return nil
}

package soak_test

import (
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// bank is two accounts as the tables have them, and what was attempted: the first account has the changes 1 and 2, the
// second one 3.
type bank struct {
	tables   *soak.AccountTables
	accounts []gocql.UUID
	writes   []history.Write[soak.Account]
}

func newBank() *bank {
	b := &bank{tables: &soak.AccountTables{ByEmail: make(map[string]gocql.UUID)}}
	for n, changes := range [][]int64{{1, 2}, {3}} {
		a := soak.Account{
			AccountID: gocql.UUID{15: byte(n + 1)}, Email: soak.Address(n), Status: "new", Changes: changes,
			Version: gocql.UUID{6: 0x10, 15: byte(n)},
		}
		b.accounts = append(b.accounts, a.AccountID)
		b.tables.Base = append(b.tables.Base, soak.AccountRow{Account: a, Done: a.Version})
		b.tables.ByStatus = append(b.tables.ByStatus, a)
		b.tables.ByEmail[a.Email] = a.AccountID
		for _, number := range changes {
			b.did(n, number, writer.Applied)
		}
	}
	return b
}

func (b *bank) did(account int, number int64, outcome writer.Outcome) {
	b.writes = append(b.writes, history.Write[soak.Account]{
		By: "test", Kind: tables.Update, Outcome: outcome, Row: soak.Account{AccountID: b.accounts[account], Changes: []int64{number}},
	})
}

func (b *bank) check() *soak.AccountReport { return soak.CheckAccounts(b.tables, b.accounts, b.writes) }

// counts are those of a report, in its order.
func counts(r *soak.AccountReport) []int {
	return []int{
		len(r.Lost), len(r.Unsound), len(r.Phantom), len(r.Ghosts), len(r.Missing), len(r.Differing), len(r.Owners), r.Unnoted,
		len(r.Unclaimed), r.Pending,
	}
}

// Each corruption of the accounts is found for what it is, and what is sound is not found fault with.
func TestCheckAccounts(t *testing.T) {
	t.Parallel()
	const lost, unsound, phantom, ghosts, missing, differing, owners, unnoted, unclaimed, pending = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	for name, c := range map[string]struct {
		happen func(*bank)
		want   []int // one of each of these
		wrong  bool  // not allowed, when everything has been finished
	}{
		"nothing":                         {func(*bank) {}, nil, false},
		"an unknown change that is there": {func(b *bank) { b.writes[1].Outcome = writer.Unknown }, nil, false},
		"an unknown change that is not":   {func(b *bank) { b.did(0, 9, writer.Unknown) }, nil, false},
		"a refused change that is not":    {func(b *bank) { b.did(0, 9, writer.NotApplied) }, nil, false},

		"an acknowledged change that is not there": {func(b *bank) { b.did(0, 9, writer.Applied) }, []int{lost}, true},
		"a refused change that is there":           {func(b *bank) { b.writes[1].Outcome = writer.NotApplied }, []int{unsound}, true},
		"a change of nobody's":                     {func(b *bank) { b.writes = b.writes[:2] }, []int{phantom}, true},
		"a change of another account": {
			func(b *bank) { b.writes[2].Row.AccountID = b.accounts[0] }, []int{lost, phantom}, true,
		},
		"a change made twice": {func(b *bank) {
			b.tables.Base[1].Changes = []int64{3, 3}
			b.tables.ByStatus[1].Changes = []int64{3, 3}
		}, []int{phantom}, true},
		"a ghost": {func(b *bank) {
			ghost := b.tables.ByStatus[0]
			ghost.Status = "old"
			b.tables.ByStatus = append(b.tables.ByStatus, ghost)
		}, []int{ghosts, unnoted}, true},
		"a ghost that the base row tells of": {func(b *bank) {
			ghost := b.tables.ByStatus[0]
			ghost.Status = "old"
			b.tables.ByStatus = append(b.tables.ByStatus, ghost)
			b.tables.Base[0].Done = gocql.UUID{}
		}, []int{ghosts, pending}, true},
		"a row of nobody's by status": {func(b *bank) {
			b.tables.ByStatus = append(b.tables.ByStatus, soak.Account{AccountID: gocql.UUID{9}, Status: "new"})
		}, []int{ghosts, unnoted}, true},
		"no row by status": {func(b *bank) { b.tables.ByStatus = b.tables.ByStatus[:1] }, []int{missing, unnoted}, true},
		"another version":  {func(b *bank) { b.tables.ByStatus[0].Version[15]++ }, []int{differing, unnoted}, true},
		"another address by status": {
			func(b *bank) { b.tables.ByStatus[0].Email = "?" }, []int{differing, unnoted}, true,
		},
		"other changes by status": {func(b *bank) {
			b.tables.ByStatus[0].Changes = slices.Clone(b.tables.ByStatus[0].Changes[:1])
		}, []int{differing, unnoted}, true},
		"an address that is not registered": {func(b *bank) { delete(b.tables.ByEmail, soak.Address(0)) }, []int{owners}, true},
		"an address that is registered for another": {func(b *bank) {
			b.tables.ByEmail[soak.Address(0)] = b.accounts[1]
		}, []int{owners}, true},
		"one address of two": {func(b *bank) {
			b.tables.Base[1].Email, b.tables.ByStatus[1].Email = soak.Address(0), soak.Address(0)
			delete(b.tables.ByEmail, soak.Address(1))
		}, []int{owners, owners}, true},
		"a claim of nobody's": {func(b *bank) { b.tables.ByEmail["free"] = b.accounts[1] }, []int{unclaimed}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBank()
			c.happen(b)
			want := make([]int, pending+1)
			for _, kind := range c.want {
				want[kind]++
			}
			r := b.check()
			if got := counts(r); !slices.Equal(got, want) {
				t.Errorf("%v, want %v: %+v", got, want, r)
			}
			if wrong := soak.Wrong(r, r); len(wrong) > 0 != c.wrong {
				t.Errorf("wrong: %q", wrong)
			}
		})
	}
}

// An account that is gone takes all of its changes along.
func TestLostAccount(t *testing.T) {
	t.Parallel()
	b := newBank()
	b.tables.Base = b.tables.Base[1:]
	if r := b.check(); len(r.Lost) != 3 {
		t.Errorf("%+v, want the account and two changes", r)
	}
}

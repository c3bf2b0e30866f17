package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/writer"
)

// Tally is what became of the writes of a service, and what they have left.
type Tally struct {
	Service    string
	Applied    int
	Resumed    int // of those: after an answer that said less, or because the client was killed
	NotApplied int
	Open       map[history.Cause]int // neither
	Found      map[history.Kind]int
	By         map[history.Cause]int // divergences, by what became of the write that left them
}

// Writes is how many there were.
func (t *Tally) Writes() int {
	n := t.Applied + t.NotApplied
	for _, open := range t.Open {
		n += open
	}
	return n
}

// serviceOf is the service of a client, whose name begins with it.
func serviceOf(client string) string {
	service, _, _ := strings.Cut(client, "/")
	return service
}

// Judge says of each service what was written and found, and what of that the library does not allow, one sentence
// each: any fault but a divergence, any divergence of a service whose tables must agree, and any that no unfinished
// write explains.
func Judge(services []Service, writes []history.Write[orders.Order], found []history.Finding) (tallies []*Tally, wrong []string) {
	byName := make(map[string]*Tally, len(services))
	whole := make(map[string]bool, len(services))
	for _, s := range services {
		t := &Tally{
			Service: s.Name, Open: make(map[history.Cause]int), Found: make(map[history.Kind]int), By: make(map[history.Cause]int),
		}
		tallies = append(tallies, t)
		byName[s.Name], whole[s.Name] = t, s.Whole()
	}
	for i := range writes {
		w := &writes[i]
		t := byName[serviceOf(w.By)]
		if t == nil {
			wrong = append(wrong, fmt.Sprintf("a write by %q, which is no service", w.By))
			continue
		}
		t.count(w)
	}
	for _, f := range found {
		service := serviceOf(f.By)
		if t := byName[service]; t != nil {
			t.Found[f.Kind]++
			if f.Kind.Diverges() {
				t.By[f.Cause]++
			}
		}
		switch {
		case !f.Kind.Diverges():
			wrong = append(wrong, fmt.Sprintf("%s: %v", service, f))
		case f.Cause == history.None:
			wrong = append(wrong, fmt.Sprintf("%s: no unfinished write explains it: %v", service, f))
		case whole[service] || byName[service] == nil:
			wrong = append(wrong, fmt.Sprintf("%s: its tables must agree, and a write %v has left: %v", service, f.Cause, f))
		}
	}
	return tallies, wrong
}

func (t *Tally) count(w *history.Write[orders.Order]) {
	switch w.Outcome {
	case writer.Applied:
		t.Applied++
		if w.Resumed {
			t.Resumed++
		}
	case writer.NotApplied:
		t.NotApplied++
	case writer.Unknown, writer.Pending, writer.Conflict, writer.Taken, writer.Invalid, writer.NotFound: // the last four are of calls
		t.Open[w.Cause()]++
	}
}

// Wrong is what the library does not allow of the accounts, before and after each of them has been written once more:
// until then a killed client may have left the tables apart, and the base row says so.
func Wrong(before, after *AccountReport) []string {
	wrong := slices.Concat(after.Lost, after.Unsound, after.Phantom, after.Ghosts, after.Missing, after.Differing, after.Owners)
	if before.Unnoted > 0 {
		wrong = append(wrong, fmt.Sprintf("%d divergences of accounts whose base row does not say that anything is to be finished",
			before.Unnoted))
	}
	return wrong
}

// AccountRow is a row of the base table.
type AccountRow struct {
	Account
	Done gocql.UUID // the last version that the query tables are known to have
}

// AccountTables is what the tables of the accounts hold.
type AccountTables struct {
	Base     []AccountRow
	ByStatus []Account
	ByEmail  map[string]gocql.UUID // who has claimed it, or has it
}

// ReadAccounts reads all tables in full, at ALL. A failed read is repeated until the context ends.
func ReadAccounts(ctx context.Context, session *gocql.Session) (*AccountTables, error) {
	columns := []string{"account_id", "email", "status", "changes", "version"}
	t := new(AccountTables)
	err := sleep.Until(ctx, 500*time.Millisecond, func() error {
		var errs [3]error
		var claims []Account
		t.ByEmail = make(map[string]gocql.UUID)
		t.Base, errs[0] = history.All[AccountRow](ctx, session, "accounts", append(columns, "done")...)
		t.ByStatus, errs[1] = history.All[Account](ctx, session, "accounts_by_status", columns...)
		claims, errs[2] = history.All[Account](ctx, session, "accounts_by_email", "email", "account_id")
		for _, c := range claims {
			t.ByEmail[c.Email] = c.AccountID
		}
		return errors.Join(errs[:]...)
	})
	return t, err
}

// AccountReport is what is wrong with accounts, one sentence a fault.
type AccountReport struct {
	Lost      []string // an acknowledged change that the row does not have
	Unsound   []string // a change that was told not to be applied, and is there
	Phantom   []string // a change that nobody made, or that is there twice
	Ghosts    []string // a row by status that the base table does not confirm
	Missing   []string // a base row without its row by status
	Differing []string // a row by status with other values than the base row
	Owners    []string // an address of two accounts, or of one that the register does not know to have it
	Unnoted   int      // divergences of rows that say they are done: nobody would finish those
	Unclaimed []string // addresses that the register keeps for an account that does not have them
	Pending   int      // rows that do not say they are done
}

// Divergence is how many faults are between tables.
func (r *AccountReport) Divergence() int {
	return len(r.Ghosts) + len(r.Missing) + len(r.Differing) + len(r.Owners)
}

// CheckAccounts holds the tables against all changes that were attempted, and the tables against each other.
func CheckAccounts(t *AccountTables, accounts []gocql.UUID, writes []history.Write[Account]) *AccountReport {
	r, base := CheckChanges(t, accounts, writes), t.base()
	for i := range t.Base {
		if t.Base[i].Done != t.Base[i].Version {
			r.Pending++
		}
	}
	r.statuses(base, t)
	r.emails(base, t)
	r.queried(t, writes)
	return r
}

// CheckChanges holds the base table alone against all changes that were attempted.
func CheckChanges(t *AccountTables, accounts []gocql.UUID, writes []history.Write[Account]) *AccountReport {
	r := new(AccountReport)
	r.changes(t.base(), accounts, writes)
	return r
}

func (t *AccountTables) base() map[gocql.UUID]*AccountRow {
	base := make(map[gocql.UUID]*AccountRow, len(t.Base))
	for i := range t.Base {
		base[t.Base[i].AccountID] = &t.Base[i]
	}
	return base
}

// queried holds what was said of the table by status against it. Like the base row, a row by status has all changes so
// far.
func (r *AccountReport) queried(t *AccountTables, writes []history.Write[Account]) {
	there := make(map[int64]bool)
	for i := range t.ByStatus {
		for _, number := range t.ByStatus[i].Changes {
			there[number] = true
		}
	}
	for i := range writes {
		w := &writes[i]
		if w.Tables["accounts_by_status"] == writer.NotApplied && there[w.Row.Changes[0]] {
			r.Unsound = append(r.Unsound, describe(w)+" was not applied to the table by status, and is there")
		}
	}
}

func (r *AccountReport) changes(base map[gocql.UUID]*AccountRow, accounts []gocql.UUID, writes []history.Write[Account]) {
	attempted := make(map[gocql.UUID]map[int64]bool)
	for _, id := range accounts {
		attempted[id] = make(map[int64]bool)
		if base[id] == nil {
			r.Lost = append(r.Lost, fmt.Sprintf("account %v is gone", id))
			base[id] = new(AccountRow) // so that its changes are missed, too
			base[id].AccountID = id
		}
	}
	for i := range writes {
		w := &writes[i]
		row, number := base[w.Row.AccountID], w.Row.Changes[0]
		if row == nil {
			continue
		}
		attempted[w.Row.AccountID][number] = true
		has := slices.Contains(row.Changes, number)
		if w.Contradiction != "" {
			r.Unsound = append(r.Unsound, describe(w)+": "+w.Contradiction)
		}
		switch {
		case w.Outcome == writer.Applied && !has:
			r.Lost = append(r.Lost, describe(w)+" was acknowledged, and is not there")
		case w.Outcome == writer.NotApplied && has:
			r.Unsound = append(r.Unsound, describe(w)+" was not applied, and is there")
		}
	}
	for id, row := range base {
		seen := make(map[int64]bool)
		for _, number := range row.Changes {
			if seen[number] || !attempted[id][number] {
				r.Phantom = append(r.Phantom, fmt.Sprintf("change %d of account %v is there, and nobody made it, or once", number, id))
			}
			seen[number] = true
		}
	}
}

func describe(w *history.Write[Account]) string {
	return fmt.Sprintf("change %d of account %v by %s", w.Row.Changes[0], w.Row.AccountID, w.By)
}

func (r *AccountReport) statuses(base map[gocql.UUID]*AccountRow, t *AccountTables) {
	seen := make(map[gocql.UUID]bool)
	unnoted := func(row *AccountRow) {
		if row == nil || row.Done == row.Version {
			r.Unnoted++
		}
	}
	for i := range t.ByStatus {
		a := &t.ByStatus[i]
		row := base[a.AccountID]
		switch {
		case row == nil || row.Status != a.Status:
			r.Ghosts = append(r.Ghosts, fmt.Sprintf("account %v is in %q by status", a.AccountID, a.Status))
			unnoted(row)
			continue
		case row.Email != a.Email || row.Version != a.Version || !slices.Equal(row.Changes, a.Changes):
			r.Differing = append(r.Differing, fmt.Sprintf("account %v differs by status", a.AccountID))
			unnoted(row)
		}
		seen[a.AccountID] = true
	}
	for id, row := range base {
		if !seen[id] {
			r.Missing = append(r.Missing, fmt.Sprintf("account %v is not in %q by status", id, row.Status))
			unnoted(row)
		}
	}
}

func (r *AccountReport) emails(base map[gocql.UUID]*AccountRow, t *AccountTables) {
	holder := make(map[string]gocql.UUID)
	for id, row := range base {
		if other, ok := holder[row.Email]; ok {
			r.Owners = append(r.Owners, fmt.Sprintf("accounts %v and %v have one address", id, other))
		}
		holder[row.Email] = id
		if claimed, ok := t.ByEmail[row.Email]; !ok || claimed != id {
			r.Owners = append(r.Owners, fmt.Sprintf("account %v has an address that the register does not know it has", id))
		}
	}
	for email := range t.ByEmail {
		if _, ok := holder[email]; !ok {
			r.Unclaimed = append(r.Unclaimed, email)
		}
	}
	slices.Sort(r.Unclaimed)
}

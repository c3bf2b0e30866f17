package soak

import (
	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
)

// Account is a versioned row with an e-mail address that no other one has. It carries the numbers of the changes that were
// made to it, so that what became of each of them can be read from it forever.
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

// Package accounts is an example: users who are created once, under their e-mail address. Where the address has to
// change, or is not what identifies the user, see package users.
package accounts

import (
	"context"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// User is a user of the service.
type User struct {
	Email    string
	Name     string
	ChangeID gocql.UUID // filled by the library: which change made the row
}

// Users are written by lightweight transactions only: an insert applies if there is no row. By ChangeID a write whose
// answer was lost knows its own row.
var Users = tables.Must(tables.New[User]("account",
	tables.Table{Name: "users", PartKey: []string{"email"}},
	tables.Compare("name"),
	tables.Mark("change_id"),
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Users)))

// Create is INSERT ... IF NOT EXISTS. Whoever comes second gets an error that matches writer.ErrConflict, of which
// writer.Current gives the row that is there.
func Create(ctx context.Context, w *writer.Writer, email, name string) error {
	_, err := w.Write(ctx, "createAccount", Users.Insert(User{Email: email, Name: name}))
	return err
}

// Get gives the user, or an error that matches writer.ErrNotFound.
func Get(ctx context.Context, w *writer.Writer, email string) (User, error) {
	return writer.Load(ctx, w, "account", Users, User{Email: email})
}

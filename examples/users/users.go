// Package users is an example: users with an e-mail address that no two of them share. Rows are versioned, so no update
// is lost, and the addresses are a Unique table, so an address has one owner whatever is lost or dies on the way.
package users

import (
	"context"
	"errors"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2/qb"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// User is a user of the service.
type User struct {
	UserID  gocql.UUID
	Email   string
	Name    string
	Version gocql.UUID // filled by the library
}

// Users are kept by id. The addresses are a register alongside them: who has which.
var Users = tables.Must(tables.New[User]("user",
	tables.Table{Name: "users", PartKey: []string{"user_id"}},
	tables.Table{Name: "users_by_email", PartKey: []string{"email"}, Unique: true},
	tables.Versioned("version"),
))

// Schema creates the tables in the keyspace of the session. The columns pending, done, recent and claim are the
// library's own.
var Schema = schema.Must(schema.Declare(schema.Sets(Users)))

// ErrTaken is returned to whoever wants an address that somebody has.
var ErrTaken = errors.New("the e-mail address is taken")

// SignUp creates the user once: an answer that is lost on the way counts as what it was. Signing up again under the
// same id is writer.ErrConflict.
func SignUp(ctx context.Context, w *writer.Writer, u User) (User, error) {
	result, err := w.Write(ctx, "signUp", Users.Insert(u))
	u.Version = result.Version
	if errors.Is(err, writer.ErrTaken) {
		return u, errors.Join(ErrTaken, err)
	}
	return u, err
}

// ChangeEmail gives the user another address and the old one free.
func ChangeEmail(ctx context.Context, w *writer.Writer, id gocql.UUID, email string) (User, error) {
	u, err := writer.Modify(ctx, w, "changeEmail", Users, User{UserID: id}, func(u User) (User, error) {
		u.Email = email
		return u, nil
	})
	if errors.Is(err, writer.ErrTaken) {
		return u, errors.Join(ErrTaken, err)
	}
	return u, err
}

// ByID gives the user.
func ByID(ctx context.Context, w *writer.Writer, id gocql.UUID) (User, error) {
	return writer.Load(ctx, w, "userByID", Users, User{UserID: id})
}

// Leave deletes the user and gives the address free.
func Leave(ctx context.Context, w *writer.Writer, u User) error {
	_, err := w.Write(ctx, "leave", Users.Delete(u))
	return err
}

// ByEmail gives the id of the user who has the address, or has claimed it and is being created. The truth is in the row
// of the user.
func ByEmail(ctx context.Context, session *gocql.Session, email string) (id gocql.UUID, err error) {
	stmt, _ := qb.Select("users_by_email").Columns("user_id").Where(qb.Eq("email")).ToCql()
	err = session.Query(stmt, email).WithContext(ctx).Consistency(gocql.LocalQuorum).Scan(&id)
	return id, err
}

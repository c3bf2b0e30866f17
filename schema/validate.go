package schema

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gocql/gocql"
)

// readTimeout limits a call that reads and whose context has no deadline.
const readTimeout = 30 * time.Second

// Differences compares what is declared with the tables that a session finds. Tables declared without a keyspace are
// those of the session's; [Schema.In] maps others. It ends with ctx, or if that has no deadline after 30 s.
func Differences(ctx context.Context, session *gocql.Session, declared *Schema) ([]Difference, error) {
	ctx, cancel := limited(ctx, readTimeout)
	defer cancel()
	declared, err := physical(session, declared)
	if err != nil {
		return nil, err
	}
	live, err := Read(ctx, session, declared.names()...)
	if err != nil {
		return nil, err
	}
	return Compare(declared, live), nil
}

// Validate is [Differences] at the start of a service: its error, a [*DifferenceError], names all that hurt something
// declared, those with Extra set not among them. Nothing is changed.
func Validate(ctx context.Context, session *gocql.Session, declared *Schema) error {
	found, err := Differences(ctx, session, declared)
	if err != nil {
		return err
	}
	if breaking := Breaking(found); len(breaking) > 0 {
		return &DifferenceError{breaking}
	}
	return nil
}

func limited(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// physical puts the session's keyspace where none is declared.
func physical(session *gocql.Session, declared *Schema) (*Schema, error) {
	if session == nil {
		return nil, errors.New("schema: the session is nil")
	}
	if !slices.Contains(declared.names(), "") {
		return declared, nil
	}
	keyspace := session.Query("").Keyspace()
	if keyspace == "" {
		return nil, errors.New("schema: tables are declared without a keyspace, and the session has none")
	}
	return declared.In(map[string]string{"": keyspace}), nil
}

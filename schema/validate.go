package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	rotated "github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/session"
)

// readTimeout limits a call that reads and whose context has no deadline.
const readTimeout = 30 * time.Second

// Differences compares the declared schema with the live tables of a session, in the keyspaces to which
// session.Keyspaces of the session maps them. Tables declared without a keyspace are in the session's own keyspace,
// unless session.Keyspaces maps the empty name. Of a table that rotates, all tables that exist are compared, and that
// of the present period must exist. Differences ends with ctx, or after 30 s if ctx has no deadline.
func Differences(ctx context.Context, s *session.Session, declared *Schema) ([]Difference, error) {
	if err := missing(ctx, s, declared); err != nil {
		return nil, err
	}
	ctx, cancel := limited(ctx, readTimeout)
	defer cancel()
	declared, err := physical(s, declared)
	if err != nil {
		return nil, err
	}
	return differences(ctx, s, declared)
}

// differences is Differences of what is in the keyspaces of the session already.
func differences(ctx context.Context, s *session.Session, declared *Schema) ([]Difference, error) {
	live, err := Read(ctx, s, declared.names()...)
	if err != nil {
		return nil, err
	}
	return append(Compare(declared, live), noPresent(declared, live)...), nil
}

// noPresent gives the tables of the present period that do not exist, of those that rotate.
func noPresent(declared, live *Schema) []Difference {
	var out []Difference
	present := declared.present(time.Now())
	for i := range declared.Tables {
		t := &present.Tables[i]
		if declared.Tables[i].rotation != nil && live.Table(t.ID) == nil && slices.Contains(live.names(), t.Keyspace) {
			out = append(out, Difference{
				Keyspace: t.Keyspace, Table: t.Name, Reason: "does not exist" + rotated.Advice, Fix: "CREATE TABLE " + t.body(),
			})
		}
	}
	return out
}

// Validate is [Differences] for the start of a service: its error, a [*DifferenceError], names all differences that
// hurt something declared, which are those without Extra and Note. Nothing is changed. A service that writes calls writer.Check too, or
// alone: it compares the sets in the same way, and reads what the driver needs to route batches, and what limits them.
//
// Validate also compares what all processes that write a table must declare alike, by the fingerprint in the comment of
// the table: how key columns may change and within which domains, bucket functions, conditions and unique keys, Stamp,
// ExpiresAt and SweepInserts. A contradiction is an error, such as Hash(7) where the others use Hash(4), and so is a
// column that only a Versioned set or a table of unique keys has. A Since that was added is an error until it is in the
// fingerprint; see writer.Check. A domain that has grown is not an error: older and newer processes both pass. Nor is a
// Stamp, ExpiresAt or SweepInserts that was added, until it is in the fingerprint. These, and a table without a
// fingerprint, are notes, with the statement to run.
func Validate(ctx context.Context, s *session.Session, declared *Schema) error {
	return breaking(Differences(ctx, s, declared))
}

// breaking is the error of those differences that hurt something declared.
func breaking(found []Difference, err error) error {
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

// missing says which argument of a call is nil.
func missing(ctx context.Context, s *session.Session, declared *Schema) error {
	switch {
	case ctx == nil:
		return errors.New("schema: the context is nil: pass the caller's, or context.Background()")
	case s == nil || s.Reads() == nil:
		return errors.New("schema: the session is nil or a zero value: session.Open makes one")
	case declared == nil:
		return errors.New("schema: the schema is nil")
	}
	return nil
}

// physical puts what is declared into the keyspaces of the session: those that it maps them to, and its own where none
// is declared.
func physical(s *session.Session, declared *Schema) (*Schema, error) {
	names := declared.names()
	if len(names) == 0 {
		return nil, errors.New("schema: no table is declared, so nothing would be compared or created: " +
			"pass schema.Declare your sets by schema.Sets")
	}
	settings, own, in := s.Settings(), s.Reads().Query("").Keyspace(), make(map[string]string)
	if settings.Err != nil {
		return nil, fmt.Errorf("schema: %w", settings.Err)
	}
	if err := settings.Stray(slices.DeleteFunc(slices.Clone(names), settings.Owns), "the schema", "declare all sets in one schema"); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	for _, name := range names {
		physical, err := settings.Physical(name, own)
		switch {
		case err != nil && !settings.Owns(name): // else it is mapped already, by In
			return nil, fmt.Errorf("schema: what is declared in %q has no keyspace: %w", name, err)
		case err == nil && physical == "":
			return nil, errors.New("schema: tables are declared without a keyspace, and the session has none: give one in " +
				"ClusterConfig.Keyspace, Table.Keyspace or session.Keyspaces")
		case err == nil:
			in[name] = physical
		}
	}
	return declared.In(in), nil
}

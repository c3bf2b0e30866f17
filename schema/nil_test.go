package schema_test

import (
	"context"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

func validate(ctx context.Context, s *session.Session, d *schema.Schema) error {
	return schema.Validate(ctx, s, d)
}

// What was forgotten is named by an error, in every call that takes it: it is no nil dereference.
func TestNil(t *testing.T) {
	t.Parallel()
	var (
		none     context.Context
		noSet    *tables.Set[order]
		reads    = testsession.New(t, nil, new(gocql.Session))
		declared = &schema.Schema{}
	)
	const noneMade = "the session is nil or a zero value: session.Open makes one"
	const noContext = "the context is nil: pass the caller's, or context.Background()"
	for name, call := range map[string]func(ctx context.Context, s *session.Session, d *schema.Schema) error{
		"Differences": func(ctx context.Context, s *session.Session, d *schema.Schema) error {
			_, err := schema.Differences(ctx, s, d)
			return err
		},
		"Validate": validate,
		"Ensure":   schema.Ensure,
	} {
		for want, err := range map[string]error{
			noContext:           call(none, reads, declared),
			noneMade:            call(t.Context(), nil, declared),
			"the schema is nil": call(t.Context(), reads, nil),
		} {
			if err == nil || err.Error() != "schema: "+want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
		if err := call(t.Context(), new(session.Session), declared); err == nil || err.Error() != "schema: "+noneMade {
			t.Errorf("%s with a zero session: %v", name, err)
		}
	}
	for name, call := range map[string]func(context.Context, *session.Session, *schema.Schema) error{
		"Validate": validate, "Ensure": schema.Ensure,
	} {
		const want = "schema: no table is declared: pass schema.Declare your sets by schema.Sets"
		if err := call(t.Context(), reads, schema.Must(schema.Declare())); err == nil || err.Error() != want {
			t.Errorf("%s of nothing: %v, want %s", name, err, want)
		}
	}
	_, noContextRead := schema.Read(none, reads, "shop")
	_, noSession := schema.Read(t.Context(), nil, "shop")
	_, noContextList := schema.Read(none, reads)
	_, noSessionList := schema.Read(t.Context(), nil)
	_, zeroRead := schema.Read(t.Context(), new(session.Session), "shop")
	_, zeroList := schema.Read(t.Context(), new(session.Session))
	_, zeroRotation := rotation.New(new(session.Session), "", orders(t), "orders_by_id")
	_, noSetDeclared := schema.Declare(schema.Sets(orders(t), noSet))
	_, nilDeclared := schema.Declare(schema.Sets(nil))
	for _, c := range []struct {
		err  error
		want string
	}{
		{noContextRead, "schema: " + noContext},
		{noSession, "schema: " + noneMade},
		{noContextList, "schema: " + noContext},
		{noSessionList, "schema: " + noneMade},
		{zeroRead, "schema: " + noneMade},
		{zeroList, "schema: " + noneMade},
		{zeroRotation, "rotation: " + noneMade},
		{noSetDeclared, "schema: set 2 is nil"},
		{nilDeclared, "schema: set 1 is nil"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

package cassandratest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// Package schema and rotation work in the keyspaces that the session maps to, as writers do, and not in the session's
// own. With StrictKeyspaces what is not mapped is an error.
func TestSchemaOfATenant(t *testing.T) {
	t.Parallel()
	plain := tables.Must(tables.New[record]("record", tables.Table{Name: "records", PartKey: []string{"record_id"}}))
	declared := schema.Must(schema.Declare(schema.Sets(plain, records)))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE log WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
			"CREATE KEYSPACE tenant WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
		config := c.Config()
		config.Keyspace = "log"
		s, err := session.Open(config, session.StrictKeyspaces())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		tenant := s.With(session.Keyspaces(map[string]string{"": "tenant"}))
		if err := schema.Ensure(t.Context(), tenant, declared); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(t.Context(), tenant, declared); err != nil {
			t.Error(err)
		}
		if err := schema.Validate(t.Context(), tenant, schema.Sets(plain)); err != nil {
			t.Error(err)
		}
		months, err := rotation.New(tenant, "", records, "audit")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := months.Plan(t.Context(), time.Now(), rotation.Window{Ahead: 40 * 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		for keyspace, want := range map[string]int{"log": 0, "tenant": 3} { // records, and audit of two months
			live, err := schema.Read(t.Context(), s, keyspace)
			if err != nil || len(live.Tables) != want {
				t.Errorf("%d tables in %s, want %d: %v", len(live.Tables), keyspace, want, err)
			}
		}
		if err := schema.Validate(t.Context(), tenant, declared.In(map[string]string{"": "tenant"})); err != nil {
			t.Error("mapped by In as well:", err)
		}
		_, unmapped := rotation.New(s, "", records, "audit")
		_, compared := schema.Differences(context.Background(), s, declared)
		invalid := schema.Ensure(t.Context(), s.With(session.Keyspaces(map[string]string{"": "a b"})), declared)
		other, err := session.Open(config, session.Keyspaces(map[string]string{"shop": "tenant"}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(other.Close)
		stray := schema.Validate(t.Context(), other, declared)
		for want, err := range map[string]error{
			"rotation: table audit has no keyspace: the one it is declared in is not in the map of session.Keyspaces":            unmapped,
			"schema: what is declared in \"\" has no keyspace: the one it is declared in is not in the map of session.Keyspaces": compared,
			"schema: Keyspaces: \"a b\" is not a name":                                   invalid,
			"schema: session.Keyspaces maps \"shop\", and tables are declared in [\"\"]": stray,
		} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

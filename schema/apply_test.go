package schema_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// applied is a text with every kind of statement, for a cluster that has applyBefore.
const (
	applyBefore = `
CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1};
CREATE KEYSPACE gone WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1};
CREATE TYPE shop.place (city text);
CREATE TYPE shop.unused (a int);
CREATE TABLE shop.users (id int PRIMARY KEY, name text, old text, older int);
CREATE INDEX users_by_name ON shop.users (name);
CREATE TABLE shop.legacy (id int PRIMARY KEY);
CREATE MATERIALIZED VIEW shop.former AS SELECT * FROM shop.legacy WHERE id IS NOT NULL PRIMARY KEY (id);`
	applied = `
ALTER KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}; -- a comment
CREATE KEYSPACE audit WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};
CREATE TABLE audit.log (day date, at timeuuid, PRIMARY KEY (day, at));
ALTER TYPE shop.place ADD zip text;
CREATE TYPE shop.line (item text, n int);
CREATE TABLE shop.orders (id int PRIMARY KEY, lines list<frozen<line>>, total int) WITH comment = 'a; b';
ALTER TABLE shop.orders ADD note text;
ALTER TABLE shop.orders ADD (a int, b int);
ALTER TABLE shop.orders WITH gc_grace_seconds = 3600 AND comment = 'c';
DROP INDEX shop.users_by_name;
CREATE INDEX users_by_name ON shop.users (older);
CREATE INDEX ON shop.orders (total);
ALTER TABLE shop.users DROP old;
ALTER TABLE shop.users RENAME id TO user_id;
CREATE MATERIALIZED VIEW shop.orders_by_total AS SELECT * FROM shop.orders WHERE total IS NOT NULL AND id IS NOT NULL PRIMARY KEY (total, id);
DROP MATERIALIZED VIEW shop.former;
DROP TABLE shop.legacy;
DROP TYPE shop.unused;
DROP KEYSPACE gone;`
	appliedSteps = 19
)

func steps(t *testing.T, s *session.Session, text string) []schema.Step {
	t.Helper()
	found, err := schema.Steps(t.Context(), s, schema.Source{File: "f", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// open gives the texts of the steps that are not done.
func undone(all []schema.Step) (texts []string) {
	for _, st := range all {
		if !st.Done {
			texts = append(texts, st.Text)
		}
	}
	return texts
}

// lives is what a cluster has in the end.
func lives(t *testing.T, s *session.Session) string {
	t.Helper()
	live, err := schema.Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return live.CQL()
}

// A process that applies a text is killed at any of its statements, before the cluster has done it or before it has
// answered. A second one, when the lock of the first has ended, does the rest and nothing twice: the schema is as
// without the kill.
func TestApplyKilledAnywhere(t *testing.T) {
	t.Parallel()
	want := ""
	for kill := -1; kill < appliedSteps; kill++ { // -1: none
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d done=%t", kill, done), func(t *testing.T) {
				cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
					c.Create(applyBefore)
					s := open(t, c)
					all := steps(t, s, applied)
					if n := len(undone(all)); n != appliedSteps {
						t.Fatalf("%d statements are not done, want %d", n, appliedSteps)
					}
					if kill >= 0 {
						kills(t, c, s, all, kill, done)
						<-time.After(3 * time.Minute) // the lock ends
					}
					c.Heal()
					before := len(c.Journal(cassandratest.Where(changes)))
					all = steps(t, s, applied)
					rest := undone(all)
					if err := schema.Apply(t.Context(), s, all, func(schema.Step) {}); err != nil {
						t.Fatal(err)
					}
					if sent := len(c.Journal(cassandratest.Where(changes))) - before; sent != len(rest) {
						t.Errorf("%d statements are sent, want %d: %q", sent, len(rest), rest)
					}
					left := appliedSteps - max(kill, 0)
					if done && kill >= 0 {
						left--
					}
					if len(rest) != left {
						t.Errorf("%d statements are left, want %d: %q", len(rest), left, rest)
					}
					if left := undone(steps(t, s, applied)); len(left) > 0 {
						t.Errorf("not done in the end: %q", left)
					}
					got := lives(t, s)
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s\nwant\n%s", got, want)
					}
				})
			})
		}
	}
}

// changes says whether a request is a statement of a text: the lock's table is not of it.
func changes(r cassandratest.Request) bool {
	if r.Kind != cassandratest.Query || strings.Contains(r.Statements[0].Text, "denorm_schema_lock") {
		return false
	}
	first, _, _ := strings.Cut(r.Statements[0].Text, " ")
	return slices.Contains([]string{"CREATE", "ALTER", "DROP"}, first)
}

// kills applies steps until the one with the number kill, which is lost, or done and not answered. The lock stays.
func kills(t *testing.T, c *cassandratest.Cluster, s *session.Session, all []schema.Step, kill int, done bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	c.When(cassandratest.Text("DELETE FROM"), cassandratest.Where(func(cassandratest.Request) bool { return n > kill })).Do(cassandratest.Drop)
	c.When(cassandratest.Where(changes)).Choose(func(cassandratest.Request) []cassandratest.Step {
		n++
		switch {
		case n <= kill:
			return []cassandratest.Step{cassandratest.Answer}
		case done:
			defer cancel()
			return []cassandratest.Step{cassandratest.Apply, cassandratest.Drop}
		}
		cancel()
		return []cassandratest.Step{cassandratest.Drop}
	})
	if err := schema.Apply(ctx, s, all, func(schema.Step) {}); err == nil || n != kill+1 {
		t.Fatalf("%d statements were sent, and it is not interrupted: %v", n, err)
	}
}

// A second process is refused while the first one has the lock, and nothing of it is sent.
func TestApplyTwiceAtOnce(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(applyBefore)
		s, other := open(t, c), open(t, c)
		all := steps(t, s, applied)
		tried := false
		if err := schema.Apply(t.Context(), s, all, func(schema.Step) {
			if tried {
				return
			}
			tried = true
			err := schema.Apply(t.Context(), other, all, func(schema.Step) { t.Error("the second one applies a statement") })
			if err == nil || !strings.Contains(err.Error(), "another process changes keyspace shop: wait until it ends") {
				t.Errorf("the second one: %v", err)
			}
		}); err != nil || !tried {
			t.Fatal(tried, err)
		}
		// Steps that were read before do not say what to run any more.
		if err := schema.Apply(t.Context(), other, all, func(schema.Step) { t.Error("a statement is applied again") }); err != nil {
			t.Error(err)
		}
	})
}

// What was dropped again since the steps were read is not created without a look at it.
func TestApplyChangedSince(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		c.Create("CREATE TABLE k.a (id int PRIMARY KEY)")
		all := steps(t, s, "CREATE TABLE k.a (id int PRIMARY KEY); CREATE TABLE k.b (id int PRIMARY KEY)")
		c.Create("DROP TABLE k.a")
		err := schema.Apply(t.Context(), s, all, func(schema.Step) { t.Error("a statement is applied") })
		if err == nil || err.Error() != "schema: f: line 1: the schema has changed since: read the steps again" {
			t.Error(err)
		}
	})
}

// While a node is down nothing is sent, not even of the lock, and the error names the node. Nothing is half done.
func TestApplyWithANodeDown(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]func(*cassandratest.Node){"stopped": (*cassandratest.Node).Stop, "silent": (*cassandratest.Node).Silence} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(applyBefore)
				s := open(t, c)
				all, before := steps(t, s, applied), lives(t, s)
				down(c.Node(2))
				want := "node " + c.Node(2).Address() + " does not answer: start it, or remove it from the cluster, and apply again"
				if err := schema.Apply(t.Context(), s, all, func(schema.Step) { t.Error("a statement is applied") }); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Apply: %v, want %s", err, want)
				}
				if _, err := schema.Steps(t.Context(), s, schema.Source{File: "f", Text: applied}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Steps: %v, want %s", err, want)
				}
				if sent := c.Journal(cassandratest.Text("CREATE")); len(sent) > 0 {
					t.Errorf("sent: %v", sent)
				}
				c.Node(2).Restore()
				if after := lives(t, s); after != before {
					t.Errorf("the schema has changed: %s", after)
				}
			})
		})
	}
}

// A statement that the cluster rejects ends it, and what was done before stays. The same text goes on there.
func TestApplyGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(applyBefore)
		s := open(t, c)
		c.When(cassandratest.Text("CREATE INDEX users_by_name"), cassandratest.Nth(1)).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
		did := 0
		err := schema.Apply(t.Context(), s, steps(t, s, applied), func(schema.Step) { did++ })
		if err == nil || did != 10 || !strings.HasPrefix(err.Error(), "schema: f: line 12: ") {
			t.Fatalf("%d applied, %v", did, err)
		}
		all := steps(t, s, applied) // the lock was given back
		if n := len(undone(all)); n != appliedSteps-did {
			t.Errorf("%d are left of %d", n, appliedSteps)
		}
		if err := schema.Apply(t.Context(), s, all, func(schema.Step) { did++ }); err != nil || did != appliedSteps {
			t.Errorf("%d applied, %v", did, err)
		}
	})
}

// A statement without an answer is looked for: what the cluster has done is not sent again, and the rest follows. Of
// one that it has not done, the error does not say so: it may be under way.
func TestApplyWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	const text = "CREATE TABLE shop.orders (id int PRIMARY KEY); ALTER TABLE shop.orders ADD note text;"
	for _, c := range []struct {
		name string
		step []cassandratest.Step
		want string
	}{
		{"done", []cassandratest.Step{cassandratest.Apply, cassandratest.Drop}, ""},
		{"lost", []cassandratest.Step{cassandratest.Drop}, "schema: f: line 1: it may be done: apply again: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, on *cassandratest.Cluster) {
				on.Create(applyBefore)
				s := open(t, on)
				silent := on.When(cassandratest.Text("CREATE TABLE shop.orders")).Do(c.step...)
				err := schema.Apply(t.Context(), s, steps(t, s, text), func(schema.Step) {})
				if silent.Handled() != 1 || c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
					t.Errorf("sent %d times, %v, want %q", silent.Handled(), err, c.want)
				}
			})
		})
	}
}

// What cannot be applied, or would not be known to be done, is rejected before anything is sent.
func TestStepsRejected(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(applyBefore)
		s := open(t, c)
		for text, want := range map[string]string{
			"INSERT INTO shop.users (id) VALUES (1)":                     "line 1: only CREATE, ALTER and DROP of tables, types, indexes, views and keyspaces are applied",
			"TRUNCATE shop.users":                                        "line 1: only CREATE, ALTER and DROP of tables, types, indexes, views and keyspaces are applied",
			"CREATE ROLE r":                                              "line 1: ",
			"CREATE TABLE a (id int PRIMARY KEY)":                        "line 1: no keyspace is named: write it before the name",
			"USE shop; CREATE TABLE a (id int)":                          "line 1: USE is not applied: write the keyspace before each name",
			"CREATE TABLE x.a (id int PRIMARY KEY)":                      "line 1: keyspace x does not exist",
			"ALTER TABLE shop.nothing ADD a int":                         "line 1: ALTER TABLE shop.nothing: it does not exist",
			"ALTER TABLE shop.users ADD (name text, a int)":              "line 1: ALTER TABLE shop.users: there is a column name already",
			"ALTER TABLE shop.users ADD name int":                        "line 1: the cluster has it in another form: column name: is another one",
			"ALTER TABLE shop.users RENAME a TO b":                       "line 1: the cluster has it in another form: column b: does not exist",
			"ALTER TYPE shop.place RENAME a TO b":                        "line 1: the cluster has it in another form: column b: does not exist",
			"ALTER TYPE shop.place ADD city int":                         "line 1: the cluster has it in another form: column city: is another one",
			"CREATE TABLE shop.users (id text PRIMARY KEY)":              "line 1: the cluster has it in another form: column id: is int, declared text",
			"CREATE TYPE shop.place (city int)":                          "line 1: the cluster has it in another form: column city: the field is text, declared int",
			"CREATE INDEX users_by_name ON shop.users (old)":             "line 1: the cluster has it in another form: the index is another one",
			"CREATE TABLE shop.users (id int)":                           "line 1: no PRIMARY KEY",
			"CREATE TABLE shop.users (id int PRIMARY KEY, a int, a int)": "line 1: column a is declared twice",
			"CREATE TABLE shop.users (id int, PRIMARY KEY (x))":          "line 1: key column x is not one of the columns",
			"CREATE MATERIALIZED VIEW shop.former AS SELECT * FROM shop.legacy WHERE id IS NOT NULL PRIMARY KEY (id, id)": "line 1: key column id is not one",
			"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}":                "line 1: the cluster has it in another form: the replication is another one",
			"CREATE TABLE shop.a (id int PRIMARY KEY) WITH gc_grace = 1":                                                  "line 1: option gc_grace of shop.a: Cassandra does not know it",
			"ALTER KEYSPACE shop WITH durable_write = false":                                                              "line 1: option durable_write of shop: Cassandra does not know it: leave it out",
			"ALTER KEYSPACE IF EXISTS none WITH tablets = {'enabled': false}":                                             "line 1: option tablets of none: Cassandra does not know it: leave it out",
			"CREATE KEYSPACE IF NOT EXISTS shop WITH foo = 1":                                                             "line 1: option foo of shop: Cassandra does not know it: leave it out",
			"ALTER KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1} AND foo = 1":           "line 1: option foo of shop: Cassandra does not know it: leave it out",
			"DROP TABLE shop.users;\nCREATE TABLE shop.users (id int PRIMARY KEY)":                                        "f: line 1 drops what line 2 of f names: apply them from two files, one after the other",
			"ALTER TABLE shop.users ADD a int;\nALTER TABLE shop.users DROP a":                                            "f: line 2 drops what line 1 of f names: apply them from two files, one after the other",
			"CREATE TABLE shop.a (id int PRIMARY KEY, b int);\nALTER TABLE shop.a DROP b":                                 "f: line 2 drops what line 1 of f names: apply them from two files, one after the other",
			"DROP KEYSPACE shop;\nCREATE TABLE shop.a (id int PRIMARY KEY)":                                               "f: line 1 drops what line 2 of f names: apply them from two files, one after the other",
			"CREATE INDEX i ON shop.users (old);\nDROP INDEX shop.i":                                                      "f: line 2 drops what line 1 of f names: apply them from two files, one after the other",
		} {
			if _, err := schema.Steps(t.Context(), s, schema.Source{File: "f", Text: text}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
		if sent := c.Journal(cassandratest.Where(changes)); len(sent) > 0 {
			t.Errorf("sent: %v", sent)
		}
	})
}

// A text is rejected, before anything is sent, where a second run of it would change something.
func TestStepsOfNoEnd(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(applyBefore)
		s := open(t, c)
		const drops, alters = "f: line 2 drops what line 1 of f names: ", "f: line 1 alters what line 2 of f creates: write the ALTER after it"
		for text, want := range map[string]string{
			"CREATE INDEX ON shop.users (old);\nDROP INDEX shop.users_old_idx":                                                                                                 drops,
			"CREATE INDEX IF NOT EXISTS i ON shop.users (name);\nDROP INDEX shop.users_by_name":                                                                                drops,
			"DROP INDEX IF EXISTS shop.users_old_idx_1;\nCREATE INDEX users_old_idx ON shop.users (older); CREATE INDEX ON shop.users (old)":                                   "f: line 1 drops what line 2 of f names: ",
			"ALTER KEYSPACE IF EXISTS z WITH durable_writes = false;\nCREATE KEYSPACE z WITH replication = {'class': 'SimpleStrategy'}":                                        alters,
			"ALTER TABLE IF EXISTS shop.a ADD b int;\nCREATE TABLE shop.a (id int PRIMARY KEY)":                                                                                alters,
			"ALTER TYPE IF EXISTS shop.a ADD b int;\nCREATE TYPE shop.a (id int)":                                                                                              alters,
			"ALTER MATERIALIZED VIEW IF EXISTS shop.v WITH comment = 'a';\nCREATE MATERIALIZED VIEW shop.v AS SELECT * FROM shop.legacy WHERE id IS NOT NULL PRIMARY KEY (id)": alters,
			"ALTER TABLE IF EXISTS shop.users ADD b int;\nCREATE TABLE IF NOT EXISTS shop.users (id int PRIMARY KEY)":                                                          "",
			"DROP INDEX shop.users_by_name;\nCREATE INDEX IF NOT EXISTS i ON shop.users (name)":                                                                                "",
			"DROP INDEX IF EXISTS shop.users_old_idx;\nCREATE INDEX ON shop.users (old)":                                                                                       "",
		} {
			_, err := schema.Steps(t.Context(), s, schema.Source{File: "f", Text: text})
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
	})
}

// A person is asked before what drops or renames something, or alters a type or a replication.
func TestStepsToConfirm(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(applyBefore)
		var got []string
		for _, st := range steps(t, open(t, c), applied) {
			if st.Confirm {
				got = append(got, strings.Join(strings.Fields(st.Text)[:2], " "))
			}
		}
		want := []string{
			"ALTER KEYSPACE", "ALTER TYPE", "DROP INDEX", "ALTER TABLE", "ALTER TABLE", "DROP MATERIALIZED", "DROP TABLE", "DROP TYPE", "DROP KEYSPACE",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// An option that a text sets twice is not set again by a second run of the text. A run that was stopped in between goes
// on.
func TestApplyOptionsTwice(t *testing.T) {
	t.Parallel()
	all := []string{
		"ALTER KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
		"ALTER TABLE shop.users WITH gc_grace_seconds = 1 AND comment = 'a'",
		"ALTER KEYSPACE shop WITH durable_writes = false",
		"ALTER TABLE shop.users WITH compaction = {'class': 'LeveledCompactionStrategy'} AND gc_grace_seconds = 2",
		"ALTER KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
		"ALTER KEYSPACE shop WITH durable_writes = true",
		"ALTER TABLE shop.users WITH compaction = {'class': 'UnifiedCompactionStrategy'}",
		"ALTER TABLE shop.users WITH gc_grace_seconds = 3",
	}
	for done := range len(all) + 1 {
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			c.Create(applyBefore)
			c.Create(all[:done]...)
			s := open(t, c)
			for run := range 2 {
				found := steps(t, s, strings.Join(all, ";\n"))
				left := len(all) - done
				if done < 3 { // durable_writes is true already: both of its statements are done
					left -= 2
				}
				if n := len(undone(found)); run == 0 && n != left || run == 1 && n > 0 {
					t.Errorf("after %d statements, run %d: %d are left: %q", done, run, n, undone(found))
				}
				if err := schema.Apply(t.Context(), s, found, func(schema.Step) {}); err != nil {
					t.Error(err)
				}
			}
			if got := lives(t, s); !strings.Contains(got, "gc_grace_seconds = 3") || !strings.Contains(got, "'dc1': '3'") {
				t.Errorf("in the end:\n%s", got)
			}
		})
	}
}

// While a statement may be under way, its lock stays: who applies at once after Ctrl-C is refused, and later goes on.
func TestApplyInterruptedKeepsTheLock(t *testing.T) {
	t.Parallel()
	const text = "CREATE TABLE shop.orders (id int PRIMARY KEY)"
	for name, dropped := range map[string][]cassandratest.Step{
		"lost": {cassandratest.Drop}, "done": {cassandratest.Apply, cassandratest.Drop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(applyBefore)
				s := open(t, c)
				all := steps(t, s, text)
				ctx, stop := context.WithCancel(t.Context())
				rule := c.When(cassandratest.Text(text)).Choose(func(cassandratest.Request) []cassandratest.Step {
					stop()
					return dropped
				})
				if err := schema.Apply(ctx, s, all, func(schema.Step) {}); err == nil || !strings.Contains(err.Error(), "it may be done") {
					t.Error(err)
				}
				rule.End()
				other := open(t, c)
				err := schema.Apply(t.Context(), other, all, func(schema.Step) { t.Error("a second one applies a statement") })
				if err == nil || !strings.Contains(err.Error(), "another process changes keyspace shop") {
					t.Errorf("at once: %v", err)
				}
				<-time.After(3 * time.Minute)
				if err := schema.Apply(t.Context(), other, steps(t, other, text), func(schema.Step) {}); err != nil {
					t.Errorf("later: %v", err)
				}
			})
		})
	}
}

// What was changed while the lock was given back for a change of the replication is looked at before the next step.
func TestApplyPlansAgainAfterAKeyspace(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(applyBefore)
		s := open(t, c)
		all := steps(t, s, "ALTER KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}; ALTER TABLE shop.users ADD a int")
		var got []string
		err := schema.Apply(t.Context(), s, all, func(st schema.Step) {
			if got = append(got, st.Text[:11]); len(got) == 1 {
				c.Create("ALTER TABLE shop.users ADD a int")
			}
		})
		if err != nil || len(got) != 1 {
			t.Errorf("%q, %v", got, err)
		}
	})
}

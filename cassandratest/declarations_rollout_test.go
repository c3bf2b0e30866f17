package cassandratest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// While a declaration that has grown is rolled out, older and newer processes start, before the statement is run and
// after it.
func TestGrownDeclarationsRollOut(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]string{""}, 60)
	for i := range many {
		many[i] = strings.Repeat(string(rune('a'+i%26)), 30+i)
	}
	for name, test := range map[string]struct {
		older, newer tables.Described
		table        string
		got, lacks   string // what the newer one is told, and the older one
	}{
		"a value":    {within("open", "done"), within("open", "hidden", "done"), "reviews_by_status", `OneOf of status has got "hidden"`, `OneOf of status has "hidden"`},
		"many":       {within(many[:40]...), within(many...), "reviews_by_status", "and 8 more", "and 8 more"},
		"hash known": {bucketed(tables.Hash(4, "review_id")), bucketed(tables.Hash(40, "review_id"), hash4), "reviews_by_slot", "has got", "in this process"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(mallOf(test.older, schema.With("mall."+test.table, schema.Options{Comment: "ops: it's [a] page"})).Statements()...)
				p := startProcess(t, c)
				p.clean(test.older)
				statements, text := p.passes(test.newer)
				if len(statements) != 1 || statements[test.table] == "" || !strings.Contains(text, test.got) {
					t.Fatalf("%v\n%s", statements, text)
				}
				c.Create(slices.Collect(maps.Values(statements))...)
				p.clean(test.newer)
				statements, text = p.passes(test.older)
				if len(statements) > 0 || !strings.Contains(text, test.lacks) {
					t.Errorf("%v\n%s", statements, text)
				}
				live, err := schema.Read(t.Context(), p.session, "mall")
				if err != nil || live.Table(schema.ID{Keyspace: "mall", Name: test.table}).Comment() != "ops: it's [a] page" {
					t.Errorf("the comment is another: %v\n%s", err, live.CQL())
				}
			})
		})
	}
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) { // the second step: the new function writes
		c.Create(mallOf(bucketed(tables.Hash(40, "review_id"), hash4)).Statements()...)
		p := startProcess(t, c)
		last := bucketed(tables.Hash(4, "review_id"), hash40)
		statements, _ := p.passes(last)
		c.Create(statements["reviews_by_slot"])
		p.clean(last)
		p.passes(bucketed(tables.Hash(40, "review_id"), hash4))
		p.refused(bucketed(tables.Hash(4, "review_id")), "the last of which writes")
	})
}

// A Since is put into the fingerprint before a process with it starts, so that none without it starts once it has
// begun. If it has begun before, its statement is for somebody who knows that no such process has written rows of since
// then, so a migration has it as a comment.
func TestAddedSince(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		since     tables.Since
		word, why string
	}{
		{yesterday, "the Since has begun", "-- Only if no process without the Since has written a row of since then:\n-- "},
		{tomorrow, "put the Since into the fingerprint before a process with it starts", ""},
	} {
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			older, newer := bucketed(tables.Day("written")), bucketed(tables.Day("written"), test.since)
			c.Create(mallOf(older).Statements()...)
			p := startProcess(t, c)
			p.refused(newer, test.word)
			found, err := schema.Differences(t.Context(), p.session, schema.Sets(newer))
			if err != nil || len(found) != 1 || found[0].Table != "reviews_by_slot" || found[0].Fix == "" {
				t.Fatalf("%v, %v", err, found)
			}
			differences, err := schema.Differences(t.Context(), p.session, mallOf(newer))
			got := schema.Migration(differences)
			if want := ".\n" + test.why + found[0].Fix + ";\n"; err != nil || !strings.HasSuffix(got, want) {
				t.Errorf("%v\n%s\nwant %s", err, got, want)
			}
			c.Create(found[0].Fix)
			p.clean(newer)
			if test.why != "" {
				p.refused(older, "is in use already")
			} else if statements, text := p.passes(older); len(statements) > 0 || !strings.Contains(text, "in this process") {
				t.Errorf("%v\n%s", statements, text)
			}
		})
	}
}

// A row without an expiry ends by a default_time_to_live, against what ExpiresAt says. A service may mean it, so it
// stops none.
func TestDefaultTTLAndExpiresAt(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := reviews(tables.ExpiresAt("ends"))
		c.Create(mallOf(set).Statements()...)
		p := startProcess(t, c)
		p.clean(set)
		c.Create("ALTER TABLE mall.reviews WITH default_time_to_live = 60", "ALTER TABLE mall.reviews_by_status WITH default_time_to_live = 60")
		found, err := schema.Differences(t.Context(), p.session, schema.Sets(set))
		var got []string
		for _, d := range found {
			if d.Note && strings.Contains(d.Reason, "a row whose expiry is zero or nil ends after it") {
				got = append(got, d.Fix)
			}
		}
		want := []string{"ALTER TABLE mall.reviews WITH default_time_to_live = 0", "ALTER TABLE mall.reviews_by_status WITH default_time_to_live = 0"}
		if err != nil || !slices.Equal(got, want) || len(found) != 2 || schema.Validate(t.Context(), p.session, schema.Sets(set)) != nil {
			t.Errorf("%v, %v", found, err)
		}
		for _, statement := range want {
			c.Create(statement)
		}
		p.clean(set)
		c.Create("ALTER TABLE mall.reviews WITH default_time_to_live = 60", "ALTER TABLE mall.reviews_by_status WITH default_time_to_live = 60")
		if found, err := schema.Differences(t.Context(), p.session, schema.Sets(reviews())); err != nil ||
			slices.ContainsFunc(found, func(d schema.Difference) bool { return !d.Extra && strings.Contains(d.Reason, "default_time") }) {
			t.Errorf("without ExpiresAt: %v, %v", found, err)
		}
	})
}

// What can be added later is no contradiction where the fingerprint lacks it, be it that a new version of the service
// declares it, or that the table is of an earlier version of the library. Once it is in there a process without it does
// not start.
func TestAddedOptionsRollOut(t *testing.T) {
	t.Parallel()
	open, stamp := tables.OneOf("status", "open", "done"), tables.Stamp("updated_at")
	for name, test := range map[string]struct {
		older, newer tables.Described
		want         string
	}{
		"Stamp":        {reviews(), reviews(stamp), "Stamp(updated_at)"},
		"ExpiresAt":    {reviews(), reviews(tables.ExpiresAt("ends")), "ExpiresAt(ends)"},
		"SweepInserts": {reviews(open, stamp), reviews(open, stamp, tables.SweepInserts()), "SweepInserts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(mallOf(test.older).Statements()...)
				p := startProcess(t, c)
				statements, text := p.passes(test.newer)
				if len(statements) != 2 || !strings.Contains(text, test.want+" is not in the fingerprint yet") {
					t.Errorf("%v\n%s", statements, text)
				}
				p.clean(test.older)
				c.Create(slices.Collect(maps.Values(statements))...)
				p.clean(test.newer)
				p.refused(test.older, "declares no "+strings.Split(test.want, "(")[0]+", the table was made for "+test.want)
			})
		})
	}
}

// A new version of a service may have a table more. Processes without it start, and write nothing into it.
func TestTablesCanBeAdded(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(mallOf(signups(false)).Statements()...)
		p := startProcess(t, c)
		p.clean(signups(false))
		p.clean(reviews())
	})
}

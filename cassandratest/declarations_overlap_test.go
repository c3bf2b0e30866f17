package cassandratest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Two sets over one table are compared with each other, also where the table has no fingerprint: who holds a unique key
// is looked up in the base table of one set alone. A fingerprint from before base tables were named passes, and gets
// its table.
func TestSetsOverOneTableDoNotStart(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		unique, other := signups(true, tables.Versioned("version")), staffWith()
		made := mallOf(unique)
		for i := range made.Tables {
			made.Tables[i].Fingerprint = ""
		}
		c.Create(made.Statements()...)
		c.Create("CREATE TABLE mall.staff (review_id uuid PRIMARY KEY, status text, email text, written timestamp, version timeuuid, updated_at bigint, moved_at bigint, " +
			"ends timestamp, pending blob, done timeuuid, recent map<tinyint, timeuuid>)")
		p := startProcess(t, c)
		p.passes(unique)
		p.passes(other)
		if err := schema.Validate(t.Context(), p.session, schema.Sets(unique, unique)); err != nil {
			t.Error(err)
		}
		for _, sets := range [][]tables.Described{{reviews(), reviews(tables.ExpiresAt("ends"))}, {reviews(tables.ExpiresAt("ends")), reviews()}} {
			if err := schema.Validate(t.Context(), p.session, schema.Sets(sets...)); err == nil || !strings.Contains(err.Error(), "contradict each other") {
				t.Errorf("only one of two sets over one table has ExpiresAt: %v", err)
			}
		}
		err := schema.Validate(t.Context(), p.session, schema.Sets(unique, other))
		if err == nil || !strings.Contains(err.Error(), "mall.reviews_by_email: entities review and staff both declare it, and contradict each other: "+
			"[denorm:1 versioned version; owners reviews] and [denorm:1 versioned version; owners staff]; give each entity a table of its own") {
			t.Errorf("both: %v", err)
		}
		c.Create("ALTER TABLE mall.reviews_by_email WITH comment = '[denorm:1 versioned version]'")
		statements, text := p.passes(unique)
		if !strings.Contains(text, "the table's fingerprint does not say in which table the owners are") {
			t.Error(text)
		}
		c.Create(statements["reviews_by_email"])
		p.refused(other, "declares a Unique table with owners in staff, the table was made for a Unique table with owners in reviews")
	})
}

// A column that only one of two sets over one table declares is lost where the other moves rows, and a note where it
// does not.
func TestColumnsOfSetsOverOneTable(t *testing.T) {
	t.Parallel()
	type note struct {
		ReviewID  gocql.UUID
		Status    string
		UpdatedAt int64
	}
	notes := func(options ...tables.Option) tables.Described {
		return tables.Must(tables.New[note]("note", append([]tables.Option{
			tables.Table{Name: "reviews", Keyspace: "mall", PartKey: []string{"review_id"}},
			tables.Table{Name: "reviews_by_status", Keyspace: "mall", PartKey: []string{"status"}, SortKey: []string{"review_id"}},
		}, options...)...))
	}
	moving := []tables.Option{tables.OneOf("status", "a", "b"), tables.Stamp("updated_at")}
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		made := mallOf(reviews(tables.OneOf("status", "a", "b"), tables.Stamp("updated_at")))
		for i := range made.Tables {
			made.Tables[i].Fingerprint = ""
		}
		c.Create(made.Statements()...)
		p := startProcess(t, c)
		const lacks = "column email: entity review declares it in this table, and entity note, which declares the table too, does not"
		for _, sets := range [][]tables.Described{{reviews(moving...), notes(moving...)}, {notes(moving...), reviews(moving...)}} {
			err := schema.Validate(t.Context(), p.session, schema.Sets(sets...))
			if err == nil || !strings.Contains(err.Error(), "mall.reviews_by_status: "+lacks) || strings.Contains(err.Error(), "column status: entity") {
				t.Errorf("rows move: %v", err)
			}
		}
		found, err := schema.Differences(t.Context(), p.session, schema.Sets(reviews(), notes()))
		if !slices.ContainsFunc(found, func(d schema.Difference) bool { return d.Note && strings.Contains(d.String(), lacks) }) || err != nil {
			t.Errorf("rows stay: %v, %v", found, err)
		}
		if err := schema.Validate(t.Context(), p.session, schema.Sets(reviews(), notes())); err != nil {
			t.Errorf("rows stay: %v", err)
		}
	})
}

// A set without a query table that another set over the same base table has would leave rows in it.
func TestQueryTableOfOneSetAlone(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		has, lacks := signups(false), reviews()
		c.Create(mallOf(has).Statements()...)
		p := startProcess(t, c)
		const want = "schema: 1 difference(s) between declared and live\n\tmall.reviews_by_email: entity review declares it as a query " +
			"table of reviews, and entity review, which declares that base table too, does not: rows that review inserts are missing in it, and rows " +
			"that it changes or deletes stay in it; declare it in both, or write with one of the sets (a set that is only read need not be checked)"
		for _, sets := range [][]tables.Described{{has, lacks}, {lacks, has}} {
			if err := schema.Validate(t.Context(), p.session, schema.Sets(sets...)); err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
		if err := schema.Validate(t.Context(), p.session, schema.Sets(has, has)); err != nil {
			t.Error(err)
		}
	})
}

// A live column that writes fill in the base table alone is a note.
func TestColumnOfTheBaseTableAlone(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := signups(false)
		c.Create(mallOf(set).Statements()...)
		c.Create("ALTER TABLE mall.reviews_by_email ADD written timestamp", "ALTER TABLE mall.reviews_by_email ADD other text")
		p := startProcess(t, c)
		found, err := schema.Differences(t.Context(), p.session, schema.Sets(set))
		found = slices.DeleteFunc(found, func(d schema.Difference) bool { return d.Extra })
		if err != nil || len(found) != 1 || !found[0].Note || !strings.Contains(found[0].String(),
			"mall.reviews_by_email: column written: the set declares it in its base table and not among the Columns of this one") {
			t.Errorf("%v, %v", found, err)
		}
		if err := schema.Validate(t.Context(), p.session, schema.Sets(set)); err != nil {
			t.Error(err)
		}
	})
}

package cassandratest_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// What follows is how a process finds that it declares a table otherwise than those that write it.

type review struct {
	ReviewID  gocql.UUID
	Status    string
	Email     string
	Written   time.Time
	Version   gocql.UUID
	UpdatedAt int64
	MovedAt   int64
	Ends      time.Time
}

// reviews declares a set over the tables that all processes use.
func reviews(options ...tables.Option) tables.Described {
	return tables.Must(tables.New[review]("review", append([]tables.Option{
		tables.Table{Name: "reviews", Keyspace: "mall", PartKey: []string{"review_id"}},
		tables.Table{Name: "reviews_by_status", Keyspace: "mall", PartKey: []string{"status"}, SortKey: []string{"review_id"}},
		tables.Type("version", "timeuuid"),
	}, options...)...))
}

// bucketed is reviews with a table by a derived column.
func bucketed(bucket tables.Bucket, later ...tables.Since) tables.Described {
	return reviews(
		tables.Table{Name: "reviews_by_slot", Keyspace: "mall", PartKey: []string{"slot"}, SortKey: []string{"review_id"}},
		tables.Derive("slot", bucket, later...), tables.Type("slot", "int"))
}

func within(values ...string) tables.Described {
	return reviews(tables.OneOf("status", values...), tables.Stamp("updated_at"))
}

// rotated is reviews with a table that rotates.
func rotated(by tables.Bucket) tables.Described {
	return reviews(tables.Table{
		Name: "reviews_by_time", Keyspace: "mall", PartKey: []string{"email"}, SortKey: []string{"written", "ends", "review_id"}, Rotate: by,
	})
}

// signups has a table by e-mail address, which may be one of unique keys.
func signups(unique bool, options ...tables.Option) tables.Described {
	t := tables.Table{Name: "reviews_by_email", Keyspace: "mall", PartKey: []string{"email"}, Columns: []string{"review_id"}, Unique: unique}
	if !unique {
		t.SortKey = []string{"review_id"}
	}
	return reviews(append(options, t)...)
}

// staffWith declares another entity, which would have the same table of unique e-mail addresses.
func staffWith() tables.Described {
	return tables.Must(tables.New[review]("staff", tables.Versioned("version"), tables.Type("version", "timeuuid"),
		tables.Table{Name: "staff", Keyspace: "mall", PartKey: []string{"review_id"}},
		tables.Table{Name: "reviews_by_email", Keyspace: "mall", PartKey: []string{"email"}, Unique: true}))
}

type slotRow struct {
	Slot   string
	Holder int64
	Until  int64
	Mark   gocql.UUID
}

func slotsWith(options ...tables.Option) tables.Described {
	return tables.Must(tables.New[slotRow]("slot", append(options, tables.Table{Name: "slots", Keyspace: "mall", PartKey: []string{"slot"}})...))
}

var (
	virtual   = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when a test begins
	tomorrow  = tables.Since{Time: virtual.Add(24 * time.Hour), Bucket: tables.Every(time.Hour, "written")}
	yesterday = tables.Since{Time: virtual.Add(-24 * time.Hour), Bucket: tables.Every(time.Hour, "written")}
	hash40    = tables.Since{Bucket: tables.Hash(40, "review_id")}
	hash4     = tables.Since{Bucket: tables.Hash(4, "review_id")}
)

// mallOf declares the tables of a set, one of them with a comment of the service's own.
func mallOf(set tables.Described, options ...schema.Declaration) *schema.Schema {
	return schema.Must(schema.Declare(append([]schema.Declaration{
		schema.Keyspaces(schema.Keyspace{Name: "mall", Replication: schema.Replication(map[string]int{"dc1": 3})}), schema.Sets(set),
	}, options...)...))
}

// process is a service with its own declaration.
type process struct {
	*testing.T
	session *session.Session
	w       *writer.Writer
}

func startProcess(t *testing.T, c *cassandratest.Cluster) process {
	t.Helper()
	s := connect(t, c, "")
	w, err := writer.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return process{t, s, w}
}

// connect opens a session, which is closed when the test ends.
func connect(t *testing.T, c *cassandratest.Cluster, keyspace string) *session.Session {
	t.Helper()
	config := c.Config()
	config.Keyspace = keyspace
	s, err := session.Open(config, session.LocalDC("dc1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// refused wants Validate to fail, with a word.
func (p process) refused(set tables.Described, word string) {
	p.Helper()
	var different *schema.DifferenceError
	if err := schema.Validate(p.Context(), p.session, mallOf(set)); !errors.As(err, &different) || !strings.Contains(err.Error(), word) {
		p.Errorf("Validate: %v, want %q", err, word)
	}
}

// passes wants Validate to pass, and gives the notes: the statements of those that have one, by table, and the text of
// all.
func (p process) passes(set tables.Described) (statements map[string]string, text string) {
	p.Helper()
	declared := mallOf(set)
	if err := schema.Validate(p.Context(), p.session, declared); err != nil {
		p.Errorf("Validate: %v", err)
	}
	found, err := schema.Differences(p.Context(), p.session, declared)
	if err != nil {
		p.Fatal(err)
	}
	statements = make(map[string]string)
	for _, d := range found {
		if d.Extra {
			continue
		}
		if text += d.String() + "\n"; d.Fix != "" {
			statements[d.Table] = d.Fix
		}
	}
	return statements, text
}

// clean wants no note.
func (p process) clean(set tables.Described) {
	p.Helper()
	if _, text := p.passes(set); text != "" {
		p.Errorf("a note: %s", text)
	}
}

// Two processes that contradict each other about a table: the second one does not start, and is told what differs.
func TestContradictingDeclarationsDoNotStart(t *testing.T) {
	t.Parallel()
	versioned, unique := reviews(tables.Versioned("version")), signups(true, tables.Versioned("version"))
	open := tables.OneOf("status", "open", "done")
	for name, test := range map[string]struct {
		made, used tables.Described
		want       string
	}{
		"another number of buckets": {
			bucketed(tables.Hash(4, "review_id")), bucketed(tables.Hash(7, "review_id")),
			"mall.reviews_by_slot: column slot: this process uses hash(7, review_id), the table was made for hash(4, review_id)",
		},
		"another source":        {bucketed(tables.Hash(4, "review_id")), bucketed(tables.Hash(4, "status")), "this process uses hash(4, status)"},
		"another time":          {bucketed(tables.Day("written"), tomorrow), bucketed(tables.Day("written"), yesterday), "from 2000-01-02T00:00:00Z of written on every(1h0m0s, written)"},
		"a Since that began":    {bucketed(tables.Day("written"), yesterday), bucketed(tables.Day("written")), "is in use already"},
		"an unknown hash":       {bucketed(tables.Hash(4, "review_id"), hash40), bucketed(tables.Hash(4, "review_id")), "hash(4, review_id) or hash(40, review_id), the last of which writes"},
		"a hash without list":   {bucketed(tables.Hash(4, "review_id")), bucketed(tables.Hash(4, "review_id"), hash40), "the last of which writes"},
		"Versioned, plain":      {versioned, reviews(), "column recent: is kept by a Versioned set"},
		"plain, Versioned":      {reviews(), versioned, "no Versioned"},
		"Unique of another set": {unique, staffWith(), "declares a Unique table with owners in staff, the table was made for a Unique table with owners in reviews"},
		"Unique, plain":         {unique, signups(false), "column recent: is kept by a Versioned set"},
		"Unique, not Unique":    {unique, signups(false, tables.Versioned("version")), "column claim: is kept in a table of unique keys"},
		"Unique, not declared":  {unique, versioned, "declares no Unique table, the table was made for Unique table(reviews_by_email)"},
		"OneOf, another OneOf":  {within("open", "done"), within("open", "hidden"), `column status: this process declares a OneOf that has "hidden" and lacks "done"`},
		"OneOf, immutable":      {within("open", "done"), reviews(), `the table was made for OneOf("open", "done")`},
		"SingleWriter, OneOf":   {reviews(tables.SingleWriter("status")), reviews(open, tables.Stamp("updated_at")), `this process declares OneOf("open", "done"), the table was made for SingleWriter`},
		"immutable, one writer": {reviews(), reviews(tables.SingleWriter("status")), "the table was made for a column that does not change"},
		"Compare, plain":        {slotsWith(tables.Compare("holder")), slotsWith(), "declares no Compare, the table was made for Compare(holder)"},
		"Compare, others":       {slotsWith(tables.Compare("holder")), slotsWith(tables.Compare("until", "holder")), "declares Compare(holder, until)"},
		"Compare, Mark":         {slotsWith(tables.Compare("holder")), slotsWith(tables.Compare("holder"), tables.Mark("mark")), "declares Mark(mark), the table was made for no Mark"},
		"Stamp, none":           {reviews(tables.Stamp("updated_at")), reviews(), "declares no Stamp, the table was made for Stamp(updated_at)"},
		"Stamp, another":        {reviews(tables.Stamp("updated_at")), reviews(tables.Stamp("moved_at")), "declares Stamp(moved_at), the table was made for Stamp(updated_at)"},
		"ExpiresAt, none":       {reviews(tables.ExpiresAt("ends")), reviews(), "declares no ExpiresAt, the table was made for ExpiresAt(ends): the rows that it writes would not expire"},
		"ExpiresAt, another":    {reviews(tables.ExpiresAt("ends")), reviews(tables.ExpiresAt("written")), "declares ExpiresAt(written), the table was made for ExpiresAt(ends)"},
		"SweepInserts, none":    {reviews(open, tables.Stamp("updated_at"), tables.SweepInserts()), reviews(open, tables.Stamp("updated_at")), "declares no SweepInserts"},
		"Rotate, another column": {
			rotated(tables.Day("written")), rotated(tables.Day("ends")),
			"declares Rotate(day(ends)), the table was made for Rotate(day(written))",
		},
		"Rotate, another period": { // a table for the end of the year has the same name in both
			rotated(tables.Every(48*time.Hour, "written")), rotated(tables.Every(72*time.Hour, "written")),
			"mall.reviews_by_time_1999_12_31: this process declares Rotate(every(72h0m0s,written)), the table was made for Rotate(every(48h0m0s,written))",
		},
		"Serial, LocalSerial": {versioned, reviews(tables.Versioned("version"), tables.LocalSerial()), "declares LocalSerial, the table was made for no LocalSerial"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(mallOf(test.made).Statements()...)
				p := startProcess(t, c)
				if err := schema.Ensure(t.Context(), p.session, mallOf(test.made)); err != nil { // it creates the table of the present
					t.Fatal(err)
				}
				p.clean(test.made)
				p.refused(test.used, test.want)
			})
		})
	}
}

// A plain set over tables of conditional ones does not start even where they have no fingerprint.
func TestLibraryColumnsNeedTheirDeclaration(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		made := mallOf(signups(true, tables.Versioned("version")))
		for i := range made.Tables {
			made.Tables[i].Fingerprint = ""
		}
		c.Create(made.Statements()...)
		p := startProcess(t, c)
		p.refused(reviews(), "column recent: is kept by a Versioned set")
		p.refused(signups(false, tables.Versioned("version")), "column claim: is kept in a table of unique keys")
		p.passes(signups(true, tables.Versioned("version")))
	})
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(mallOf(reviews()).Statements()...)
		c.Create(`ALTER TABLE mall.reviews ADD pending int`, `ALTER TABLE mall.reviews ADD claim text`) // a newer process's own
		startProcess(t, c).passes(reviews())
	})
}

// That a set has to be Versioned is said alone: the other differences follow from it, and one that heeds their advice
// would pass.
func TestPlainSetOverVersionedTables(t *testing.T) {
	t.Parallel()
	plain := tables.Must(tables.New[review]("review",
		tables.Table{Name: "reviews", Keyspace: "mall", PartKey: []string{"review_id"}},
		tables.Table{Name: "reviews_by_status", Keyspace: "mall", PartKey: []string{"status"}, SortKey: []string{"review_id"}}))
	const want = "schema: 1 difference(s) between declared and live\n\tmall.reviews: column recent: is kept by a Versioned set, and this set is not: its plain " +
		"writes would undo what transactions have decided. Declare Versioned, as the processes do that write the table\n\t\tno statement fixes it: " +
		"it is this declaration that is another one than the others use"
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(mallOf(reviews(tables.Versioned("version"))).Statements()...)
		p := startProcess(t, c)
		if err := schema.Validate(t.Context(), p.session, mallOf(plain)); err == nil || err.Error() != want {
			t.Errorf("Validate: %v\nwant %s", err, want)
		}
	})
}

// Tables from before have no fingerprint. Validate passes, and what Differences gives as a statement adds it.
func TestStatementAddsTheFingerprint(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := bucketed(tables.Hash(4, "review_id"))
		made := mallOf(set, schema.With("mall.reviews", schema.Options{Comment: "who's who; -- two\nlines"}))
		for i := range made.Tables {
			made.Tables[i].Fingerprint = ""
		}
		c.Create(made.Statements()...)
		p := startProcess(t, c)
		statements, text := p.passes(set)
		if len(statements) != 3 || !strings.Contains(text, "has no fingerprint") {
			t.Fatalf("%v\n%s", statements, text)
		}
		found, err := schema.Differences(t.Context(), p.session, made)
		if err != nil || len(found) > 0 {
			t.Errorf("the same tables without sets: %v, %v", found, err)
		}
		c.Create(slices.Collect(maps.Values(statements))...)
		p.clean(set)
		p.refused(bucketed(tables.Hash(7, "review_id")), "hash(7, review_id)")
		live, err := schema.Read(t.Context(), p.session, "mall")
		if err != nil || live.Table(schema.ID{Keyspace: "mall", Name: "reviews"}).Comment() != "who's who; -- two\nlines" {
			t.Errorf("%v\n%s", err, live.CQL())
		}
		if again, err := schema.Parse("live", live.CQL()); err != nil || len(schema.Compare(live, again))+len(schema.Compare(again, live)) > 0 {
			t.Errorf("%v: the text of the live schema is another:\n%s", err, live.CQL())
		}
	})
}

// What a service changes about its own comment leaves the fingerprint where it is.
func TestCommentAndFingerprintAreApart(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		set := bucketed(tables.Hash(4, "review_id"))
		c.Create(mallOf(set).Statements()...)
		p := startProcess(t, c)
		declared := mallOf(set, schema.With("mall.reviews_by_slot", schema.Options{Comment: "by slot"}))
		found, err := schema.Differences(t.Context(), p.session, declared)
		if err != nil || len(found) != 1 || found[0].Note || !strings.HasPrefix(found[0].Reason, "comment is '', declared 'by slot'") {
			t.Fatalf("%v, %v", found, err)
		}
		c.Create(found[0].Fix)
		if found, err := schema.Differences(t.Context(), p.session, declared); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
		p.refused(bucketed(tables.Hash(7, "review_id")), "hash(7, review_id)")
	})
}

package cassandratest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
)

// Which requests a rule is taken for.
func TestRules(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		matchers []Matcher
		want     string // the requests below that the rule was taken for, each tried twice
	}{
		"all":              {nil, "note note order order batch batch"},
		"table":            {[]Matcher{Table("notes")}, "note note batch batch"},
		"full name":        {[]Matcher{Table("shop.orders")}, "order order batch batch"},
		"other keyspace":   {[]Matcher{Table("house.orders")}, ""},
		"one of":           {[]Matcher{Table("orders", "cups")}, "order order batch batch"},
		"kind":             {[]Matcher{Batch}, "batch batch"},
		"kind of table":    {[]Matcher{Execute, Table("notes")}, "note note"},
		"no such":          {[]Matcher{Query}, ""},
		"text":             {[]Matcher{Text("USING TIMESTAMP")}, "order order batch batch"},
		"text, other case": {[]Matcher{Text("Insert INTO SHOP.orders")}, "order order batch batch"},
		"first":            {[]Matcher{Nth(1)}, "note"},
		"some of a table":  {[]Matcher{Nth(2, 3), Table("notes")}, "note batch"},
		"some of a kind":   {[]Matcher{Batch, Nth(2)}, "batch"},
		"node":             {[]Matcher{On(1)}, "note note order order batch batch"},
		"other node":       {[]Matcher{On(2)}, ""},
		"where":            {[]Matcher{Where(func(r Request) bool { return len(r.Statements) == 2 })}, "batch batch"},
		"where, and other": {[]Matcher{Where(func(r Request) bool { return len(r.Statements) == 1 }), Table("notes")}, "note note"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Test(t, 2, func(t *testing.T, s *Cluster) {
				session := open(t, s, func(c *gocql.ClusterConfig) { c.HostFilter = gocql.WhiteListHostFilter("127.0.0.1") })
				s.Create(`CREATE TABLE house.orders (id int PRIMARY KEY)`, `CREATE TABLE house.cups (id int PRIMARY KEY)`)
				rule := s.When(test.matchers...).Do(Fail(Code(gocql.ErrCodeInvalid)))
				got, handled := "", 0
				try := func(name string, err error) {
					if err != nil {
						got, handled = got+" "+name, handled+1
					}
				}
				for range 2 {
					try("note", session.Query(insertNote, 1, "milk").Exec())
				}
				for range 2 {
					try("order", session.Query(insertOrder, gocql.UUID{}, 1, gocql.UUID{6: 0x10, 8: 0x80}, int64(1)).Exec())
				}
				for range 2 {
					b := session.NewBatch(gocql.LoggedBatch)
					b.Query(insertNote, 1, "milk")
					b.Query(insertOrder, gocql.UUID{}, 1, gocql.UUID{6: 0x10, 8: 0x80}, int64(1))
					try("batch", session.ExecuteBatch(b))
				}
				if test.want != "" {
					test.want = " " + test.want
				}
				if got != test.want || rule.Handled() != handled {
					t.Errorf("taken for%s, %d, want%s", got, rule.Handled(), test.want)
				}
			})
		})
	}
}

// What is no write of a table is left alone, unless the rule asks for it.
func TestRulesForOthers(t *testing.T) {
	t.Parallel()
	Test(t, 1, func(t *testing.T, s *Cluster) {
		s.When().Do(Fail(Code(gocql.ErrCodeInvalid)))
		session := open(t, s, func(c *gocql.ClusterConfig) { c.Keyspace = "shop" }) // USE, and reads of system tables
		read := func() error {
			return session.Query(`SELECT gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = 'shop'`).Scan(new(int))
		}
		if err := read(); err != nil {
			t.Error(err)
		}
		s.Heal()
		rule := s.When(Table("system_schema.tables"), Execute).Do(Fail(Unavailable(gocql.One, 1, 0)))
		if err := read(); err == nil || rule.Handled() != 1 {
			t.Errorf("%v, handled %d", err, rule.Handled())
		}
		s.Heal()
		s.When(Prepare, Table("notes"), Nth(1)).Do(Fail(Overloaded))
		if err := session.Query(insertNote, 1, "milk").Exec(); err == nil {
			t.Error("prepared")
		}
		if err := session.Query(insertNote, 1, "milk").Exec(); err != nil {
			t.Error(err)
		}
	})
}

// A rule for the schema that a driver reads may name it with or without its keyspace; a table of the test has the name
// first.
func TestRulesForSystemTables(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		other, taken bool
	}{
		{"system.peers", false, true},
		{"system.peers", true, true},
		{"peers", false, true},
		{"peers", true, false},
	} {
		t.Run(fmt.Sprint(test.name, ", another ", test.other), func(t *testing.T) {
			t.Parallel()
			Test(t, 1, func(t *testing.T, s *Cluster) {
				session := open(t, s, nil)
				if test.other {
					s.Create(`CREATE TABLE shop.peers (id int PRIMARY KEY)`)
				}
				rule := s.When(Table(test.name)).Do(Fail(Code(gocql.ErrCodeInvalid)))
				if err := session.Query(`SELECT peer FROM system.peers`).Exec(); (err != nil) != test.taken || (rule.Handled() > 0) != test.taken {
					t.Errorf("%v, handled %d", err, rule.Handled())
				}
			})
		})
	}
}

// mistakes is a test that keeps its errors.
type mistakes struct {
	*testing.T
	errors []string
}

func (m *mistakes) Errorf(format string, args ...any) {
	m.errors = append(m.errors, fmt.Sprintf(format, args...))
}

// A rule for a table that does not exist would never be taken, which is an error of the test.
func TestRuleForNoTable(t *testing.T) {
	t.Parallel()
	m := &mistakes{T: t}
	s := Start(m, 1)
	s.When(Table("notes")).Do(Drop)
	s.Create(notes, orders)
	s.When(Table("notes", "shop.orders", "system.local", "local", "system_schema.tables"), Execute).Do(Drop)
	s.When(Table("notes", "orders_by_nosuch"), Nth(1), Table("house.notes")).Do(Drop)
	s.When(Table("system.nosuch")).Choose(func(Request) []Step { return nil })
	want := []string{
		"cassandratest: a rule for table notes, which does not exist; there is none",
		"cassandratest: a rule for table orders_by_nosuch, house.notes, which does not exist; there is shop.notes, shop.orders",
		"cassandratest: a rule for table system.nosuch, which does not exist; there is shop.notes, shop.orders",
	}
	if !slices.Equal(m.errors, want) {
		t.Errorf("%q", m.errors)
	}
	c := New(1)
	defer c.Close()
	defer func() {
		if r := recover(); r == nil {
			t.Error("outside of a test there is no panic")
		}
	}()
	c.When(Table("notes")).Do(Drop)
}

// A rule that could never be taken, or would do what no cluster does, is an error of the test.
func TestRuleThatCannotBe(t *testing.T) {
	t.Parallel()
	m := &mistakes{T: t}
	s := Start(m, 3)
	s.When(On(4)).Do(Drop)
	s.When(On()).Choose(func(Request) []Step { return nil })
	s.When(On(1, 0)).Do(Drop)
	s.When(Nth()).Do(Drop)
	s.When(Nth(1, 0)).Do(Drop)
	s.When().Do(Apply, ApplyAt(3, 5))
	s.When().Do(Fail(WriteTimeout("SIMPEL", 1, 2)))
	s.When().Do(Fail(WriteFailure("simple", 1, 2, 1)))
	s.When(Execute, Batch).Do(Apply, Drop)
	s.When(On(1, 2), On(3)).Do(Drop)
	s.When(Nth(1), Nth(2)).Do(Drop)
	s.When(Execute, nil).Do(Drop)
	s.When(Where(nil)).Do(Drop)
	s.When().Choose(nil)
	s.When().Do(Apply, Step{})
	s.When().Do(Delay(5))
	s.When().Do(Delay(-time.Second))
	s.When().Do(StallAfter(4, 200))
	s.When().Do(StallAfter(-1, 0))
	s.When().Do(CutAfter(-1))
	s.When(Table()).Do(Drop)
	s.When(Startup, Table("orders")).Do(Drop)
	s.When().Do(Drop, Answer)
	s.When().Do(Apply, Cut, Delay(time.Second), Fail(Overloaded))
	s.When().Do(Fail(Error{}))
	if len(s.rules) > 0 {
		t.Errorf("%d rules that cannot be were made", len(s.rules))
	}
	s.When(Execute, Execute, On(1, 2), On(2, 3), Nth(1, 2), Nth(2)).Do(Delay(0), Delay(time.Millisecond), StallAfter(4, 0))
	for _, typ := range writeTypes {
		s.When(On(1, 3), Nth(1)).Do(ApplyAt(3), Fail(WriteTimeout(typ, 1, 2)))
	}
	const short = ": less than a millisecond: give a time.Duration, such as 100 * time.Millisecond"
	const types = "which Cassandra does not have; there is SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER, BATCH_LOG, CAS, VIEW, CDC"
	want := []string{
		"cassandratest: a rule with On of nodes [4]: name one or more of the nodes 1 to 3",
		"cassandratest: a rule with On of nodes []: name one or more of the nodes 1 to 3",
		"cassandratest: a rule with On of nodes [1 0]: name one or more of the nodes 1 to 3",
		"cassandratest: a rule with Nth of requests []: name one or more, counted from 1",
		"cassandratest: a rule with Nth of requests [1 0]: name one or more, counted from 1",
		"cassandratest: a rule with ApplyAt of nodes [3 5]: name one or more of the nodes 1 to 3",
		`cassandratest: a rule with WRITE_TIMEOUT of write type "SIMPEL", ` + types,
		`cassandratest: a rule with WRITE_FAILURE of write type "simple", ` + types,
		"cassandratest: a rule with the kinds EXECUTE and BATCH, and a request has one: make a rule for each",
		"cassandratest: a rule with several On that have no node in common: name the nodes in one On",
		"cassandratest: a rule with several Nth that have no request in common: name the requests in one Nth",
		"cassandratest: a rule whose matcher 2 is nil: leave it out",
		"cassandratest: a rule with Where of a nil function: give one, or leave it out",
		"cassandratest: a rule with Choose of a nil function: give one, or Do",
		"cassandratest: a rule whose step 2 is Step{}, which does nothing: give one of the package, or leave it out",
		"cassandratest: a rule with Delay of 5ns" + short,
		"cassandratest: a rule with Delay of -1s" + short,
		"cassandratest: a rule with StallAfter of 200ns" + short,
		"cassandratest: a rule with StallAfter of -1 bytes: give 0 or more",
		"cassandratest: a rule with CutAfter of -1 bytes: give 0 or more",
		"cassandratest: a rule with Table of no name: name one or more, or leave it out",
		"cassandratest: a rule with Startup and Table, and the first request is of no table: leave one of them out",
		"cassandratest: a rule whose step 2, answer, comes after the end of the request: leave it out",
		"cassandratest: a rule whose step 4, OVERLOADED, comes after the end of the request: leave it out",
		"cassandratest: a rule with Fail of Error{}: give one of the package, such as Overloaded, or Code",
	}
	if !slices.Equal(m.errors, want) {
		t.Errorf("%q", m.errors)
	}
}

// So is a question to the journal that no request could answer: nothing was ever found, and a test of what was not sent
// passed.
func TestJournalThatCannotBe(t *testing.T) {
	t.Parallel()
	m := &mistakes{T: t}
	s := Start(m, 3)
	for _, matchers := range [][]Matcher{
		{Execute, Batch}, {nil}, {Where(nil)}, {On(4)}, {On(1), On(2)}, {Nth(0)}, {Nth(1), Nth(2)},
	} {
		if found := s.Journal(matchers...); len(found) > 0 {
			t.Errorf("%v", found)
		}
	}
	s.Journal(Execute, Execute, On(1, 2), On(2), Nth(1, 2), Nth(2), Table("of later"), Text("x"))
	want := []string{
		"cassandratest: a call of Journal with the kinds EXECUTE and BATCH, and a request has one: make a call of Journal for each",
		"cassandratest: a call of Journal whose matcher 1 is nil: leave it out",
		"cassandratest: a call of Journal with Where of a nil function: give one, or leave it out",
		"cassandratest: a call of Journal with On of nodes [4]: name one or more of the nodes 1 to 3",
		"cassandratest: a call of Journal with several On that have no node in common: name the nodes in one On",
		"cassandratest: a call of Journal with Nth of requests [0]: name one or more, counted from 1",
		"cassandratest: a call of Journal with several Nth that have no request in common: name the requests in one Nth",
	}
	if !slices.Equal(m.errors, want) {
		t.Errorf("%q", m.errors)
	}
}

// A step that is none, chosen for a request, is an error of the test, and the request is answered.
func TestChosenStepThatIsNone(t *testing.T) {
	t.Parallel()
	if racing {
		defer bubbles.begin()()
	}
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { <-time.After(10 * time.Minute) })
		m := &mistakes{T: t}
		s := Start(m, 1)
		session := open(t, s, nil)
		s.When(Nth(1)).Choose(func(Request) []Step { return []Step{Apply, {}} })
		if err := session.Query(insertNote, 1, "milk").Exec(); err != nil {
			t.Error(err)
		}
		if len(m.errors) != 1 || !strings.Contains(m.errors[0], "step 2 is Step{}") {
			t.Errorf("%q", m.errors)
		}
	})
}

// Of two rules the first is taken, and both count. Steps can be chosen for each request.
func TestRuleOrder(t *testing.T) {
	t.Parallel()
	Test(t, 1, func(t *testing.T, s *Cluster) {
		session := open(t, s, nil)
		s.When(Nth(2)).Do(Fail(Overloaded))
		second := s.When(Nth(2, 3)).Do(Fail(Code(gocql.ErrCodeInvalid)))
		var seen []int
		s.When().Choose(func(r Request) []Step {
			if seen = append(seen, r.Number); len(seen) == 2 {
				return []Step{Fail(Code(gocql.ErrCodeSyntax))}
			}
			return nil
		})
		got := ""
		for range 5 {
			err := session.Query(insertNote, 1, "milk").Exec()
			got += fmt.Sprint(err, "; ")
		}
		if want := "<nil>; OVERLOADED; INVALID; SYNTAX_ERROR; <nil>; "; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if second.Handled() != 1 || len(seen) != 3 {
			t.Errorf("handled %d, chosen %v", second.Handled(), seen)
		}
		if n := s.Journal(Execute, Nth(2)); len(n) != 1 || n[0].Steps[0] != "OVERLOADED" {
			t.Errorf("%v", n)
		}
	})
}

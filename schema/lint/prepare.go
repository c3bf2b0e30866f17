package lint

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
)

// unnamedKeyspace is where tables are created that have no keyspace.
const unnamedKeyspace = "keyspace_of_the_session"

// server is a schema as the engine of cassandratest keeps it. What that does not support is not in it.
func server(s *schema.Schema) *catalog.Schema {
	out := catalog.New()
	define := func(text, keyspace string) {
		if statement, err := ast.Parse(text); err == nil {
			_, _ = out.Define(statement, keyspace)
		}
	}
	moved := *s.In(map[string]string{"": unnamedKeyspace})
	moved.Keyspaces = nil
	moved.Tables = slices.Clone(moved.Tables)
	for _, v := range moved.Views {
		if len(v.Columns) > 0 {
			moved.Tables = append(moved.Tables, schema.Table{ID: v.ID, Columns: v.Columns})
		}
	}
	moved.Views = nil
	for i := range moved.Tables { // without what says nothing of a statement, and that engine may not know
		t := &moved.Tables[i]
		t.Options, t.Fingerprint, t.Columns = nil, "", slices.Clone(t.Columns)
		for i := range t.Columns {
			c := &t.Columns[i]
			c.Mask, c.Type = "", vector.ReplaceAllString(c.Type, "frozen<list<$1>>")
		}
	}
	for _, t := range moved.Tables {
		if out.Keyspace(t.Keyspace) == nil {
			define("CREATE KEYSPACE "+cql.Quote(t.Keyspace)+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "")
		}
	}
	for _, text := range moved.Statements() {
		define(text, unnamedKeyspace)
	}
	return out
}

// vector matches the type of vectors, whose literals are those of lists.
var vector = regexp.MustCompile(`vector<(\w+), \d+>`)

// rejected prepares each query as a server with these tables would.
func rejected(r *review) {
	var on *catalog.Schema
	views := make(map[schema.ID]bool)
	for _, v := range r.schema.Views {
		views[v.ID] = true
	}
	for q, t := range r.queries {
		if q.Verb != "SELECT" && views[t.ID] {
			r.finding(t, "write the table that it is of", "a statement writes a materialized view, which Cassandra rejects").of(q)
			continue
		}
		if on == nil {
			on = server(r.schema)
		}
		keyspace := t.Keyspace
		if keyspace == "" {
			keyspace = unnamedKeyspace
		}
		if err := prepare(on, ast.Bound(q.Text), keyspace); err != nil {
			r.finding(t, "correct the statement", "Cassandra rejects a statement: %s", strings.ReplaceAll(err.Error(), unnamedKeyspace+".", "")).of(q)
		}
	}
}

// prepare gives the error that a server would. A statement that the engine cannot judge has none.
func prepare(on *catalog.Schema, text, keyspace string) (err error) {
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	_, err = query.Prepare(on, text, keyspace)
	var no *catalog.Error
	switch {
	case !errors.As(err, &no):
	case no.Code == gocql.ErrCodeSyntax, no.Reason != 0:
		// The statement was read before, in the text that it is from, and its table is known, perhaps by another name. What
		// has a reason is what the engine cannot judge.
		return nil
	}
	return err
}

// saidOnce leaves out that the server rejects a query where another rule says why.
func saidOnce(found []Finding) []Finding {
	why := make(map[[2]any]bool) // a query at its place
	for _, f := range found {
		if f.Severity == Error && strings.HasPrefix(f.Code, "DN5") && f.Code != codeRejected {
			why[[2]any{f.Query, f.At}] = true
		}
	}
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Code == codeRejected && why[[2]any{f.Query, f.At}] })
}

// codeRejected is the rule that finds in a query what others find too.
const codeRejected = "DN509"

package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/session"
)

// Step is a statement of reviewed CQL. [Steps] makes it, and [Apply] runs it.
type Step struct {
	Text    string // without comments
	At      Position
	Done    bool // the cluster has what it makes, or lacks what it drops
	Confirm bool // it drops or renames something, or alters a type or a replication: ask a person

	statement ast.Statement
	span      ast.Span
	parser    *parser // of its text
}

// Steps reads texts of CREATE, ALTER and DROP, and says which statements the cluster has already. It changes nothing.
// Names without a keyspace are in the session's; the Keyspace of a Source is ignored. Other statements in a text are an
// error, and so is what Cassandra would reject, or has in another form. So is a node that does not answer, or has another
// schema.
//
// The system tables alone say what is done. So a text must not drop what another of its statements names. An index may be
// dropped and created again. Of a table that is there, columns are compared, and options of CREATE TABLE are not. It
// ends with ctx, or after 2 minutes if ctx has no deadline.
func Steps(ctx context.Context, s *session.Session, sources ...Source) ([]Step, error) {
	if err := missing(ctx, s, &Schema{}); err != nil {
		return nil, err
	}
	steps, err := readSteps(s.Reads().Query("").Keyspace(), sources)
	if err == nil {
		ctx, cancel := limited(ctx, ensureTimeout)
		defer cancel()
		err = newApplier(s).plan(ctx, steps)
	}
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return steps, nil
}

// readSteps reads texts, and nothing of a cluster. The keyspace is the session's.
func readSteps(keyspace string, sources []Source) (steps []Step, err error) {
	for _, source := range sources {
		var more []Step
		p := &parser{file: source.File, keyspace: keyspace, absent: "it does not exist"}
		p.script, err = ast.NewScript(strings.TrimPrefix(source.Text, "\ufeff"))
		if err == nil {
			more, err = p.steps()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source.File, err)
		}
		steps = append(steps, more...)
	}
	return steps, reversed(steps)
}

func (p *parser) steps() (steps []Step, err error) {
	for {
		_, at, more := p.script.Next()
		if !more {
			return steps, nil
		}
		s, span, err := p.script.Statement()
		if err != nil {
			return nil, err
		}
		step := Step{Text: p.script.Text(span), At: p.position(at), statement: s, span: span, parser: p}
		all, drops := step.names()
		alter, _ := s.(*ast.CreateType)
		use, _ := s.(*ast.Use)
		keyspace, _ := s.(*ast.CreateKeyspace)
		replicas := keyspace != nil && keyspace.Alter && len(keyspace.Replication) > 0
		step.Confirm = len(drops) > 0 || alter != nil && alter.Alter || replicas
		switch {
		case use != nil && use.Keyspace == p.keyspace:
			continue
		case use != nil:
			return nil, p.fail(at, "USE is not applied: write the keyspace before each name")
		case len(all) == 0:
			return nil, p.fail(at, "only CREATE, ALTER and DROP of tables, types, indexes, views and keyspaces are applied")
		case all[0][0] == "":
			return nil, p.fail(at, "no keyspace is named: write it before the name")
		}
		steps = append(steps, step)
	}
}

// names gives what a statement is about: a keyspace, something in it, or a column of that. drops are those that it takes away.
func (st *Step) names() (all, drops [][]string) {
	add := func(what string, n cql.Name, columns ...string) {
		id := st.parser.id(n)
		whole := []string{id.Keyspace, what + " " + id.Name}
		all = append(all, whole)
		for _, c := range columns {
			all = append(all, append(slices.Clip(whole), c))
		}
	}
	columns := func(list []ast.ColumnDefinition) []string {
		return each.Of(list, func(d ast.ColumnDefinition) string { return d.Name })
	}
	switch s := st.statement.(type) {
	case *ast.CreateKeyspace:
		all = [][]string{{s.Keyspace}}
	case *ast.CreateType:
		gone, made := renamed(s.Rename)
		add("TYPE", s.Type, append(append(made, columns(s.Fields)...), gone...)...)
		drops = all[len(all)-len(gone):]
	case *ast.CreateTable:
		add("TABLE", s.Table, columns(s.Columns)...)
	case *ast.CreateIndex:
		add("INDEX", cql.Name{Keyspace: s.Table.Keyspace, Name: s.Index})
		add("TABLE", s.Table)
	case *ast.CreateView:
		add("MATERIALIZED VIEW", s.View)
		add("TABLE", s.From)
	case *ast.AlterTable:
		gone, made := renamed(s.Rename)
		gone, made = append(gone, s.Drop...), append(made, columns(s.Add)...)
		what := "TABLE"
		if s.View {
			what = "MATERIALIZED VIEW"
		}
		add(what, s.Table, append(made, gone...)...)
		drops = all[len(all)-len(gone):]
		if s.DropCompact {
			drops = [][]string{append(slices.Clip(all[0]), ast.CompactStorage)}
		}
	case *ast.Drop:
		if add(s.What, s.Name); s.What == "KEYSPACE" {
			all = [][]string{{s.Name.Name}}
		}
		drops = all
	}
	return all, drops
}

func renamed(names [][2]string) (from, to []string) {
	for _, n := range names {
		from, to = append(from, n[0]), append(to, n[1])
	}
	return from, to
}

// reversed rejects a text that takes away what another statement of it names: the system tables would not say which of
// them have run.
func reversed(steps []Step) error {
	for i := range steps {
		_, drops := steps[i].names()
		for j := range steps {
			all, _ := steps[j].names()
			_, index := steps[j].statement.(*ast.CreateIndex)
			for _, d := range drops {
				within := func(n []string) bool { return len(d) <= len(n) && slices.Equal(d, n[:len(d)]) }
				again := index && i < j && len(d) == 2 && strings.HasPrefix(d[1], "INDEX ")
				if i != j && !again && slices.ContainsFunc(all, within) {
					return fmt.Errorf("%s: line %d drops what line %d of %s names: apply them from two files, one after the other",
						steps[i].At.File, steps[i].At.Line, steps[j].At.Line, steps[j].At.File)
				}
			}
		}
	}
	return nil
}

// plan says which steps a live schema has, or why one of them cannot run after those before it.
func plan(live *Schema, steps []Step) (err error) {
	for i := range steps {
		if live, err = steps[i].plan(live, steps[i+1:]); err != nil {
			return fmt.Errorf("%s: %w", steps[i].At.File, err)
		}
	}
	return nil
}

// plan is the schema after the step.
func (st *Step) plan(now *Schema, later []Step) (*Schema, error) {
	if all, _ := st.names(); len(all[0]) > 1 && now.Keyspace(all[0][0]) == nil {
		return nil, st.fail("keyspace %s does not exist", all[0][0])
	}
	after, err := st.on(now, lenient(st.lasting(now, later)))
	if st.Done = err == nil && reflect.DeepEqual(after, now) || st.outdone(now, later); st.Done {
		return now, st.check(now, later)
	}
	return st.on(now, st.statement)
}

func (st *Step) fail(format string, args ...any) error {
	return st.parser.fail(st.span.From, format, args...)
}

// on is a schema as a statement of the step's text changes it.
func (st *Step) on(s *Schema, statement ast.Statement) (*Schema, error) {
	out := *s
	out.Keyspaces, out.Types, out.Tables = slices.Clone(s.Keyspaces), slices.Clone(s.Types), slices.Clone(s.Tables)
	out.Indexes, out.Views = slices.Clone(s.Indexes), slices.Clone(s.Views)
	for i := range out.Views {
		out.Views[i].Options = maps.Clone(out.Views[i].Options)
	}
	p := *st.parser
	p.on(&out)
	err := p.run(statement, st.span)
	if err == nil && len(out.Unread) > 0 { // an option that Cassandra rejects
		err = errors.New(out.Unread[0].Reason)
	}
	for i := range out.Tables {
		out.Tables[i].trim()
	}
	for _, v := range out.Views {
		(&Table{Options: v.Options}).trim()
	}
	return &out, err
}

// lenient is a statement that changes nothing where it is done.
func lenient(s ast.Statement) ast.Statement {
	switch s := s.(type) {
	case *ast.CreateKeyspace: // of ALTER it is IF EXISTS
		return set(*s, func(s *ast.CreateKeyspace) { s.IfNotExists = s.IfNotExists || !s.Alter })
	case *ast.CreateType:
		return set(*s, func(s *ast.CreateType) { s.IfNotExists = true })
	case *ast.CreateTable:
		return set(*s, func(s *ast.CreateTable) { s.IfNotExists = true })
	case *ast.CreateIndex:
		return set(*s, func(s *ast.CreateIndex) { s.IfNotExists = true })
	case *ast.CreateView:
		return set(*s, func(s *ast.CreateView) { s.IfNotExists = true })
	case *ast.AlterTable: // of its columns
		return set(*s, func(s *ast.AlterTable) { s.IfNotExists = true })
	case *ast.Drop:
		return set(*s, func(s *ast.Drop) { s.IfExists = true })
	}
	return s
}

// lasting is the statement without the options that a later step sets again, as far as the schema has those of the
// later one already. So a step that another one has undone is not run again.
func (st *Step) lasting(now *Schema, later []Step) ast.Statement {
	has := func(l *Step, s ast.Statement) bool {
		after, err := l.on(now, s)
		return err == nil && reflect.DeepEqual(after, now)
	}
	switch s := st.statement.(type) {
	case *ast.AlterTable:
		again := func(o ast.Option) bool {
			return slices.ContainsFunc(later, func(l Step) bool {
				a, ok := l.statement.(*ast.AlterTable)
				if !ok || a.View != s.View || l.parser.id(a.Table) != st.parser.id(s.Table) {
					return false
				}
				i := slices.IndexFunc(a.Options, func(other ast.Option) bool { return other.Name == o.Name })
				return i >= 0 && has(&l, &ast.AlterTable{Table: a.Table, View: a.View, Options: a.Options[i : i+1]})
			})
		}
		return set(*s, func(s *ast.AlterTable) { s.Options = slices.DeleteFunc(slices.Clone(s.Options), again) })
	case *ast.CreateKeyspace:
		out := *s
		for _, l := range later {
			a, ok := l.statement.(*ast.CreateKeyspace)
			if !ok || !s.Alter || !a.Alter || a.Keyspace != s.Keyspace {
				continue
			}
			one := ast.CreateKeyspace{Keyspace: a.Keyspace, Alter: true, Replication: a.Replication, KeepDurable: true}
			if len(a.Replication) > 0 && has(&l, &one) {
				out.Replication = nil
			}
			one.Replication, one.Durable, one.KeepDurable = nil, a.Durable, false
			if !a.KeepDurable && has(&l, &one) {
				out.KeepDurable = true
			}
		}
		return &out
	}
	return st.statement
}

func set[T any](s T, change func(*T)) *T {
	change(&s)
	return &s
}

// outdone says whether a step is done although the schema does not show it: the index was created again, or is COMPACT STORAGE gone.
func (st *Step) outdone(now *Schema, later []Step) bool {
	switch s := st.statement.(type) {
	case *ast.AlterTable:
		t := now.Table(st.parser.id(s.Table))
		return s.DropCompact && t != nil && t.Options[ast.CompactStorage] == ""
	case *ast.Drop:
		live := named(now.Indexes, st.parser.id(s.Name))
		return s.What == "INDEX" && live != nil && slices.ContainsFunc(later, func(l Step) bool {
			made, err := l.on(&Schema{}, l.statement)
			return err == nil && len(made.Indexes) > 0 && made.Indexes[0].ID == live.ID && live.same(&made.Indexes[0])
		})
	}
	return false
}

// check rejects what the schema has in another form than the step says.
func (st *Step) check(now *Schema, later []Step) error {
	made, err := st.on(&Schema{}, st.statement) // nothing of ALTER and DROP
	var found []Difference
	other := func(column, reason string) { found = append(found, Difference{Column: column, Reason: reason}) }
	switch s := st.statement.(type) {
	case *ast.CreateKeyspace:
		altered := slices.ContainsFunc(later, func(l Step) bool {
			o, ok := l.statement.(*ast.CreateKeyspace)
			return ok && o.Alter && o.Keyspace == s.Keyspace
		})
		if !s.Alter && !altered && !sameReplication(made.Keyspaces[0].Replication, now.Keyspace(s.Keyspace).Replication) {
			found = append(found, Difference{Reason: "the replication is another one"})
		}
	case *ast.CreateType:
		live := named(now.Types, st.parser.id(s.Type))
		if !s.Alter {
			found = compareFields(nil, "", "", made.Types[0].Fields, live.Fields, true)
		}
		for _, f := range s.Fields {
			if s.Alter && live != nil && !slices.Contains(live.Fields, fieldOf(f)) {
				other(f.Name, "is another one")
			}
		}
		for _, r := range s.Rename {
			if live != nil && !slices.ContainsFunc(live.Fields, func(f Field) bool { return f.Name == r[1] }) {
				other(r[1], "does not exist")
			}
		}
	case *ast.CreateTable:
		if len(made.Tables) == 0 { // Cassandra rejects it, whatever is there
			return err
		}
		found = compareColumns(nil, &made.Tables[0], now.Table(made.Tables[0].ID))
	case *ast.CreateIndex:
		if len(made.Indexes) == 0 {
			return err
		}
		if now.indexLike(&made.Indexes[0]) == nil {
			found = append(found, Difference{Reason: "the index is another one"})
		}
	case *ast.CreateView:
		if len(made.Views) == 0 {
			return err
		}
		if v := &made.Views[0]; v.shape() != named(now.Views, v.ID).shape() {
			found = append(found, Difference{Reason: "the view is another one"})
		}
	case *ast.AlterTable:
		t := now.Table(st.parser.id(s.Table))
		if t == nil { // IF EXISTS
			return nil
		}
		for _, d := range s.Add {
			if c, want := t.Column(d.Name), columnOf(d); c.Type != want.Type || c.Kind != want.Kind {
				other(d.Name, "is another one")
			}
		}
		for _, r := range s.Rename {
			if t.Column(r[1]) == nil {
				other(r[1], "does not exist")
			}
		}
	}
	if found = Breaking(found); len(found) == 0 {
		return nil
	}
	reason := found[0].Reason
	if found[0].Column != "" {
		reason = "column " + cql.Quote(found[0].Column) + ": " + reason
	}
	return st.fail("the cluster has it in another form: %s", reason)
}

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
	Done    bool // the cluster has what the statement makes, or lacks what it drops
	Confirm bool // the statement drops or renames something, or alters a type or a replication: ask a person

	statement  ast.Statement
	creates    bool
	span       ast.Span
	parser     *parser    // of its text
	all, drops [][]string // what it is about, and what of that it takes away: a keyspace, something in it, or a column
	made       *Schema    // what CREATE makes
}

// Steps reads texts of CREATE, ALTER and DROP, and says which statements the cluster has already. It changes nothing.
// Names without a keyspace are in the session's; the Keyspace of a Source is ignored. Steps fails on other statements,
// on what Cassandra would reject, and on what it has in another form. It also fails if a node does not answer or has
// another schema.
//
// The system tables alone say what is done. So a text must not drop what another of its statements names, nor alter
// what a later one creates. An index may be dropped and created again. If a table exists, its columns are compared, and
// options of CREATE TABLE are not. Steps ends with ctx, or after 2 minutes if ctx has no deadline.
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
		first, at, more := p.script.Next()
		if !more {
			return steps, nil
		}
		s, span, err := p.script.Statement()
		if err != nil {
			return nil, err
		}
		step := Step{Text: p.script.Text(span), At: p.position(at), statement: s, creates: first == "create", span: span, parser: p}
		step.names()
		use, _ := s.(*ast.Use)
		switch {
		case use != nil && use.Keyspace == p.keyspace:
			continue
		case use != nil:
			return nil, p.fail(at, "USE is not applied: write the keyspace before each name")
		case len(step.all) == 0:
			return nil, p.fail(at, "only CREATE, ALTER and DROP of tables, types, indexes, views and keyspaces are applied")
		case step.all[0][0] == "":
			return nil, p.fail(at, "no keyspace is named: write it before the name")
		}
		step.made, err = step.on(&Schema{}, s, false)
		if err != nil && step.creates && len(step.made.Unread) == 0 { // Cassandra rejects it, whatever is there
			return nil, err
		}
		steps = append(steps, step)
	}
}

// names finds what the statement is about, and whether a person is to confirm it.
func (st *Step) names() {
	add := func(what string, n cql.Name, gone []string, columns ...string) {
		id := st.parser.id(n)
		whole := []string{id.Keyspace, what + " " + id.Name}
		st.all = append(st.all, whole)
		for _, c := range slices.Concat(columns, gone) {
			st.all = append(st.all, append(slices.Clip(whole), c))
		}
		st.drops = st.all[len(st.all)-len(gone):]
	}
	columns := func(list []ast.ColumnDefinition, more []string) []string {
		return append(more, each.Of(list, func(d ast.ColumnDefinition) string { return d.Name })...)
	}
	switch s := st.statement.(type) {
	case *ast.CreateKeyspace:
		st.all, st.Confirm = [][]string{{s.Keyspace}}, s.Alter && len(s.Replication) > 0
	case *ast.CreateType:
		gone, made := renamed(s.Rename)
		add("TYPE", s.Type, gone, columns(s.Fields, made)...)
		st.Confirm = s.Alter
	case *ast.CreateTable:
		add("TABLE", s.Table, nil, columns(s.Columns, nil)...)
	case *ast.CreateIndex:
		add("INDEX", cql.Name{Keyspace: s.Table.Keyspace, Name: s.Index}, nil)
		add("TABLE", s.Table, nil)
	case *ast.CreateView:
		add("MATERIALIZED VIEW", s.View, nil)
		add("TABLE", s.From, nil)
	case *ast.AlterTable:
		gone, made := renamed(s.Rename)
		what := "TABLE"
		if s.View {
			what = "MATERIALIZED VIEW"
		}
		if add(what, s.Table, append(gone, s.Drop...), columns(s.Add, made)...); s.DropCompact {
			st.drops = [][]string{append(slices.Clip(st.all[0]), ast.CompactStorage)}
		}
	case *ast.Drop:
		if add(s.What, s.Name, nil); s.What == "KEYSPACE" {
			st.all = [][]string{{s.Name.Name}}
		}
		st.drops = st.all
	}
	st.Confirm = st.Confirm || len(st.drops) > 0
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
		for j := range steps {
			_, index := steps[j].statement.(*ast.CreateIndex)
			for _, d := range steps[i].drops {
				within := func(n []string) bool { return len(d) <= len(n) && slices.Equal(d, n[:len(d)]) }
				again := index && i < j && len(d) == 2 && strings.HasPrefix(d[1], "INDEX ")
				if i != j && !again && slices.ContainsFunc(steps[j].all, within) {
					return steps[i].reverses(&steps[j])
				}
			}
		}
	}
	return nil
}

func (st *Step) reverses(other *Step) error {
	return fmt.Errorf("%s: line %d drops what line %d of %s names: apply them from two files, one after the other",
		st.At.File, st.At.Line, other.At.Line, other.At.File)
}

// lasting rejects what a second run would do again. Only a schema shows it: now is the one after step i.
func lasting(now *Schema, steps []Step, i int) error {
	st := &steps[i]
	for _, made := range st.made.Indexes {
		live := now.indexLike(&made) // it may have another name
		for j := range steps {
			s, ok := steps[j].statement.(*ast.Drop)
			if live != nil && ok && s.What == "INDEX" && steps[j].parser.id(s.Name) == live.ID && (j > i || made.ID != live.ID) {
				return steps[j].reverses(st)
			}
		}
	}
	if st.creates || !st.Done || len(st.drops) > 0 {
		return nil
	}
	for _, l := range steps[i+1:] { // the step was done as it has IF EXISTS
		if l.creates && slices.Equal(l.all[0], st.all[0]) && !l.done(now, nil) {
			return fmt.Errorf("%s: line %d alters what line %d of %s creates: write the ALTER after it",
				st.At.File, st.At.Line, l.At.Line, l.At.File)
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
		if err = lasting(live, steps, i); err != nil {
			return err
		}
	}
	return nil
}

// plan is the schema after the step.
func (st *Step) plan(now *Schema, later []Step) (*Schema, error) {
	if len(st.all[0]) > 1 && now.Keyspace(st.all[0][0]) == nil {
		return nil, st.fail("keyspace %s does not exist", st.all[0][0])
	}
	if st.Done = st.done(now, later); st.Done {
		return now, st.check(now, later)
	}
	return st.on(now, st.statement, false)
}

func (st *Step) fail(format string, args ...any) error {
	return st.parser.fail(st.span.From, format, args...)
}

// on is a schema as a statement changes it. With rerun, what the statement makes may be there.
func (st *Step) on(s *Schema, statement ast.Statement, rerun bool) (*Schema, error) {
	out := *s
	out.Keyspaces, out.Types, out.Tables = slices.Clone(s.Keyspaces), slices.Clone(s.Types), slices.Clone(s.Tables)
	out.Indexes, out.Views = slices.Clone(s.Indexes), slices.Clone(s.Views)
	for i := range out.Views {
		out.Views[i].Options = maps.Clone(out.Views[i].Options)
	}
	p := *st.parser
	p.rerun = rerun
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

// done says whether a schema is as after the step, or as after a later one that goes on from there.
func (st *Step) done(now *Schema, later []Step) bool {
	has := func(s ast.Statement) bool {
		after, err := st.on(now, s, true)
		return err == nil && reflect.DeepEqual(after, now)
	}
	if s, ok := st.statement.(*ast.Drop); ok && s.What == "INDEX" { // it may be created again
		live := named(now.Indexes, st.parser.id(s.Name))
		if live != nil && slices.ContainsFunc(later, func(l Step) bool {
			return slices.ContainsFunc(l.made.Indexes, func(i Index) bool { return i.ID == live.ID && live.same(&i) })
		}) {
			return true
		}
	}
	options := st.options()
	for name, set := range options { // each may be set again
		if !has(set) && !slices.ContainsFunc(later, func(l Step) bool {
			again := l.options()[name]
			return again != nil && slices.Equal(l.all[0], st.all[0]) && has(again)
		}) {
			return false
		}
	}
	return len(options) > 0 || has(st.statement)
}

// options are what ALTER sets, each by a statement of its own.
func (st *Step) options() map[string]ast.Statement {
	out := make(map[string]ast.Statement)
	switch s := st.statement.(type) {
	case *ast.AlterTable:
		for i, o := range s.Options {
			one := *s
			one.Options = s.Options[i : i+1]
			out[o.Name] = &one
		}
	case *ast.CreateKeyspace:
		replication, durable := *s, *s
		if replication.KeepDurable = true; s.Alter && len(s.Replication) > 0 {
			out["replication"] = &replication
		}
		if durable.Replication = nil; s.Alter && !s.KeepDurable {
			out["durable_writes"] = &durable
		}
	}
	return out
}

// check rejects what the schema has in another form than the step says.
func (st *Step) check(now *Schema, later []Step) error {
	var found []Difference
	other := func(column, reason string) { found = append(found, Difference{Column: column, Reason: reason}) }
	altered := func(live *Table, added []ast.ColumnDefinition, renamed [][2]string) {
		for _, d := range added {
			if c, want := live.Column(d.Name), columnOf(d); c.Type != want.Type || c.Kind != want.Kind {
				other(d.Name, "is another one")
			}
		}
		for _, r := range renamed {
			if live.Column(r[1]) == nil {
				other(r[1], "does not exist")
			}
		}
	}
	switch s := st.statement.(type) {
	case *ast.AlterTable:
		if t := now.Table(st.parser.id(s.Table)); t != nil { // else it has IF EXISTS
			altered(t, s.Add, s.Rename)
		}
	case *ast.CreateType:
		if t := named(now.Types, st.parser.id(s.Type)); s.Alter && t != nil {
			altered(&Table{Columns: each.Of(t.Fields, func(f Field) Column {
				return Column{Name: f.Name, Type: f.Type, Kind: Regular}
			})}, s.Fields, s.Rename)
		}
	}
	for _, k := range st.made.Keyspaces {
		alters := func(l Step) bool { return slices.Equal(l.all[0], st.all[0]) }
		if !slices.ContainsFunc(later, alters) && !sameReplication(k.Replication, now.Keyspace(k.Name).Replication) {
			other("", "the replication is another one")
		}
	}
	for _, t := range st.made.Types {
		found = compareFields(nil, "", "", t.Fields, named(now.Types, t.ID).Fields, true)
	}
	for _, t := range st.made.Tables {
		found = compareColumns(nil, &t, now.Table(t.ID))
	}
	for _, i := range st.made.Indexes {
		if now.indexLike(&i) == nil {
			other("", "the index is another one")
		}
	}
	for _, v := range st.made.Views {
		if v.shape() != named(now.Views, v.ID).shape() {
			other("", "the view is another one")
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

package initialize

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// String is the plan for people, without what is said of statements.
func (p *Plan) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(printable.Line(fmt.Sprintf(format, args...)) + "\n") }
	line("%d entities, %d tables alone", len(p.Entities), len(p.Alone))
	if n := len(p.schema.Entities); n > 0 {
		line("left out: what is declared already, sets: %d", n)
	}
	for _, e := range p.Entities {
		line("")
		e.report(line)
	}
	section := func(title string, list []Left) {
		if len(list) > 0 {
			line("")
			line("%s", title)
		}
		for _, l := range list {
			column := ""
			if l.Column != "" {
				column = ", column " + l.Column
			}
			line("  %s%s%s: %s", l.Table, column, at(schema.Position{File: l.File, Line: l.Line}), l.Why)
		}
	}
	section("tables alone", p.Alone)
	section("not declared", p.Left)
	return b.String()
}

const readOnly = "not frozen, so ReadOnly: a change of it is Invalid; to write it, add a frozen column, and adopt with --copy"

func (e *Entity) report(line func(format string, args ...any)) {
	line("entity %s (a guess)", e.Name)
	for _, t := range e.Tables {
		line("  %s: %s", t.Name, t.Why)
	}
	if len(e.ID) > 0 {
		line("  ID %s: no key is in all keys, so this has to tell entities apart", strings.Join(e.ID, ", "))
	}
	if s := e.Sample; s != nil && s.Failed != "" {
		line("  no rows were read: %s", s.Failed)
	}
	line("  %s", e.nullable())
	if s := e.Sample; s != nil {
		if s.Partly > 0 {
			line("  a TTL on some columns, so no expiry fits: %s", share(s.Partly, s.Rows))
		}
		for _, column := range slices.Sorted(maps.Keys(s.Nulls)) {
			line("  null in %s: %s", share(s.Nulls[column], s.Rows), column)
		}
		for _, unit := range slices.Sorted(maps.Keys(s.Units)) {
			line("  write times in %s: %s", unit, share(s.Units[unit], s.Rows))
		}
	}
	if e.Expires != "" {
		line("  rows expire: %s", e.Expires)
	}
	for _, column := range e.declaration.ReadOnly {
		line("  list %s: %s", column, readOnly)
	}
	for _, d := range e.Decisions {
		line("  decide: %s; as declared, a change is Invalid", d.question())
		for _, says := range d.Says {
			line("    - %s", says)
		}
		for _, o := range d.Options {
			line("    %s: %s", o.Go, o.Costs)
		}
	}
}

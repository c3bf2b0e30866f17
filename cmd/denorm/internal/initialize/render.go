package initialize

import (
	"fmt"
	"go/format"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
)

// module is the import path of the library.
const module = "github.com/denorm-go/denorm"

// packageName is the name of the package in a folder.
func packageName(folder string) string {
	name := strings.Join(words(path.Base(folder)), "")
	if name == "" || name[0] <= '9' || slices.Contains(strings.Fields("init main nil"), name) || token.IsKeyword(name) {
		return "sets" + name
	}
	return name
}

// comment writes lines of a comment, each of one line.
func comment(b *strings.Builder, indent, format string, args ...any) {
	fmt.Fprintf(b, "%s// %s\n", indent, printable.Line(fmt.Sprintf(format, args...)))
}

// sets is the file with structs and sets.
func (p *Plan) sets(name string) ([]byte, error) {
	var body strings.Builder
	for _, u := range p.user {
		comment(&body, "", "%s is the user-defined type %s.", u.text, u.ID)
		fmt.Fprintf(&body, "type %s struct {\n", u.text)
		for _, f := range u.fields {
			fmt.Fprintf(&body, "\t%s %s `cql:%q`\n", f.name, f.text, f.column)
		}
		body.WriteString("}\n\n")
	}
	var all []string
	for _, e := range p.Entities {
		p.set(&body, e)
		all = append(all, e.variable)
	}
	fmt.Fprintf(&body, "// Schema is what the service declares.\nvar Schema = schema.Must(schema.Declare(schema.Sets(%s)))\n", strings.Join(all, ", "))

	var text strings.Builder
	text.WriteString("package " + name + "\n\nimport (\n")
	for _, i := range imports {
		if i.prefix == "" || p.names(i.prefix) {
			text.WriteString(i.path + "\n")
		}
	}
	return format.Source([]byte(text.String() + ")\n\n" + body.String()))
}

// names says whether a field has a type of a package.
func (p *Plan) names(prefix string) bool {
	has := func(f field) bool { return strings.Contains(f.text, prefix) }
	return slices.ContainsFunc(p.user, func(u *userType) bool { return slices.ContainsFunc(u.fields, has) }) ||
		slices.ContainsFunc(p.Entities, func(e *Entity) bool { return slices.ContainsFunc(e.fields, has) })
}

// leftOf gives what is not declared of the tables of an entity.
func (p *Plan) leftOf(e *Entity) []Left {
	return slices.DeleteFunc(slices.Clone(p.Left), func(l Left) bool {
		return !slices.ContainsFunc(e.Tables, func(t Table) bool { return t.Name == l.Table })
	})
}

// set writes the struct and the set of an entity.
func (p *Plan) set(b *strings.Builder, e *Entity) {
	d := &e.declaration
	comment(b, "", "%s is a row of entity %s.", e.row, e.Name)
	comment(b, "", "%s", e.nullable())
	fmt.Fprintf(b, "type %s struct {\n", e.row)
	for _, f := range e.fields {
		fmt.Fprintf(b, "\t%s %s", f.name, f.text)
		if tagged(f) {
			fmt.Fprintf(b, " `db:%q`", f.column)
		}
		switch {
		case slices.Contains(d.Stamps, f.column):
			b.WriteString(" // the write's timestamp: denorm fills it")
		case strings.HasPrefix(f.text, "*"):
			fmt.Fprintf(b, " // null in %s", share(e.Sample.Nulls[f.column], e.Sample.Rows))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "}\n\n// %s are the tables of entity %s. That they are one entity is a guess:\n", e.variable, e.Name)
	for _, t := range e.Tables {
		comment(b, "", "  - %s: %s", t.Name, t.Why)
	}
	for _, l := range p.leftOf(e) {
		comment(b, "", "Not declared is %s of %s: %s.", l.Column, l.Table, l.Why)
	}
	fmt.Fprintf(b, "var %s = tables.Must(tables.New[%s](%q,\n", e.variable, e.row, e.Name)
	for i, t := range d.Tables {
		after := ""
		if i == 0 {
			after = " // the base table"
		}
		fmt.Fprintf(b, "\t%s,%s\n", tableText(t), after)
	}
	option := func(name string, args ...string) {
		fmt.Fprintf(b, "\ttables.%s(%s),\n", name, strings.Join(args, ", "))
	}
	if len(d.IDs) > 0 {
		comment(b, "\t", "A guess: no key is in all keys, so this has to tell entities apart. That no two entities have one is your promise.")
		option("ID", each.Of(d.IDs, strconv.Quote)...)
	}
	for _, stamp := range d.Stamps {
		option("Stamp", strconv.Quote(stamp))
	}
	for _, version := range d.Versions {
		option("Versioned", strconv.Quote(version))
	}
	for _, expiry := range d.Expiries {
		comment(b, "\t", "A guess: %s.", e.Expires)
		option("ExpiresAt", strconv.Quote(expiry))
	}
	for _, t := range d.Types {
		option("Type", strconv.Quote(t.Column), strconv.Quote(t.CQL))
	}
	if len(d.ReadOnly) > 0 {
		comment(b, "\t", "A list that is not frozen is only read: sent twice, it has its elements twice. denorm adopt --copy ends that.")
	}
	for _, column := range d.ReadOnly {
		option("ReadOnly", strconv.Quote(column))
	}
	for _, u := range e.userTypes() {
		args := []string{strconv.Quote(u.Name)}
		for _, t := range u.declared().Fields.Types {
			args = append(args, fmt.Sprintf("tables.Type(%q, %q)", t.Column, t.CQL))
		}
		option("UserType["+u.text+"]", args...)
	}
	for _, decision := range e.Decisions {
		decision.write(b)
	}
	b.WriteString("))\n\n")
}

// write writes the choices for a column of a key as a comment, as none of them is certain.
func (d *Decision) write(b *strings.Builder) {
	b.WriteString("\n")
	comment(b, "\t", "Decide: %s. As declared here, a change is Invalid.", d.question())
	for _, says := range d.Says {
		comment(b, "\t", "  - %s", says)
	}
	for _, o := range d.Options {
		comment(b, "\t", "%s, // %s", o.Go, o.Costs)
	}
}

func tableText(t declare.Table) string {
	var b strings.Builder
	b.WriteString("tables.Table{")
	if t.Keyspace != "" {
		fmt.Fprintf(&b, "Keyspace: %q, ", t.Keyspace)
	}
	fmt.Fprintf(&b, "Name: %q", t.Name)
	list := func(name string, values []string) {
		if values != nil {
			fmt.Fprintf(&b, ", %s: []string{%s}", name, strings.Join(each.Of(values, strconv.Quote), ", "))
		}
	}
	list("PartKey", t.PartKey)
	list("SortKey", t.SortKey)
	list("Columns", t.Columns)
	return b.String() + "}"
}

func share(n, of int) string { return fmt.Sprintf("%d of %d rows that were read", n, of) }

// main is the program that has the commands for the sets of a package.
func mainText(name, imported string) ([]byte, error) {
	alias := name
	if slices.Contains(strings.Fields("command err fmt init main nil os"), name) { // it has another meaning there
		alias += "sets"
	}
	return format.Source([]byte(fmt.Sprintf(`// Command denorm has the commands of denorm for the sets of package %[1]s. Or mount the command in your service's binary.
package main

import (
	"fmt"
	"os"

	"%[3]s/cmd/denorm/command"

	%[4]s %[2]q
)

func main() {
	err := command.New(command.Declared(%[4]s.Schema)).Execute()
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "denorm:", err)
	}
	os.Exit(command.ExitCode(err))
}
`, name, imported, module, alias)))
}

// code is text of others as code of Markdown, whatever backquotes are in it.
func code(text string) string {
	text = printable.Line(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	fence := "``"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + " " + text + " " + fence
}

var (
	// marks are what Markdown obeys wherever it is.
	marks = strings.NewReplacer("\\", "\\\\", "`", "\\`", "&", "\\&", "[", "\\[", "]", "\\]", "*", "\\*", "~", "\\~", "://", "\\://", "www.", "www\\.")
	// edges matches the underscores that are not within a word, where they are obeyed.
	edges = regexp.MustCompile(`_+\W+_*|\W_+|^_+|_+$`)
	// inType matches what follows < in a type of CQL up to the next <, and in no tag of HTML.
	inType = regexp.MustCompile(`^\w+(,|$)`)
)

// prose is text of others in a line of Markdown, outside of code.
func prose(text string) string {
	text = marks.Replace(printable.Line(text))
	text = edges.ReplaceAllStringFunc(text, func(at string) string { return strings.ReplaceAll(at, "_", `\_`) })
	parts := strings.Split(text, "<")
	for i, part := range parts[1:] {
		if !inType.MatchString(part) {
			parts[i] += `\`
		}
	}
	return strings.Join(parts, "<")
}

// steps is the file that says what is left to do.
func (p *Plan) steps(folder, name string, hosts []string) string {
	if len(hosts) == 0 {
		hosts = []string{"HOST"}
	}
	var b strings.Builder
	names := each.Of(p.Entities, func(e *Entity) string { return "`" + e.variable + "`" })
	b.WriteString("# Adopt the tables\n\nWritten by `denorm init` for the sets " + strings.Join(names, ", ") +
		". Each step is explained in docs/adopt.md of denorm. In a shell, in the folder of go.mod:\n\n```sh\n")
	keyspace := ""
	if slices.ContainsFunc(p.Entities, func(e *Entity) bool { return e.Tables[0].Keyspace == "" }) {
		keyspace = " --keyspace KEYSPACE"
	}
	fmt.Fprintf(&b, "go mod tidy\ndenorm() { go build -o adopt-denorm ./%s/denorm && ./adopt-denorm \"$@\" --hosts %s%s; }\n```\n\n",
		folder, strings.Join(hosts, ","), keyspace)
	b.WriteString("## 1. Correct the declaration\n\nRead `sets.go`: what is a guess has a comment.\n\n")
	for _, e := range p.Entities {
		for _, d := range e.Decisions {
			fmt.Fprintf(&b, "- [ ] `%s`: %s.\n", e.variable, d.question())
		}
		for _, column := range e.declaration.ReadOnly {
			fmt.Fprintf(&b, "- [ ] `%s`: list `%s` is %s.\n", e.variable, column, readOnly)
		}
		for _, l := range p.leftOf(e) {
			fmt.Fprintf(&b, "- [ ] %s, column %s is not declared: %s.\n", code(l.Table), code(l.Column), prose(l.Why))
		}
	}
	b.WriteString("\n## 2. Add the columns\n\n`migrate.cql` has what the sets need as they were written. After a change of `sets.go`:\n\n```sh\n" +
		"denorm ddl --migrate > " + folder + "/migrate.cql # read it\n" +
		"denorm apply " + folder + "/migrate.cql\n```\n\n")
	fmt.Fprintf(&b, "## 3. Deploy\n\nReplace the statements that write these tables by writes of package %s, in every process:\n\n", name)
	for _, e := range p.Entities {
		for i, t := range e.Tables {
			replaced, patched, kept := p.statements(e, i)
			fmt.Fprintf(&b, "- [ ] `%s` by `%s`%s\n", t.Name, e.variable, replaced)
			if patched != "" {
				fmt.Fprintf(&b, "- [ ] `%s` by `%s.Patch`, which writes single elements, if no key column can change%s\n", t.Name, e.variable, patched)
			}
			if kept != "" {
				fmt.Fprintf(&b, "- [ ] `%s` keeps statements that set only what is not declared, or ReadOnly%s\n", t.Name, kept)
			}
		}
		timed := func(q schema.Query) bool { return q.Timestamped && e.index(q.Table) >= 0 }
		if e.Sample != nil && len(e.Sample.Units) > 0 || slices.ContainsFunc(p.schema.Queries, timed) {
			fmt.Fprintf(&b, "- [ ] `%s` may have write times that are not in microseconds. Then end what writes it by hand before you deploy.\n", e.variable)
		}
	}
	b.WriteString("\n## 4. Note when the last process that wrote by hand has ended\n\n```sh\nWRITERS=$(date -u +%FT%TZ)\n```\n\n## 5. Adopt and verify\n\n" +
		"Of each set: a dry run, the run, and a comparison.\n\n```sh\n")
	for _, e := range p.Entities {
		if e.set.Counts {
			fmt.Fprintf(&b, "# %s counts, and is not adopted\n", e.Name)
			continue
		}
		for _, column := range e.declaration.ReadOnly {
			fmt.Fprintf(&b, "# once sets.go has a frozen column for %[1]s, with: --copy %[1]s=COLUMN\n", column)
		}
		fmt.Fprintf(&b, "denorm adopt %[1]s --writers $WRITERS --dry-run\ndenorm adopt %[1]s --writers $WRITERS --removed removed-%[1]s.jsonl\ndenorm verify %[1]s\n", e.Name)
	}
	b.WriteString("```\n\nThen remove `tables.UnstampedRows` where a set has it, deploy, and verify again.\n")
	return b.String()
}

// statements says where a table is written: by what the set replaces, of that single elements by a Patch, and by what
// sets only columns that it does not write.
func (p *Plan) statements(e *Entity, table int) (replaced, patched, kept string) {
	t, columns := e.Tables[table], e.set.Names(e.set.Tables[table].Columns)
	written := func(name string) bool { return slices.Contains(columns, name) }
	for _, q := range p.schema.Queries {
		if q.Table != t.ID || q.Verb == "SELECT" || q.At.Line == 0 {
			continue
		}
		to, set := &replaced, slices.DeleteFunc(slices.Clone(q.Columns), func(name string) bool { return inKey(t.Table, name) })
		row := q.Verb == "INSERT" && len(q.Columns)-len(set) == len(keyOf(t.Table)) // not static columns alone
		if len(set) > 0 && !row && !slices.ContainsFunc(set, written) {
			to = &kept
		} else if elements(&q, t.Table) && !slices.ContainsFunc(e.set.Columns, func(c layout.Column) bool { return c.Key && slices.Contains(set, c.Name) }) {
			to = &patched
		}
		*to += fmt.Sprintf("%s %s:%d", map[bool]string{true: ":", false: ","}[*to == ""], prose(q.At.File), q.At.Line)
	}
	return replaced, patched, kept
}

// elements says whether a statement without a condition writes elements of a map or set.
func elements(q *schema.Query, t *schema.Table) bool {
	var of []string
	switch s := q.Statement.(type) {
	case *ast.Update:
		for _, a := range s.Set {
			if a.Target.Key != nil || a.Operator != ast.Assign {
				of = append(of, a.Target.Column)
			}
		}
	case *ast.Delete:
		of = each.Of(s.Columns, func(c ast.Target) string { return c.Column })
	}
	return !q.Conditional && slices.ContainsFunc(of, func(name string) bool {
		c := t.Column(name)
		return c != nil && (strings.HasPrefix(c.Type, "map<") || strings.HasPrefix(c.Type, "set<"))
	})
}

package anyschema

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// hostile are pieces of names and texts that Cassandra takes between quotes, and that mean something to whoever reads
// the CQL or looks at it.
var hostile = []string{
	"\nDROP KEYSPACE ks;--", "\rDROP KEYSPACE ks;\r", "\r\nDROP TABLE ks.table_0;\n--", "\u2028DROP KEYSPACE ks;--",
	"\u2029DROP KEYSPACE ks;",
	"\u0085DROP KEYSPACE ks;--", "\v\f\x1c\x1d\x1eDROP KEYSPACE ks;", `"; DROP KEYSPACE ks; --`,
	`""; DROP KEYSPACE ks; --`, "'; DROP KEYSPACE ks; --",
	"''); DROP KEYSPACE ks; --", "$$; DROP KEYSPACE ks; --$$", "/* ", " */ DROP KEYSPACE ks; --",
	"/*/ DROP KEYSPACE ks; /*/", "\ndenorm:ignore * * hidden",
	"\n-- denorm:ignore * * hidden", "\x1b]0;title\x07", "\x1b[2J\x1b[31m", "\u009b2J", "\x00", "\x7f", "\u202egnp.exe",
	"\ufffe", "\t", `\`, "];", "<!-- ", "]]>", "&amp;",
	"a(b)", "values(x)", "größe 日本",
}

// HostileText makes up a name or a text of someone who means harm. n makes it different from others.
func HostileText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(pick(r, hostile))
	}
	return fmt.Sprintf("%s%d", b.String(), n)
}

// Hostile gives a copy of a schema in a keyspace with more in it: columns, fields, comments, indexes, types, tables and
// views named and written by someone who means harm. Some of what is there has another name.
func Hostile(r *rand.Rand, keyspace string, s *schema.Schema) *schema.Schema {
	out := parsed(s.CQL())
	n := 0
	text := func() string { n++; return HostileText(r, n) }
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	for i := range out.Tables {
		t := &out.Tables[i]
		if r.IntN(2) == 0 { // the live table calls a key column otherwise
			t.Columns[0].Name = text()
		}
		c := schema.Column{Name: text(), Type: pick(r, natives), Kind: schema.Regular}
		t.Columns = append(t.Columns, c)
		if r.IntN(2) == 0 {
			t.Options["comment"] = "'" + strings.ReplaceAll(text(), "'", "''") + "'"
		}
		x := schema.Index{ID: schema.ID{Keyspace: keyspace, Name: text()}, Table: t.Name, Target: quote(c.Name)}
		if r.IntN(2) == 0 {
			x.Class = text()
		}
		out.Indexes = append(out.Indexes, x)
		view := schema.View{
			ID: schema.ID{Keyspace: keyspace, Name: text()}, Base: t.Name, Where: quote(c.Name) + " IS NOT NULL",
			Columns: []schema.Column{{Name: c.Name, Type: c.Type, Kind: schema.PartitionKey}},
		}
		out.Views = append(out.Views, view)
	}
	for i := range out.Types {
		t := &out.Types[i]
		t.Fields = append(append([]schema.Field(nil), t.Fields...), schema.Field{Name: text(), Type: "int"})
		if r.IntN(2) == 0 {
			t.Fields[0].Name = text()
		}
	}
	typ := schema.Type{
		ID:     schema.ID{Keyspace: keyspace, Name: text()},
		Fields: []schema.Field{{Name: text(), Type: "int"}},
	}
	out.Types = append(out.Types, typ)
	out.Tables = append(out.Tables, schema.Table{
		ID: schema.ID{Keyspace: keyspace, Name: text()}, Options: map[string]string{},
		Columns: []schema.Column{
			{Name: text(), Type: "uuid", Kind: schema.PartitionKey}, {
				Name: text(), Type: "frozen<" + quote(typ.Name) + ">",
				Kind: schema.Regular,
			},
		},
	})
	return out
}

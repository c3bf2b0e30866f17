package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/schema"
)

// words are those that a name consists of, in lower case: of order_id and orderId, order and id.
func words(name string) []string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool { return c == '_' })
}

func lastWord(name string) string {
	if all := words(name); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// keyColumns are those of the primary key.
func keyColumns(t *schema.Table) []schema.Column {
	return slices.Concat(t.Of(schema.PartitionKey), t.Of(schema.Clustering))
}

// redundant reports clustering columns behind one that is unique: the order that they seem to give is none.
func redundant(r *review) {
	for _, t := range r.tables() {
		thing, _, _ := strings.Cut(t.Name, "_by_")
		clustering := t.Of(schema.Clustering)
		if slices.ContainsFunc(r.entities, func(e family) bool { return !e.guessed && slices.Contains(e.Tables[1:], t.ID) }) {
			continue // its key has to have that of the entity
		}
		for i, c := range clustering {
			unique := (c.Type == "uuid" || c.Type == "timeuuid") && c.Name == singular(lastWord(thing))+"_id"
			if unique && i < len(clustering)-1 {
				rest := strings.Join(names(clustering[i+1:]), ", ")
				r.finding(t, "put "+rest+" before it, if rows are wanted in that order, or take it out of the key",
					"%s is behind %s in the key, which is unique already", rest, c.Name).Column = clustering[i+1].Name
				break
			}
		}
	}
}

// twoTypes reports columns that have one type in a table of an entity, and another type in most others.
func twoTypes(r *review) {
	for i := range r.entities {
		e := &r.entities[i]
		first := make(map[string]schema.ID) // the table that has a column of a type first, by name and type
		of := make(map[string]map[string]int)
		for _, t := range e.tables {
			for _, c := range t.Columns {
				name, kind := e.common(t, c.Name), plainType(c)
				if of[name] == nil {
					of[name] = make(map[string]int)
				}
				if of[name][kind]++; of[name][kind] == 1 {
					first[name+" "+kind] = t.ID
				}
			}
		}
		for _, t := range e.tables {
			for _, c := range t.Columns {
				name := e.common(t, c.Name)
				usual := plainType(c)
				for kind, n := range of[name] {
					before := slices.IndexFunc(e.tables, func(o *schema.Table) bool { return o.ID == first[name+" "+kind] }) <
						slices.IndexFunc(e.tables, func(o *schema.Table) bool { return o.ID == first[name+" "+usual] })
					if n > of[name][usual] || n == of[name][usual] && before {
						usual = kind
					}
				}
				if usual != plainType(c) {
					r.finding(t, "one type in all tables of the entity", "%s is a %s here, and a %s in %s", c.Name, c.Type, usual, first[name+" "+usual]).Column = c.Name
				}
			}
		}
	}
}

// common is the name of a column in most tables of the entity: the id of its own table is x_id elsewhere.
func (e *family) common(t *schema.Table, name string) string {
	if called := e.called(t, name); name == "id" && len(called) > 1 && e.guessed {
		return called[1]
	}
	return name
}

// plainType is the type of a column, frozen or not.
func plainType(c schema.Column) string {
	if name, frozen, _ := cql.TypeParts(c.Type); frozen {
		return strings.TrimSuffix(strings.TrimPrefix(c.Type, "frozen<"), ">")
	} else if name == "varchar" {
		return "text"
	}
	return c.Type
}

// collectionInKey reports keys that are equal only if all elements of a collection are.
func collectionInKey(r *review) {
	for _, t := range r.tables() {
		for _, c := range keyColumns(t) {
			if name, _, args := cql.TypeParts(strings.TrimSuffix(strings.TrimPrefix(c.Type, "frozen<"), ">")); len(args) > 0 &&
				slices.Contains([]string{"list", "set", "map"}, name) {
				r.finding(t, "a table with a row for each element", "%s in the key is a %s: a row is found only by all of its elements", c.Name, name).Column = c.Name
			}
		}
	}
}

// timeAsText reports times in keys that are kept as text, whose order is that of their digits. A day or an hour as text is a bucket.
func timeAsText(r *review) {
	for _, t := range r.tables() {
		for _, c := range keyColumns(t) {
			if (c.Type == "text" || c.Type == "ascii") && slices.Contains(strings.Fields("at time ts timestamp datetime"), lastWord(c.Name)) {
				r.finding(t, "timestamp, or timeuuid", "%s in the key is a time as text: rows are in the order of its characters", c.Name).Column = c.Name
			}
		}
	}
}

// amountNames are words in the names of columns that hold money. Those of quantities as well have to be the whole name, or its end behind one of
// the others.
var (
	amountNames   = strings.Fields("price prices fee fees cost costs salary wage vat tax discount subtotal revenue payment postage fare deduction")
	quantityNames = strings.Fields("amount amounts amt amts balance total")
)

// money says whether a column holds money, by its name.
func money(name string) bool {
	all := words(name)
	if slices.ContainsFunc(all, func(w string) bool { return slices.Contains(amountNames, w) }) {
		return true
	}
	of := strings.Fields("paid due order net gross account wallet invoice grand")
	return slices.Contains(quantityNames, lastWord(name)) && (len(all) == 1 || slices.ContainsFunc(all, func(w string) bool { return slices.Contains(of, w) }))
}

// impreciseAmount reports money in a binary fraction.
func impreciseAmount(r *review) {
	for _, t := range r.tables() {
		for _, c := range t.Columns {
			_, _, args := cql.TypeParts(strings.TrimSuffix(strings.TrimPrefix(c.Type, "frozen<"), ">"))
			last := append([]string{c.Type}, args...)[len(args)] // the values of a map
			if money(c.Name) && (last == "double" || last == "float") {
				r.finding(t, "decimal, or a bigint of the smallest unit", "%s is a %s, which does not hold most amounts exactly", c.Name, last).Column = c.Name
				break
			}
		}
	}
}

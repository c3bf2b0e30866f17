package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/guess"
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
	split := strings.ReplaceAll(strings.ToLower(b.String()), "user_name", "username")
	if !oneID.MatchString(split) {
		split = folded.ReplaceAllString(split, "$1$3$5$7${9}_$2$4$6$8${10}")
	}
	return strings.FieldsFunc(split, func(c rune) bool { return c == '_' })
}

// folded matches what was written as createdAt, roleId or fullName, if it is no word that ends with id: without quotes,
// Cassandra keeps small letters.
var (
	folded = regexp.MustCompile(`(ed|expires|starts|ends)(at)$|([a-z]{2,}?)(uuid|guid|id)$|(full|first|last|customer|guest|category|author|sender|product)(name)$|` +
		`(start|end|create|created|update|updated|event|last|post|order|booking|payment|expiry|expiration|delivery)(time|date)$|` +
		`(order|payment|booking|account|total|unit|item|view|like|shown|stock|sold|current|available|sale|final)(count|amount|status|price|cost|balance|quantity)$`)
	oneID = regexp.MustCompile(`(valid|paid|grid|(and|thy|ste|aste|pola)roid|tabloid|(^|_)(uuid|guid|ssid|void|avoid|said|raid|solid|rapid|liquid|fluid|hybrid|` +
		`bid|forbid|covid|amid|acid|orchid|humid|vivid|squid|pyramid|lipid|plasmid|arachnid|candid|druid|kid|lucid|plaid|splendid|stupid|timid|rigid|frigid|morbid|horrid))$`)
)

// hasWord says whether one of the words of a name is in a list.
func hasWord(name string, list []string) bool {
	return slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(list, w) })
}

func lastWord(name string) string {
	if all := words(name); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// keyColumns are those of the primary key.
func keyColumns(t *schema.Table) []schema.Column { return t.Of(schema.PartitionKey, schema.Clustering) }

// redundant reports clustering columns behind the id of the row, if there is one row an id: they give no order.
func redundant(r *review, t *schema.Table) {
	if slices.ContainsFunc(r.entities, func(e family) bool { return !e.guessed && slices.Contains(e.Tables[1:], t.ID) }) {
		return // its key has to have that of the entity
	}
	thing, _, _ := guess.Cut(t.Name)
	clustering := t.Of(schema.Clustering)
	for i, c := range clustering[:max(0, len(clustering)-1)] {
		next := clustering[i+1]
		named := c.Name == "id" || c.Name == guess.Singular(lastWord(thing))+"_id"
		if !named && (c.Type == "timeuuid" || i == 0 && sequence(c) && slices.Contains(sequenceNames, c.Name)) && clock(next) {
			r.finding(t, next.Name+" out of the key, in a new table", "%s is in the key behind %s, which is unique%s", next.Name,
				c.Name, map[bool]string{true: " and has a time"}[c.Type == "timeuuid"]).as(Note).Column = next.Name
		}
		of := c.Name == "id" || instant(next) || next.Type == "uuid" || slices.Contains(strings.Fields("id no nr"), lastWord(next.Name))
		if named && isUUID(c) && of { // else it may be one of several
			rest := strings.Join(names(clustering[i+1:]), ", ")
			r.finding(t, "put "+rest+" before it, if rows are wanted in that order; if there is one row a "+c.Name+", it need not be in the key",
				"%s comes behind %s in the key: rows are in the order of %[2]s", rest, c.Name).Column = next.Name
			break
		}
	}
	if part := t.Of(schema.PartitionKey); attributed(t) {
		r.finding(t, "the id alone as the key, and "+clustering[0].Name+" outside of it", "%s is in the key behind %s, which is unique: where it changes, "+
			"the former row stays", clustering[0].Name, part[0].Name).Column = clustering[0].Name
	}
}

// attributed says whether a partition is of one thing, and its rows have an attribute of the thing in their key.
func attributed(t *schema.Table) bool {
	part, clustering := t.Of(schema.PartitionKey), t.Of(schema.Clustering)
	_, _, found := guess.Cut(t.Name)
	return len(part) == 1 && len(clustering) > 0 && isUUID(part[0]) && slices.Contains([]string{"id", rowsOf(t) + "_id", rowsOf(t) + "_uuid"}, part[0].Name) &&
		slices.Contains(attributeNames, lastWord(clustering[0].Name)) && !found
}

// attributeNames are words in the names of what a thing has one of, and what may change.
var attributeNames = strings.Fields("name email username title status state phone price role link hash slug")

// twoTypes reports columns that have one type in a table of an entity, and another type in most others. That tables are
// of one entity may be guessed from their names: then it is a warning, and sums and what may be derived do not count.
func twoTypes(r *review) {
	for i := range r.entities {
		e := &r.entities[i]
		kinds := make(map[string][]string) // of each column, in the order of the tables
		each := func(yield func(*schema.Table, schema.Column, string)) {
			for _, t := range e.tables {
				if counting(t) || e.guessed && aggregates(t) {
					continue
				}
				for _, c := range t.Columns {
					if !e.guessed || roleOf(c) != moment {
						yield(t, c, e.common(t, c.Name))
					}
				}
			}
		}
		each(func(_ *schema.Table, c schema.Column, name string) { kinds[name] = append(kinds[name], plainType(c)) })
		most := mostOfEach(kinds)
		each(func(t *schema.Table, c schema.Column, name string) {
			usual := most[name]
			if plainType(c) == usual || e.guessed && (elementOf(usual, c) || elementOf(plainType(c), schema.Column{Type: usual})) ||
				!r.once([2]any{t.ID, c.Name}) {
				return
			}
			r.finding(t, "one type in all tables of the entity", "%s is a %s here, and a %s in other tables of entity %s", c.Name, c.Type, usual, e.Name).
				when(e.guessed, Warning).Column = c.Name
		})
	}
	r.idsOfTwoTypes()
	for _, b := range r.batches { // of several keyspaces, which is no entity by its names alone
		first := b[0].table
		for _, x := range b {
			t := x.table
			if t.Keyspace == first.Keyspace || !alike(first.Name, t.Name) || aggregates(t) || aggregates(first) {
				continue
			}
			for _, c := range t.Columns {
				if other := first.Column(c.Name); other != nil && plainType(*other) != plainType(c) {
					r.finding(t, "one type in all tables of the entity", "%s is a %s here, and a %s in %s, which the same batch writes", c.Name,
						c.Type, other.Type, first.ID).of(x.Query).as(Warning).Column = c.Name
				}
			}
		}
	}
}

// idsOfTwoTypes reports ids of one name and several types in tables of one keyspace that are of no entity together.
func (r *review) idsOfTwoTypes() {
	type name struct{ keyspace, column string }
	kinds, where := make(map[name][]string), make(map[name][]string)
	each := func(yield func(*schema.Table, schema.Column, name, string)) {
		for _, t := range r.tables() {
			for _, c := range t.Columns {
				called := c.Name
				if called == "id" && len(keyColumns(t)) == 1 { // of the thing that the table has
					called = rowsOf(t) + "_id"
				}
				if all := words(called); len(all) > 1 && all[len(all)-1] == "id" {
					yield(t, c, name{t.Keyspace, called}, strings.TrimPrefix(plainType(c), "time")) // a timeuuid is a uuid
				}
			}
		}
	}
	each(func(t *schema.Table, c schema.Column, n name, kind string) {
		kinds[n], where[n] = append(kinds[n], kind), append(where[n], t.String()+"."+c.Name)
	})
	most := mostOfEach(kinds)
	each(func(t *schema.Table, c schema.Column, n name, kind string) {
		usual := most[n]
		if kind == usual || !r.once([2]any{t.ID, c.Name}) {
			return
		}
		r.finding(t, "one type wherever the id is", "%s is a %s here, and a %s in %s", c.Name, c.Type, usual, where[n][slices.Index(kinds[n], usual)]).
			as(Warning).Column = c.Name
	})
}

// mostOfEach is the text that each has most often, of several the first.
func mostOfEach[K comparable](all map[K][]string) map[K]string {
	most := make(map[K]string, len(all))
	for k, texts := range all {
		count := make(map[string]int)
		for _, s := range texts {
			count[s]++
		}
		most[k] = slices.MaxFunc(texts, func(a, b string) int { return count[a] - count[b] })
	}
	return most
}

// elementOf says whether a type is that of the elements of a column, of which a table may have a row for each.
func elementOf(element string, c schema.Column) bool {
	_, _, args := ast.TypeParts(c.Type)
	return slices.Contains(args, element)
}

// common is the name of a column in most tables of the entity: the id of its own table is x_id elsewhere.
func (f *family) common(t *schema.Table, name string) string {
	if called := f.called(t, name); name == "id" && len(called) > 1 && f.guessed {
		return called[1]
	}
	return name
}

// plainType is the type of a column, frozen or not. A timeuuid is a uuid.
func plainType(c schema.Column) string {
	text := c.Type
	if _, frozen, _ := ast.TypeParts(text); frozen {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "frozen<"), ">")
	}
	if text == "timeuuid" {
		return "uuid"
	}
	return text
}

// timeAsText reports times in keys that are kept as text, whose order is that of their digits. A day or an hour as text
// is a bucket.
func timeAsText(r *review, t *schema.Table) {
	for _, c := range keyColumns(t) {
		if r.textOfTime(t, c) {
			r.finding(t, "timestamp, or timeuuid", "%s in the key is a time as text: rows are in the order of its characters",
				c.Name).Column = c.Name
		}
	}
	for _, c := range t.Of(schema.Regular) {
		what, kind := "a time", "timestamp"
		switch number := c.Type == "text" && slices.Contains(amountWords, lastWord(c.Name)); {
		case r.textOfTime(t, c):
		case c.Type == "text" && hasWord(c.Name, strings.Fields("date dob birthday birthdate")):
			kind = "date"
		case number:
			what, kind = "a number", "int, or decimal"
		default:
			continue
		}
		r.finding(t, kind, "%s is %s as text, which neither sorts nor computes as one", c.Name, what).as(Note).Column = c.Name
	}
}

// amountWords are words at the end of the names of numbers.
var amountWords = strings.Fields("count size quantity amount price total balance capacity year age weight height score")

// textOfTime says whether a text holds times, by its name or by a value in a query.
func (r *review) textOfTime(t *schema.Table, c schema.Column) bool {
	if c.Type != "text" && c.Type != "ascii" {
		return false
	}
	return slices.Contains(strings.Fields("at time ts timestamp datetime created modified updated atime ctime mtime"), lastWord(c.Name)) ||
		hasWord(c.Name, []string{"time"}) && slices.Contains([]string{"start", "end"}, lastWord(c.Name)) ||
		slices.ContainsFunc(r.sent[t], func(x sent) bool {
			return slices.ContainsFunc(valuesOf(x.Query, c.Name), func(v ast.Term) bool {
				return v.Kind == ast.String && timeText.MatchString(v.Text)
			})
		})
}

// timeText matches a day and a time of it, such as 2024-05-02T08:11 or 17.03.2024 10:15.
var timeText = regexp.MustCompile(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})[T ]\d{1,2}:\d{2}`)

// valuesOf are the values that a statement gives a column, or compares it with.
func valuesOf(q *schema.Query, column string) (out []ast.Term) {
	if s, ok := q.Statement.(*ast.Insert); ok {
		if i := slices.Index(s.Columns, column); i >= 0 && i < len(s.Values) {
			return s.Values[i : i+1]
		}
	}
	for _, w := range q.Where {
		if len(w.Columns) == 1 && w.Columns[0] == column {
			out = append(out, w.Values...)
		}
	}
	return out
}

// amountNames are words in the names of columns that hold money. Those of quantities as well have to be the whole name,
// or its end behind one of the others.
var (
	amountNames = strings.Fields("price prices fee fees cost costs salary wage vat tax discount subtotal revenue payment postage fare deduction " +
		"bid bids preis betrag saldo precio importe ganancia ingreso ingresos costo monto tarifa preco custo valor prix montant cout")
	quantityNames = strings.Fields("amount amounts amt amts balance total")
)

// money says whether a column holds money, by its name.
func money(name string) bool {
	all := words(name)
	done := strings.Fields("claimed settled charged billed invoiced refunded deposited withdrawn owed")
	switch {
	case hasWord(name, strings.Fields("rate pct percent ratio factor change score probability index")):
		return false
	case hasWord(name, amountNames), len(all) == 2 && all[0] == "amount" && slices.Contains(done, all[1]):
		return true
	}
	return slices.Contains(quantityNames, lastWord(name)) &&
		(len(all) == 1 || hasWord(name, strings.Fields("paid due order net gross account wallet invoice grand trans tran transaction transfer sale bill refund")))
}

// impreciseAmount reports money in a binary fraction.
func impreciseAmount(r *review, t *schema.Table) {
	for _, c := range t.Columns {
		_, _, args := ast.TypeParts(c.Type)
		last := append([]string{c.Type}, args...)[len(args)] // the values of a map
		sum := hasWord(c.Name, quantityNames) &&
			slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.Type == "decimal" })
		if (money(c.Name) || sum) && (last == "double" || last == "float") {
			r.finding(t, "decimal, or a bigint of the smallest unit", "%s is a %s, which does not hold most amounts exactly", c.Name, last).Column = c.Name
			break
		}
	}
}

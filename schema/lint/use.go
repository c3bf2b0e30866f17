package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// This file has the rules on what several statements together do to a table.

// wholePartition notes reads of partitions that grow forever, or have all rows of a time, to their last row.
func wholePartition(r *review) {
	reasons := make(map[*schema.Table]string)
	for t := range r.sent {
		n := rolesOf(t)
		kinds := n[few] == len(partOf(t)) && len(t.Of(schema.Clustering)) > 0 && !reference(t)
		if _, reasons[t] = r.endless(t); reasons[t] == "" && (momentary(t, n) || kinds) {
			reasons[t] = "has all rows of one " + key(t)
		}
	}
	for _, x := range r.statements {
		r.readWhole(x, reasons[x.table])
	}
}

// readWhole notes that a statement reads a partition that grows forever, for the reason, or counts its rows, or reads
// vectors for the client to compare.
func (r *review) readWhole(x sent, reason string) {
	s, ok := x.Statement.(*ast.Select)
	if !ok || s.Limit != nil || s.PerLimit != nil || s.Distinct || ofRow(x.Query, x.table) {
		return
	}
	i := slices.IndexFunc(x.table.Columns, func(c schema.Column) bool {
		return strings.HasPrefix(c.Type, "vector<") && (s.Columns == nil || slices.Contains(x.Columns, c.Name))
	})
	if i >= 0 && !r.asks(x.table, func(q *schema.Query) bool { return nearest(q) != "" }) && r.once(x.table.ID) {
		name := x.table.Columns[i].Name
		r.finding(x.table, "an index of "+name+" USING 'sai', and ORDER BY "+name+" ANN OF ? LIMIT ?",
			"a query reads many vectors, and none is by ANN: the client compares all of them").of(x.Query).Column = name
	}
	if !located(x.Query, x.table) {
		return
	}
	counts := slices.ContainsFunc(s.Columns, func(c ast.Selector) bool { return c.Kind == ast.Call && c.Text == "count" })
	switch {
	case r.told[x.table.ID]:
	case reason != "" && whole(x.Query, x.table, ">", ">="):
		r.once(x.table.ID)
		r.finding(x.table, "LIMIT, or a range of the clustering columns with both ends", "a query without LIMIT reads a partition, which %s", reason).of(x.Query)
	case counts && len(x.table.Of(schema.Clustering)) > 0:
		r.once(x.table.ID)
		r.finding(x.table, "a counter, or a number that is written with the rows", "a query counts the rows of a partition, for which all are read").of(x.Query)
	}
}

// broughtBack notes plain UPDATEs of tables whose rows are deleted: an UPDATE after the DELETE makes a row of its
// columns alone.
func broughtBack(r *review) {
	deleted := make(map[*schema.Table]bool)
	for _, x := range r.statements {
		if s, ok := x.Statement.(*ast.Delete); ok && len(s.Columns) == 0 && !x.Transaction {
			deleted[x.table] = true
		}
	}
	for _, x := range r.statements {
		s, ok := x.Statement.(*ast.Update)
		t := x.table
		if !ok || !deleted[t] || s.IfExists || len(s.If) > 0 || x.Transaction || counting(t) {
			continue
		}
		makes := "a row that has " + s.Set[0].Target.Column + " alone"
		if len(s.Set) >= len(t.Of(schema.Regular)) {
			makes = "the row again"
		}
		if (makes != "the row again" || r.query(t, "INSERT") != nil) && r.once(t.ID) {
			r.finding(t, "IF EXISTS, if all writes of the table are conditional; or readers that take a row without its other columns for none",
				"rows are deleted and updated: an UPDATE after the DELETE makes %s", makes).of(x.Query)
		}
	}
}

// countNames are words in the names of numbers that are counted by reading them first, doneNames those of what can be
// done once.
var (
	countNames = strings.Fields(`count attempt quantity stock instock available reserved needed remaining balance point score karma credit
		counter max min highest lowest best seq sequence version epoch like dislike view vote download play follower
		collected raised donated win loss streak saldo`)
	doneNames  = strings.Fields("used consumed claimed redeemed taken booked spent sold voted votado")
	stateNames = strings.Fields("status state owner assignee holder assigned")
	// newest matches the names of tables that have the latest of each thing.
	newest = regexp.MustCompile(`(^|_)(latest|last|current)(_(event|reading|position|location|status|state|value|price|measurement|metric|seen)s?)?(_(by|of|for)_.*)?$`)
	// documentNames are words for what is read, changed and written as a whole.
	documentNames = strings.Fields("json document doc xml yaml payload")
	// goneNames are words in the names of tables of what is no longer in use.
	goneNames = strings.Fields("trash archive archived deleted backup old")
)

// counted says whether a number is counted by reading it first, by its name.
func counted(name string) bool {
	return !slices.Contains(strings.Fields("at time id date type"), lastWord(name)) &&
		slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(countNames, guess.Singular(w)) })
}

// lostUpdate notes values that depend on what was read, and are set without a condition.
func lostUpdate(r *review) {
	rewritten := make(map[*schema.Table]map[string]bool)
	for t := range r.sent {
		rewritten[t] = r.rewritten(t)
	}
	for _, x := range r.statements {
		r.setBlindly(x, rewritten[x.table])
	}
}

// setBlindly notes that a statement sets such a value. An INSERT does so for columns that are rewritten.
func (r *review) setBlindly(x sent, rewritten map[string]bool) {
	s, ok := x.Statement.(*ast.Update)
	if insert, is := x.Statement.(*ast.Insert); is {
		s, ok = &ast.Update{}, true
		for i, c := range insert.Columns[:min(len(insert.Columns), len(insert.Values))] {
			if rewritten[c] {
				s.Set = append(s.Set, ast.Assignment{Target: ast.Target{Column: c}, Operator: ast.Assign, Value: insert.Values[i]})
			}
		}
	}
	several := func(c schema.Column) bool { return instant(c) || c.Kind == schema.Clustering && anyID(c) }
	if t := x.table; newest.MatchString(t.Name) && slices.ContainsFunc(t.Of(schema.Regular), instant) && !slices.ContainsFunc(keyColumns(t), several) &&
		!x.Timestamped && !x.Conditional && x.Verb != "DELETE" && x.Verb != "SELECT" && r.once(t.ID) {
		r.finding(t, "USING TIMESTAMP with the time of what it is; or IF that is later than what is there", "what is written last is the latest, "+
			"even if it is older than what it replaces").of(x.Query)
	}
	if !ok || x.Conditional && (!s.IfExists || len(s.If) > 0) || x.Transaction || r.query(x.table, "SELECT") == nil {
		return
	}
	_, fixed := partitionOf(x.Query, x.table)
	for _, a := range s.Set[:min(len(s.Set), 20)] {
		c := x.table.Column(a.Target.Column)
		if c == nil || c.Kind != schema.Regular || a.Operator != ast.Assign || a.Target.Key != nil || a.Target.Field != "" {
			continue
		}
		all := words(c.Name)
		_, _, args := ast.TypeParts(c.Type)
		last := append([]string{c.Type}, args...)[len(args)] // the values of a map
		whole := slices.Contains(strings.Fields("tinyint smallint int bigint varint"), last)
		extreme := slices.Contains(numberTypes, last) && hasWord(c.Name, strings.Fields("max min avg average balance paid collected raised donated"))
		number := a.Value.Kind == ast.Mark && (extreme || whole && (counted(c.Name) || len(all) > 1 && all[0] == "total" || fixed))
		mark := c.Type == "boolean" && hasWord(c.Name, doneNames) && strings.EqualFold(a.Value.Text, "true")
		state := hasWord(c.Name, slices.Concat(stateNames, documentNames)) && !slices.Contains(all, "at")
		if x.Verb == "INSERT" {
			state = hasWord(c.Name, stateNames[:2]) && a.Value.Kind == ast.Mark && !slices.Contains(all, "at")
		}
		if (number || mark || state) && r.once(x.table.ID) {
			r.finding(x.table, "IF "+c.Name+" = what was read, in all writes of it; or a counter, or a row for each change",
				"two clients that read %s at the same time both set it: one of the changes is lost", c.Name).of(x.Query).Column = c.Name
			break
		}
	}
}

// notRepeatable notes writes that do their work again when they are repeated after a timeout.
func notRepeatable(r *review, x sent) {
	t, why := x.table, ""
	switch s := x.Statement.(type) {
	case *ast.Update:
		if counting(t) {
			why = "counts twice"
		}
	case *ast.Insert:
		for i, c := range s.Columns[:min(len(s.Columns), len(s.Values))] {
			if inKey(t, c) && s.Values[i].Generated() {
				why = "inserts a second row"
			}
		}
	}
	if why != "" && r.once(t.ID) {
		r.finding(t, "a key that the client makes, once for all attempts; rows that are counted, where a number must be right",
			"a write that is repeated after a timeout %s", why).of(x.Query)
	}
}

// copiedNames are words in the names of columns that people change, and that are copied to show them.
var copiedNames = strings.Fields("name username title avatar picture pic photo email phone address")

// leftBehind notes rows that are found by what changes in the base table, and are not deleted under its former value.
func (r *review) leftBehind(told map[*schema.Table]bool) {
	for e, t := range r.members {
		if !e.guessed || e.base < 0 || e.tables[e.base] == t || !r.written(t) || r.query(t, "DELETE") != nil {
			continue
		}
		base := e.tables[e.base]
		for _, x := range r.sent[base] {
			update, ok := x.Statement.(*ast.Update)
			if !ok {
				continue
			}
			i := slices.IndexFunc(update.Set, func(a ast.Assignment) bool {
				c := base.Column(a.Target.Column)
				return c != nil && c.Kind == schema.Regular && inKey(t, c.Name)
			})
			if i >= 0 {
				name := update.Set[i].Target.Column
				r.finding(t, "a DELETE of the row under the former value, in one batch with the new one", "%s is in the key, and changes in %s: no statement "+
					"deletes the row under the former value", name, base.ID).of(x.Query).Column = name
				told[t] = true
				break
			}
		}
	}
}

// latestKey matches the names of times that a thing has one of, and that change, and rankNames are words for numbers of that kind.
var (
	latestKey = regexp.MustCompile(`(?i)^(last|latest)|updated_?(at|time)?$|modified_?(at|time)?$|activity_?(at|time)$`)
	rankNames = strings.Fields("score points rank likes votes views count popularity balance karma")
)

// moving notes states in keys, with which the row has to move.
func (r *review) moving(t *schema.Table) {
	if firstOf(append([]string{"history"}, growingNames...), words(t.Name)...) != "" {
		return // it is what was then
	}
	address := slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return hasWord(c.Name, strings.Fields("city zip zipcode country")) })
	for _, c := range keyColumns(t) {
		both := func(b batch) bool {
			has := func(verb string) bool {
				return slices.ContainsFunc(b, func(x sent) bool { return x.table == t && x.Verb == verb })
			}
			return has("INSERT") && has("DELETE")
		}
		last := lastWord(c.Name)
		behind := c.Kind == schema.Clustering && len(t.Of(schema.Clustering)) > 1 // else it is a series
		latest := behind && latestKey.MatchString(c.Name) && instant(c)
		ranked := behind && slices.Contains(numberTypes, c.Type) && slices.Contains(rankNames, last) && rolesOf(t)[moment] == 0
		if (last == "status" || last == "state" && !address || c.Type == "boolean" || latest || ranked) && r.written(t) && len(keyColumns(t)) > 1 && !slices.ContainsFunc(r.batches, both) {
			reason := "%s is in the key: where it changes, no statement moves the row"
			if r.query(t, "DELETE") != nil {
				reason = "%s is in the key: where it changes, no batch moves the row: the DELETE and the INSERT are apart"
			}
			r.finding(t, "a DELETE under the former value and an INSERT under the new one, in one batch", reason, c.Name).Column = c.Name
			return
		}
	}
}

// staleCopies notes columns of a thing that other tables have as well, and no statement updates there.
func staleCopies(r *review) {
	told := make(map[*schema.Table]bool)
	r.leftBehind(told)
	for _, t := range r.tables() {
		if !told[t] && !slices.ContainsFunc(r.schema.Entities, func(e schema.Entity) bool { return slices.Contains(e.Tables, t.ID) }) {
			r.moving(t)
		}
	}
	copied, have := make(map[*schema.Table][]schema.Column), make(map[schema.ID][]*schema.Table) // by a column
	for _, t := range r.tables() {
		if copied[t] = r.copied(t); len(copied[t]) == 0 || !r.written(t) {
			continue
		}
		for _, c := range t.Columns {
			column := schema.ID{Keyspace: t.Keyspace, Name: c.Name}
			have[column] = append(have[column], t)
		}
		i := slices.IndexFunc(copied[t], func(c schema.Column) bool { return ofPerson(t, c) })
		if i >= 0 && !told[t] && r.query(t, "INSERT") != nil {
			told[t] = true
			name := copied[t][i].Name
			r.finding(t, "statements that update all copies; or read it by the id", "%s is a copy of what the person with the "+
				"id can change, and no statement updates it", name).Column = name
		}
	}
	together := r.together()
	for _, base := range r.tables() {
		key := keyColumns(base)
		if len(key) == 0 || len(key) > 2 {
			continue
		}
		id := key[len(key)-1].Name // it may stand behind a tenant
		if id == "id" {
			id = rowsOf(base) + "_id"
		}
		if lastWord(id) != "id" || len(key) == 2 && id != rowsOf(base)+"_id" {
			continue
		}
		for _, t := range have[schema.ID{Keyspace: base.Keyspace, Name: id}] {
			if t == base || told[t] || len(key) == 2 && rowsOf(t) == rowsOf(base) { // DN510 tells of these
				continue
			}
			i := slices.IndexFunc(copied[t], func(c schema.Column) bool {
				of := base.Column(c.Name)
				if short, prefixed := strings.CutPrefix(c.Name, strings.TrimSuffix(id, "id")); prefixed {
					of = cmp.Or(of, base.Column(short))
				} else if ownWords := strings.Fields("name title"); slices.Contains(ownWords, c.Name) && rowsOf(t) != rowsOf(base) {
					of = nil // the row has one of its own
				}
				return of != nil && of.Kind == schema.Regular
			})
			if i >= 0 && !together(t, base) {
				name := copied[t][i].Name
				told[t] = true
				r.finding(t, "statements that update all copies; or read it from "+base.String(), "%s is a copy of the column in %s, and no statement updates it",
					name, base.ID).Column = name
			}
		}
	}
}

// ofPerson says whether a column is the name of a person whose id the table has in another column.
func ofPerson(t *schema.Table, c schema.Column) bool {
	all := strings.Fields(strings.Replace(strings.Join(words(c.Name), " "), "username", "user name", 1))
	past := firstOf(append([]string{"history"}, growingNames...), words(t.Name)...) != ""
	return len(all) == 2 && slices.Contains(personNouns, all[0]) && !rowsAre(t, accountNames) && !past && slices.ContainsFunc(t.Columns, func(id schema.Column) bool {
		return strings.Join(words(id.Name), "") == all[0]+"id" && (!inKey(t, id.Name) || len(keyColumns(t)) > 1) // else it is the person's own
	})
}

// copied gives the columns of a table that may be copies of those of another one, and that no statement updates.
func (r *review) copied(t *schema.Table) []schema.Column {
	list := slices.DeleteFunc(t.Of(schema.Regular), func(c schema.Column) bool { return !hasWord(c.Name, copiedNames) })
	if len(list) == 0 {
		return nil
	}
	updated := make(map[string]bool)
	for _, x := range r.sent[t] {
		if x.Verb == "UPDATE" {
			for _, w := range writes(x.Statement) {
				updated[w.column] = true
			}
		}
	}
	return slices.DeleteFunc(list, func(c schema.Column) bool { return updated[c.Name] })
}

// rewritten gives the columns that are read by the key of their row, which is inserted as a whole, and never updated. An
// INSERT is then the change as well. It is also where large rows are read and saved, as mappers do, for what changes in
// each row by its name.
func (r *review) rewritten(t *schema.Table) map[string]bool {
	out := make(map[string]bool)
	if r.query(t, "UPDATE") != nil || len(t.Columns) > mostColumns {
		return out
	}
	timed := func(c schema.Column) bool { return instant(c) || roleOf(c) == moment }
	for _, x := range r.sent[t] {
		s, ok := x.Statement.(*ast.Select)
		shows := ok && slices.ContainsFunc(s.Columns, func(c ast.Selector) bool { return c.Kind == ast.Column && inKey(t, c.Text) })
		if !ok || !ofRow(x.Query, t) {
			continue
		}
		wide := len(t.Columns) > 8 || s.Columns == nil && len(t.Columns) > 4 || shows // who gives back the key that he knows, shows the row
		for _, c := range t.Columns {
			runs := (counted(c.Name) || hasWord(c.Name, stateNames)) && !rowsAre(t, growingNames) &&
				!slices.ContainsFunc(keyColumns(t), timed)
			out[c.Name] = out[c.Name] || (runs || !wide) && (s.Columns == nil || slices.Contains(x.Columns, c.Name))
		}
	}
	return out
}

// ofRow says whether a query names one row.
func ofRow(q *schema.Query, t *schema.Table) bool {
	return !slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool { return !exact(q, c.Name) })
}

// deletesRow says whether a query deletes one row.
func deletesRow(q *schema.Query, t *schema.Table) bool {
	return q.Verb == "DELETE" && len(q.Columns) == len(keyColumns(t)) && ofRow(q, t)
}

// together gives what says whether the library writes two tables, or a batch does, and so changes the copies.
func (r *review) together() func(t, other *schema.Table) bool {
	by, n := make(map[*schema.Table]map[int]bool), 0 // the numbers of the entities and batches of a table
	add := func(t *schema.Table) {
		if by[t] == nil {
			by[t] = make(map[int]bool)
		}
		by[t][n] = true
	}
	for _, e := range r.entities {
		if n++; !e.guessed {
			for _, t := range e.tables {
				add(t)
			}
		}
	}
	for _, b := range r.batches {
		n++
		for _, x := range b {
			add(x.table)
		}
	}
	return func(t, other *schema.Table) bool {
		few, many := by[t], by[other]
		if len(few) > len(many) {
			few, many = many, few
		}
		for n := range few {
			if many[n] {
				return true
			}
		}
		return false
	}
}

// deleteWins notes batches that delete a row of a table and insert one: at one timestamp, the DELETE of the same row
// wins.
func deleteWins(r *review, b batch) {
	deletes := make(map[schema.ID]bool) // a row of a table
	for _, x := range b {
		if x.Verb == "DELETE" && len(x.Columns) == len(keyColumns(x.table)) && strings.Contains(x.Text, "?") {
			deletes[x.Table] = true
		}
	}
	for _, x := range b {
		if _, inserts := x.Statement.(*ast.Insert); inserts && deletes[x.Table] && !x.Transaction && !x.Timestamped {
			r.finding(x.table, "leave the DELETE out, if the key has not changed", "a batch deletes a row and inserts one: if they have one key, the DELETE wins, as "+
				"both have one timestamp").of(x.Query)
			break
		}
	}
}

// fewestRead is how many tables the known statements have to read before they count as all that the service sends.
const fewestRead = 3

// fewestSelects is how many of them have to read, and half as many as there are tables, where they name fewer tables.
const fewestSelects = 8

// unusedTables notes tables and indexes that no statement needs, if the statements look like all of them.
func unusedTables(r *review) {
	read, named := make(map[schema.ID]bool), make(map[schema.ID]bool)
	selects := 0
	for q, t := range r.queries {
		if named[t.ID] = true; q.Verb == "SELECT" {
			selects++
		}
		read[t.ID] = read[t.ID] || q.Verb == "SELECT"
	}
	for _, v := range r.schema.Views { // a query of the view reads the table
		base := schema.ID{Keyspace: v.Keyspace, Name: v.Base}
		read[base], named[base] = read[base] || read[v.ID], named[base] || named[v.ID]
	}
	n, written := 0, 0
	for _, t := range r.tables() {
		if read[t.ID] {
			n++
		}
		if r.written(t) {
			written++
		}
	}
	all := n > 1 && 2*n > len(r.tables()) && len(named) == len(r.tables())
	plenty := n >= fewestRead && selects >= fewestSelects && 2*selects > len(r.tables())
	some := n < fewestRead && !all && !plenty // but may be all that uses some tables
	if 3*n < len(named) || some && min(n, written) < 2 || 2*len(named) < len(r.schema.Tables) && !plenty {
		return
	}
	for _, e := range r.schema.Entities { // whose statements the library makes
		for _, id := range e.Tables {
			named[id], read[id] = true, true
		}
	}
	for _, t := range r.tables() {
		switch conditional := r.conditional(t); {
		case !named[t.ID]:
			r.finding(t, "drop it, or pass the queries that use it", "no statement uses the table")
		case some:
		case !read[t.ID] && !conditional && !counting(t):
			r.finding(t, "drop it, or pass the queries that read it", "the table is written and never read")
		case !r.written(t) && !conditional && written >= fewestRead && 2*written > n:
			r.finding(t, "pass the queries that write it; or write it with the others", "the table is read and never written")
		}
	}
	for x, t := range r.indexes {
		used := func(q *schema.Query) bool { // and not what the key serves
			return restricted(q, x.Column()) && (!inKey(t, x.Column()) || !located(q, t) || unserved(q, t) != "") || nearest(q) == x.Column()
		}
		if c := x.Column(); !some && read[t.ID] && (x.Class == "" || x.Class == "sai") && c != "" && !r.asks(t, used) {
			r.finding(t, "drop it, or pass the queries that use it", "no statement uses index %s, and each write of %s maintains it", x.Name, c).at(x.At)
		}
	}
}

// apart notes tables of one entity, or with the same columns, that are written by separate statements.
func apart(r *review) {
	inserted, batched := make(map[*schema.Table]*schema.Query), make(map[*schema.Table]bool)
	copies := func(t, base *schema.Table) bool {
		if aggregates(t) && aggregates(base) && slices.ContainsFunc(keyColumns(t), lacks(base)) {
			return false // they are sums by another thing
		}
		named := slices.ContainsFunc(r.entities, func(e family) bool { return slices.Contains(e.tables, t) && slices.Contains(e.tables, base) })
		return named || sameContent(t, base) || leads(t, base) || leads(base, t) || whollyIn(t, base) || whollyIn(base, t) ||
			rowsOf(t) == rowsOf(base) && len(rowsOf(t)) > 4 && sharesMost(t, base) && !slices.ContainsFunc(t.Of(schema.PartitionKey), lacks(base))
	}
	for _, x := range r.statements {
		update, _ := x.Statement.(*ast.Update)
		whole := update != nil && r.query(x.table, "INSERT") == nil && len(update.Set)+len(update.Where) >= len(x.table.Columns)
		if x.Verb == "INSERT" || whole && !counting(x.table) {
			batched[x.table] = batched[x.table] || x.Batch != 0 || x.Conditional && len(x.table.Columns) < 4 // a guard
			inserted[x.table] = x.Query
		}
	}
	tables := slices.DeleteFunc(r.tables(), func(t *schema.Table) bool {
		return inserted[t] == nil || batched[t] || hasWord(t.Name, goneNames)
	})
	with := make(map[*schema.Table]*schema.Table) // a copy of it that a batch writes with it
	for _, b := range r.batches {
		of := b.inserts()
		if len(of) >= 50 { // each is compared with each
			continue
		}
		for _, t := range of {
			if i := slices.IndexFunc(of, func(base *schema.Table) bool { return t != base && copies(t, base) }); i >= 0 {
				with[t] = of[i]
			}
		}
	}
	for _, x := range r.statements {
		if base := with[x.table]; base != nil && x.Verb == "INSERT" && x.Batch == 0 && !x.Conditional && r.once(x.table.ID) {
			r.finding(x.table, "the batch that writes both; or drop the statement, if nothing sends it", "it is inserted alone here, and elsewhere in a batch "+
				"with %s, which has the same", base.ID).of(x.Query).Severity = Note
		}
	}
	if len(tables) > 300 { // each is compared with each
		return
	}
	r.leftCopies(copies)
	for i, t := range tables {
		for _, base := range tables[:i] {
			if t.Keyspace != base.Keyspace && !alike(t.Name, base.Name) || !copies(t, base) {
				continue
			}
			r.finding(t, "one logged batch for both, or a repair that compares them", "it is written apart from %s, which has the same: "+
				"after a failure between the two, one has a row that the other lacks", base.ID).of(inserted[t]).Severity = Note
			break
		}
	}
}

// leftCopies notes tables whose rows nothing deletes, while statements delete them from a table that has the same.
func (r *review) leftCopies(copies func(t, base *schema.Table) bool) {
	passing := append(strings.Fields("active open current live draft cart"), workNames...) // of what is done with, the other keeps the history
	tables := slices.DeleteFunc(r.tables(), func(t *schema.Table) bool {
		return r.query(t, "INSERT") == nil || hasWord(t.Name, append(strings.Fields("history log logs audit"), goneNames...))
	})
	if len(tables) > 300 {
		return
	}
	for i, base := range tables {
		deletes := func(q *schema.Query) bool { return q.Batch == 0 && deletesRow(q, base) }
		if hasWord(base.Name, passing) || !r.asks(base, deletes) {
			continue
		}
		for j, t := range tables {
			if i != j && t.Keyspace == base.Keyspace && r.query(t, "DELETE") == nil && t.TTL() == 0 && !r.alwaysTTL(t) && copies(t, base) && r.once([2]any{"left", t}) {
				r.finding(t, "a DELETE of both, in one logged batch", "rows are deleted from %s, which has the same, and stay here", base.ID).of(r.query(base, "DELETE")).
					Severity = Note
			}
		}
	}
}

// lacks says whether a table has no column of the name and the type.
func lacks(in *schema.Table) func(schema.Column) bool {
	return func(c schema.Column) bool { other := in.Column(c.Name); return other == nil || other.Type != c.Type }
}

// whollyIn says whether each row of a table is in rows of another one, with a document that it has.
func whollyIn(t, base *schema.Table) bool {
	content := func(c schema.Column) bool { return hasWord(c.Name, documentNames) }
	return slices.ContainsFunc(t.Of(schema.Regular), content) && !slices.ContainsFunc(t.Columns, lacks(base)) &&
		!slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool { return !inKey(base, c.Name) })
}

// leads says whether the rows of a table lead to rows of another one, and have nothing else.
func leads(t, base *schema.Table) bool {
	key := keyColumns(base)
	return len(t.Columns) > 1 && slices.ContainsFunc(key, anyID) && !slices.ContainsFunc(t.Columns, lacks(base)) &&
		!slices.ContainsFunc(key, lacks(t)) && !slices.Equal(names(keyColumns(t)), names(key))
}

// sameContent says whether one of two tables, whose keys differ, has all columns of the other but one.
func sameContent(t, base *schema.Table) bool {
	if len(t.Columns) > len(base.Columns) {
		t, base = base, t
	}
	common, content := 0, false
	for _, c := range t.Columns {
		if other := base.Column(c.Name); other != nil && other.Type == c.Type {
			common++
			content = content || c.Kind == schema.Regular && other.Kind == schema.Regular
		}
	}
	key := keyColumns(base)
	lacks := slices.DeleteFunc(slices.Clone(key), func(c schema.Column) bool { return t.Column(c.Name) != nil })
	if turned := len(lacks) == 1 && hasWord(base.Name, words(t.Name)[:min(1, len(words(t.Name)))]) && len(t.Columns) == len(base.Columns) && len(keyColumns(t)) == len(key); len(lacks) > 0 && !turned {
		return false // there may be several rows of the other for one of this
	}
	if len(lacks) == 0 && len(keyColumns(t)) > len(key) && slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool { return base.Column(c.Name) == nil }) {
		return false // or of this for one of the other
	}
	return content && common >= len(t.Columns)-1 && !slices.Equal(names(keyColumns(t)), names(keyColumns(base)))
}

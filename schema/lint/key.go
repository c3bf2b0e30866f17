package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// called gives the names under which a table has a column of the entity: an id may be called id in the table of the
// entity itself, and x_id elsewhere.
func (f *family) called(t *schema.Table, name string) []string {
	out := []string{name}
	own, _, _ := guess.Cut(f.Tables[0].Name)
	switch {
	case name == "id":
		out = append(out, f.Name+"_id", guess.Singular(own)+"_id")
	case f.guessed && name == f.Name+"_id" && (t.Name == own || t.Name == own+"_by_id"):
		out = append(out, "id")
	}
	return out
}

// keyHas says whether the key of a table has a column of the entity.
func (f *family) keyHas(t *schema.Table, name string) bool {
	return slices.ContainsFunc(f.called(t, name), func(name string) bool { return inKey(t, name) })
}

// has says whether a table has a column of the entity.
func (f *family) has(t *schema.Table, name string) bool {
	return slices.ContainsFunc(f.called(t, name), func(name string) bool { return t.Column(name) != nil })
}

// lacks gives the columns of the entity's identity that are not in the key of a table of it. Of an entity that is only
// guessed, some other table must have them in its key: under another name only if this one has the column too. A table
// with one row a key that names the entity in it is no fault but a guard of uniqueness, such as users_by_email (email)
// with the user's id; and what is counted or summed up by key is not the entity.
func (f *family) lacks(t *schema.Table) []string {
	var missing []string
	for _, name := range f.identity {
		if f.keyHas(t, name) || f.guessed && slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool { return strings.HasSuffix(c.Name, "_"+name) }) {
			continue
		}
		if own, called := f.keyed(name); f.guessed && !own && (!called || t.Column(name) == nil) {
			continue
		}
		missing = append(missing, name)
	}
	guard := len(t.Of(schema.Clustering)) == 0 && !slices.ContainsFunc(missing, func(name string) bool { return !f.has(t, name) })
	if guard || f.guessed && aggregates(t) {
		return nil
	}
	return missing
}

// keyed says whether a table has a column of the entity in its key: by its own name, and by any.
func (f *family) keyed(name string) (own, called bool) {
	known, ok := f.keys[name]
	if !ok {
		known[0] = slices.ContainsFunc(f.tables, func(t *schema.Table) bool { return inKey(t, name) })
		known[1] = slices.ContainsFunc(f.tables, func(t *schema.Table) bool { return f.keyHas(t, name) })
		f.keys[name] = known
	}
	return known[0], known[1]
}

// sumNames are words in the names of columns that say something of several rows.
var sumNames = strings.Fields("count counts total totals sum sums avg average min max mean number num amount revenue")

// numberTypes are those of numbers that a statement can set.
var numberTypes = strings.Fields("tinyint smallint int bigint varint decimal float double")

// aggregates says whether a table has nothing but numbers alongside its key, and these are called what numbers over
// several rows are.
func aggregates(t *schema.Table) bool {
	rest := t.Of(schema.Regular, schema.Static)
	return len(rest) > 0 && !slices.ContainsFunc(rest, func(c schema.Column) bool {
		sum := slices.ContainsFunc(strings.Split(strings.ToLower(c.Name), "_"), func(w string) bool { return slices.Contains(sumNames, w) })
		return c.Type != "counter" && (!sum || !slices.Contains(numberTypes, c.Type))
	})
}

func missingUnique(r *review) {
	r.namesakes()
	for e, t := range r.members {
		if missing := e.lacks(t); len(missing) > 0 && (!e.guessed || !r.claimed(t)) {
			list := strings.Join(missing, ", ")
			r.once(t.ID)
			r.finding(t, "add "+list+" to the end of the primary key, in a new table", "the key %s lacks %s of entity %s", t.Key(), list, e.Name)
		}
	}
	for _, t := range r.tables() {
		clustering := t.Of(schema.Clustering)
		i := slices.IndexFunc(t.Of(schema.Regular), func(c schema.Column) bool { return (isUUID(c) || c.Type == "text") && ownID(t, c) })
		if i >= 0 && len(clustering) > 0 && clock(clustering[len(clustering)-1]) && !r.claimed(t) && r.once(t.ID) {
			name := t.Of(schema.Regular)[i].Name
			r.finding(t, "add "+name+" to the end of the primary key, in a new table", "the key %s lacks %s: two rows that have the key are one", t.Key(), name).
				as(Warning).Column = name
		}
	}
}

// ownID says whether a column is the id of the row, by its name: id, or of events event_id.
func ownID(t *schema.Table, c schema.Column) bool {
	all, rows := words(c.Name), rowsOf(t)
	return c.Name == "id" || len(all) > 1 && isID(c) && len(all[0]) > 3 && (strings.HasPrefix(rows, all[0]) || len(rows) > 3 && strings.HasPrefix(all[0], rows))
}

// claimed says whether rows are inserted on the condition that nobody has their key, which so is unique.
func (r *review) claimed(t *schema.Table) bool {
	return r.asks(t, func(q *schema.Query) bool { return q.Verb == "INSERT" && q.Conditional })
}

// namesakes reports names of people in keys that have nothing else to tell them apart.
func (r *review) namesakes() {
	for _, t := range r.tables() {
		part := t.Of(schema.PartitionKey)
		if slices.ContainsFunc(part, func(c schema.Column) bool { return lastWord(c.Name) == "id" || isUUID(c) }) {
			continue
		}
		for _, c := range part {
			all := words(c.Name)
			if n := len(all); n > 1 && c.Type == "text" && all[n-1] == "name" &&
				slices.ContainsFunc(personNames, func(w string) bool { return strings.HasSuffix(all[n-2], w) }) {
				r.finding(t, "the id of the person in the key, and the name in a column", "%s in the key is the name of a person: two of one name share a "+
					"partition", c.Name).as(Warning).Column = c.Name
				break
			}
			thing := strings.TrimSuffix(strings.Join(all, ""), "name")
			if i := slices.IndexFunc(t.Columns, func(c schema.Column) bool {
				return c.Kind == schema.Regular && strings.Join(words(c.Name), "") == thing+"id"
			}); i >= 0 && c.Type == "text" && len(t.Of(schema.Clustering)) > 0 {
				r.finding(t, t.Columns[i].Name+" in its place, in a new table", "%s in the key is a name, and %s is not in it: things of one name share a "+
					"partition, and none can be renamed", c.Name, t.Columns[i].Name).as(Warning).Column = c.Name
				break
			}
		}
	}
}

// personNames are words before name that make it one of people, who may share it.
var personNames = strings.Fields("customer guest full first last person patient client employee student passenger driver author")

func keyByClock(r *review, t *schema.Table, n map[role]int) {
	clustering := t.Of(schema.Clustering)
	for _, x := range r.sent[t] {
		if c := pagedBy(x.Query, t); c != "" {
			r.finding(t, "(time, id) < (?, ?), or the paging of the driver", "a page begins behind a time alone: rows that have the %s of the last row are left out", c).
				of(x.Query).as(Note).Column = c
			break
		}
	}
	by := slices.IndexFunc(clustering, actor)
	if measured(t) || len(t.Of(schema.Regular)) == 0 || slices.ContainsFunc(clustering, func(c schema.Column) bool {
		return !clock(c) && c.Type != "date" && c.Type != "time" && !label(c) && !actor(c)
	}) {
		return
	}
	for _, c := range slices.Backward(clustering) {
		if clocked(t)(c) && !r.single(t) && !interval(c.Name) {
			apart := c.Name + ", a time of limited precision, tells"
			if i := max(by, slices.IndexFunc(clustering, label)); i >= 0 {
				apart = c.Name + ", a time of limited precision, and " + clustering[i].Name + " tell"
			}
			r.finding(t, "make it a timeuuid, or add a column that is unique to the end of the key",
				"only %s the rows of a partition apart", apart).when(by >= 0 || r.claimed(t), Note).Column = c.Name
			break
		}
	}
}

// pagedBy is the time behind which a query goes on with LIMIT, as the pages of a list do, if rows may share it.
func pagedBy(q *schema.Query, t *schema.Table) string {
	s, ok := q.Statement.(*ast.Select)
	rows := t.Of(schema.Clustering)
	i := slices.IndexFunc(rows, func(c schema.Column) bool { return !exact(q, c.Name) })
	if !ok || s.Limit == nil || !located(q, t) || i < 0 || i == len(rows)-1 || !clock(rows[i]) {
		return ""
	}
	reverse, _ := direction(q, t)
	behind := map[bool]string{true: "<", false: ">"}[rows[i].Desc != reverse]
	on := slices.DeleteFunc(slices.Clone(q.Where), func(w ast.Relation) bool { return !slices.Contains(w.Columns, rows[i].Name) })
	if len(on) != 1 || on[0].Operator != behind || len(on[0].Columns) > 1 {
		return ""
	}
	return rows[i].Name
}

// label says whether a column has a name that rows of one moment may share.
func label(c schema.Column) bool {
	return c.Type == "text" && slices.Contains(strings.Fields("name setting key type kind category action event level status state field attribute"), lastWord(c.Name))
}

// actor says whether a column is who does what the rows are, who may do several things in one moment.
func actor(c schema.Column) bool {
	return c.Type == "inet" || slices.Contains(strings.Fields("author_id sender_id actor_id from_id user_id author sender actor username"), c.Name)
}

// takenOver reports names that are to be unique and are inserted without a condition.
func takenOver(r *review, t *schema.Table) {
	of := t.Of(schema.PartitionKey)
	plain := r.plainInsert(t)
	looks := func(q *schema.Query) bool { // whether there is a row
		s, ok := q.Statement.(*ast.Select)
		named := ok && s.Columns != nil
		bare := named && !slices.ContainsFunc(q.Columns, func(name string) bool { return !inKey(t, name) && !restricted(q, name) })
		fresh := bare && len(q.Where) == 1 && q.Where[0].Is("=") && len(q.Where[0].Columns) == 1 &&
			!inKey(t, q.Where[0].Columns[0]) && hasWord(q.Where[0].Columns[0], onlyNames)
		pair := len(keyColumns(t)) > 1 && hasWord(t.Name, pairNames) && !slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool {
			return c.Type == "timeuuid" || c.Name == "id" || c.Name == rowsOf(t)+"_id"
		})
		done := pair || named && hasWord(t.Name, strings.Fields("processed handled consumed seen dedup"))
		return fresh || ok && ofRow(q, t) && (done || bare)
	}
	if plain != nil && r.asks(t, looks) {
		r.finding(t, "INSERT ... IF NOT EXISTS, which asks as well", "a query asks whether there is a row, and a plain INSERT follows: two clients that ask at "+
			"the same time both insert").of(plain).Severity = Note
		return
	}
	rows, happens := t.Of(schema.Clustering), firstOf(growingNames, words(t.Name)...) != ""
	booked := firstOf(bookingNames, words(t.Name)...) != "" && slot(t) // the code may keep a calendar elsewhere
	if plain != nil && (booked || happens && len(rows) == 1 && sequence(rows[0]) && !r.conditional(t)) {
		r.finding(t, "INSERT ... IF NOT EXISTS, in a request of its own", "two clients that insert one %s at the same time "+
			"both succeed: the later row replaces the earlier one", t.Key()).of(plain).Severity = Note
		return
	}
	if plain == nil || len(of) != 1 || t.TTL() > 0 || r.alwaysTTL(t) {
		return
	}
	fix := "INSERT ... IF NOT EXISTS into a table with the name alone as its key, before the other tables are written; in Go: tables.Unique"
	owner := slices.IndexFunc(t.Columns, func(c schema.Column) bool {
		return c.Kind != schema.PartitionKey && slices.Contains(strings.Fields("id password passwd pass hash"), lastWord(strings.ToLower(c.Name)))
	})
	reason := "two inserts of one " + of[0].Name + " both succeed: the later row replaces the earlier one"
	key, severity := lastWord(of[0].Name), Warning
	link := shortLink.MatchString(rowsOf(t)+" "+of[0].Name) && slices.ContainsFunc(t.Of(schema.Regular), func(c schema.Column) bool { return address.MatchString(c.Name) })
	login := of[0].Type == "text" && hasWord(of[0].Name, []string{"login"})
	natural := of[0].Type == "text" && rowsAre(t, accountNames) && !isID(of[0]) && (len(t.Columns) > 2 || strings.Contains(t.Name, "_by_") && owner >= 0)
	number := slices.Contains(strings.Fields("number no nr"), key) && hasWord(of[0].Name, uniqueNames)
	switch named, sought := slices.Contains(uniqueNames, key) || login || number, r.soughtName(t); {
	case link && len(t.Of(schema.Clustering)) == 0:
		reason = "two inserts of one " + of[0].Name + " both succeed: the later one replaces where the earlier one leads to"
	case sought != "":
		reason = sought + " finds one " + rowsOf(t) + ", and nothing keeps it unique: two inserts at the same time both succeed"
	case !named && len(t.Of(schema.Clustering)) == 0 && (natural || len(t.Columns) > 2 && (key == "name" || key == "title") && !reference(t)):
		fix, severity = "an id as the key; or INSERT ... IF NOT EXISTS, if two must not have one "+key, Note
	case !named || owner < 0 && !natural:
		return
	case owner < 0:
	case len(t.Of(schema.Clustering)) == 0:
		reason = "two inserts of one " + of[0].Name + " both succeed: the later " + t.Columns[owner].Name + " replaces the earlier one"
	case lookup(t):
		reason = "two inserts of one " + of[0].Name + " both succeed, as " + t.Columns[owner].Name + " is in the key too"
	default:
		return
	}
	r.finding(t, fix, "%s", reason).of(plain).when(severity == Note || plain.Batch != 0, Note) // who writes all tables in a batch may have asked before
}

// pairNames are words in the names of tables of what one may do with another once.
var pairNames = strings.Fields("likes liked votes voted follows interactions borrows claims bookings reservations registrations enrollments")

// onlyNames are words in the names of what two rows must not have in common.
var onlyNames = strings.Fields("hash checksum fingerprint digest sha256 md5 idempotency nonce slug dedup")

// bookingNames are words for what takes a place for a time.
var bookingNames = strings.Fields("reservation booking appointment rental")

// slot says whether a row is a place at a time that one person has, by its key: it has neither the person nor an id of
// the row.
func slot(t *schema.Table) bool {
	person := func(c schema.Column) bool {
		return hasWord(c.Name, append(strings.Fields("guest patient client"), personNouns...))
	}
	own := func(c schema.Column) bool {
		id := hasWord(c.Name, bookingNames) && slices.Contains(strings.Fields("id uuid guid number no nr"), lastWord(c.Name))
		return id || c.Type == "timeuuid" || c.Name == "id" || person(c) || hasWord(c.Name, strings.Fields("confirm confirmation code reference"))
	}
	return len(keyColumns(t)) > 1 && slices.ContainsFunc(t.Of(schema.Regular), person) && !slices.ContainsFunc(keyColumns(t), own)
}

// shortLink matches rows and the name of their key, if the key stands for a longer address, and address the name of that.
var (
	shortLink = regexp.MustCompile(`(?i)[ _]short(_?(code|url|link|id|hash|key|slug|alias))?$|^(link|url|shortlink|shorturl|redirect|alias\w*|mapping) .*(code|alias|slug|hash)$`)
	address   = regexp.MustCompile(`(?i)^((long|full|original|target|destination)_?)?(url|link)$|^(target|destination)$`)
)

// plainInsert is an INSERT of a table of which none has a condition, or nil.
func (r *review) plainInsert(t *schema.Table) (plain *schema.Query) {
	for _, q := range r.sent[t] {
		if q.Verb == "INSERT" {
			if plain = q.Query; q.Conditional || q.Transaction {
				return nil
			}
		}
	}
	return plain
}

// soughtName is the column of a name by which queries find an account whose key is its id. It is empty if a table has
// the name as its key.
func (r *review) soughtName(t *schema.Table) string {
	if key := keyColumns(t); len(key) != 1 || !anyID(key[0]) {
		return ""
	}
	for _, c := range t.Of(schema.Regular) {
		last := lastWord(c.Name)
		sought := func(q *schema.Query) bool { return q.Verb == "SELECT" && restricted(q, c.Name) }
		kept := func(by *schema.Table) bool {
			part := by.Of(schema.PartitionKey)
			return len(part) == 1 && lastWord(part[0].Name) == last && r.query(by, "INSERT") != nil &&
				(rowsOf(by) == rowsOf(t) || by.Column(rowsOf(t)+"_id") != nil)
		}
		indexed := slices.ContainsFunc(r.indexesOf[t.ID], func(x *schema.Index) bool { return x.Column() == c.Name })
		named := rowsAre(t, accountNames) && slices.Contains(strings.Fields("email username login nickname handle"), last) ||
			outside.MatchString(c.Name) && rowsAre(t, knownNames)
		if named && (indexed || r.asks(t, sought)) && !slices.ContainsFunc(r.tables(), kept) {
			return c.Name
		}
	}
	return ""
}

// outside matches the names of columns of what a thing is known by elsewhere, and knownNames are words for such things.
var (
	outside = regexp.MustCompile(`(?i)^(external_?(id|identifier|ref|reference)|sku|isbn|imei|vin|barcode|` +
		`serial_?(no|number)|mac_?address|(license|number)_?plate)$`)
	knownNames = strings.Fields("product book device gadget vehicle car asset sensor phone variant")
)

// uniqueNames are names by which people and things are known, each to be one's alone.
var uniqueNames = strings.Fields("email mail username login nickname handle slug phone alias mobile phonenumber iban passport ssn")

// measured says whether rows have numbers alone, or a place and a state with them: what a device has measured at a time is
// there once.
func measured(t *schema.Table) bool {
	regular := t.Of(schema.Regular)
	numbers := slices.DeleteFunc(slices.Clone(regular), func(c schema.Column) bool { return !slices.Contains(numberTypes, c.Type) })
	device := hasWord(strings.ReplaceAll(key(t), ", ", "_"), strings.Fields("device sensor station meter probe"))
	if rowsAre(t, strings.Fields("measurement reading sample metric candle datapoint")) || device && 3*len(numbers) > 2*len(regular) {
		return true
	}
	placed := slices.ContainsFunc(regular, func(c schema.Column) bool { return hasWord(c.Name, strings.Fields("lat latitude")) })
	return len(regular) > 0 && !slices.ContainsFunc(regular, func(c schema.Column) bool {
		return (!placed || roleOf(c) != few) && !slices.Contains(numberTypes, c.Type) || strings.EqualFold(lastWord(c.Name), "id") || money(c.Name)
	})
}

// clock says whether a column holds what a clock shows, of limited precision: by its type, or as a number by its name.
func clock(c schema.Column) bool {
	return c.Type == "timestamp" || c.Type == "bigint" && slices.Contains(strings.Fields("at time ts timestamp ms millis micros nanos epoch"), lastWord(c.Name)) ||
		c.Type == "int" && slices.Contains(strings.Fields("ts timestamp epoch unixtime"), lastWord(c.Name))
}

// clocked says whether a column of a table is a clock, perhaps with its day in another column.
func clocked(t *schema.Table) func(schema.Column) bool {
	return func(c schema.Column) bool {
		return clock(c) || c.Type == "time" && rowsAre(t, growingNames) && !hasWord(c.Name, strings.Fields("start begin end"))
	}
}

func incomplete(r *review, e *family, t *schema.Table) {
	base := r.byID[e.Tables[0]]
	if e.guessed && e.base >= 0 {
		base = e.tables[e.base]
	}
	if base == nil || t == base {
		return
	}
	copied := len(t.Of(schema.Clustering)) > 0 // else it is a guard of uniqueness, or has one row a key
	if e.guessed {
		copied = e.together && sharesMost(base, t) && !slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool {
			r := roleOf(c)
			return (r == identity || r == few) && !e.has(base, c.Name) // it is of something else, such as each of two players
		})
	}
	if !copied || e.guessed && r.namesColumns(t) {
		return
	}
	missing := slices.DeleteFunc(slices.Clone(base.Columns), func(c schema.Column) bool {
		_, _, several := ast.TypeParts(c.Type) // of which the table may have a row for each element
		// amount may be amount_cents here
		unit := slices.ContainsFunc(t.Columns, func(other schema.Column) bool { return strings.HasPrefix(other.Name, c.Name+"_") })
		return e.has(t, c.Name) || kept(c) || e.guessed && (unit || len(several) > 0)
	})
	if len(missing) > 0 {
		r.finding(t, "add them, or accept that the query reads "+base.String()+" as well",
			"the table has no %s, which entity %s has", strings.Join(names(missing), ", "), e.Name).when(e.guessed, Note)
	}
}

// namesColumns says whether all queries that read a table name the columns that they need: of one that it does not have
// DN507 tells.
func (r *review) namesColumns(t *schema.Table) bool {
	return r.query(t, "SELECT") != nil && !r.asks(t, func(q *schema.Query) bool {
		s, ok := q.Statement.(*ast.Select)
		return ok && s.Columns == nil
	})
}

// interval says whether a time is that of an interval by its name: of an hour, or the start of a slot, there is one
// row.
func interval(name string) bool {
	happened := lastWord(name) == "date" && hasWord(name, strings.Fields("created posted sent"))
	return !happened && slices.Contains(momentNames, lastWord(name)) ||
		hasWord(name, strings.Fields("interval slot window"))
}

// sharesMost says whether a table has more than half of the columns of another one, and so is meant to be a copy of it.
func sharesMost(base, t *schema.Table) bool {
	common := slices.DeleteFunc(slices.Clone(base.Columns), func(c schema.Column) bool { return t.Column(c.Name) == nil })
	return 2*len(common) > len(base.Columns)
}

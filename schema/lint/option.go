package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// entry is an entry of an option that is a map.
func entry(t *schema.Table, option, key string) string {
	o, _ := ast.ParseOption(t.Options[option])
	return o.Map[key]
}

// lifetime is how long rows live, as far as the table or what is written says: 0 forever, -1 if it is bound.
func (r *review) lifetime(t *schema.Table) time.Duration {
	longest := t.TTL()
	if longest > 0 || !r.alwaysTTL(t) {
		return longest
	}
	for _, q := range r.sent[t] {
		if q.TTL < 0 {
			return -1
		}
		longest = max(longest, time.Duration(q.TTL)*time.Second)
	}
	return cmp.Or(longest, -1)
}

// template says whether a tool fills in the value of an option.
func template(literal string) bool {
	return strings.HasPrefix(literal, "$") || strings.HasPrefix(literal, "{{")
}

// written says whether a statement is known that writes the table.
func (r *review) written(t *schema.Table) bool {
	return r.query(t, "INSERT") != nil || r.query(t, "UPDATE") != nil
}

// mostWindows is how many windows, and so at least files, a table may well have.
const mostWindows = 100

// window is how long a window of TimeWindowCompactionStrategy is.
func window(t *schema.Table) time.Duration {
	unit := map[string]time.Duration{"MINUTES": time.Minute, "HOURS": time.Hour}[entry(t, "compaction", "compaction_window_unit")]
	if unit == 0 {
		unit = schema.Day
	}
	n, err := strconv.Atoi(entry(t, "compaction", "compaction_window_size"))
	if err != nil || n < 1 {
		n = 1
	}
	return time.Duration(n) * unit
}

func timeWindows(r *review, t *schema.Table) {
	if t.Compaction() != timeWindow {
		return
	}
	switch lives := r.lifetime(t); {
	case lives == 0:
		r.finding(t, "a TTL, of the table or in each write; or another compaction",
			"TimeWindowCompactionStrategy drops a file once all its rows have expired, and the table has no TTL").
			when(!r.written(t), Note) // the writes may have one
	case lives/window(t) > mostWindows:
		r.finding(t, "windows of a twentieth or thirtieth of the TTL",
			"%d windows, and as many files at least: reads and starts of nodes open all of them", lives/window(t))
	}
}

// removed matches the functions that Cassandra 5.0 has removed, with their bracket behind them.
var removed = regexp.MustCompile(`(?i)\b(dateof|unixtimestampof)\s*\(`)

func deprecated(r *review, t *schema.Table) {
	if t.Compaction() == dateTiered {
		r.finding(t, "TimeWindowCompactionStrategy", "DateTieredCompactionStrategy, which Cassandra 5.0 does not have any more")
	}
	for _, x := range r.sent[t] {
		if gone := removed.FindStringSubmatch(x.Text); gone != nil && r.once(t.ID) {
			r.finding(t, "toTimestamp, or toUnixTimestamp", "a statement calls %s, which Cassandra 5.0 does not have any more", gone[1]).of(x.Query)
		}
	}
	if _, compact := t.Options[ast.CompactStorage]; compact {
		r.finding(t, "ALTER TABLE ... DROP COMPACT STORAGE, with drop_compact_storage_enabled in cassandra.yaml; leave it out of new tables",
			"COMPACT STORAGE, which is deprecated: the table cannot have more columns, static ones or collections").
			when(!r.once(t.Keyspace), Note) // one decision for all tables
	}
}

// costlyOptions reports options that make reads dearer than without them.
func costlyOptions(r *review, t *schema.Table) {
	if strings.EqualFold(entry(t, "caching", "rows_per_partition"), "ALL") {
		r.finding(t, "rows_per_partition = 'NONE', or the few rows that are read most",
			"caching keeps whole partitions in memory, if row_cache_size lets it, and each write to one throws it out")
	}
	if chance, err := strconv.ParseFloat(t.Options["bloom_filter_fp_chance"], 64); err == nil && chance >= 1 && r.readByKey(t) {
		r.finding(t, "bloom_filter_fp_chance = 0.01, or 0.1 with LeveledCompactionStrategy",
			"bloom_filter_fp_chance is 1, so there is no filter, and a read looks into every file")
	}
}

// readByKey says whether partitions are read one by one, also where nothing says how.
func (r *review) readByKey(t *schema.Table) bool {
	byKey := func(q *schema.Query) bool { return q.Verb == "SELECT" && located(q, t) }
	return r.query(t, "SELECT") == nil || r.asks(t, byKey)
}

// shortNames are words of what ends by itself, lockNames of what has to end when its holder does, passingNames of what
// may have an end.
var (
	shortNames   = strings.Fields("token session otp verification reset nonce challenge captcha cache idempotency refresh lock")
	passingNames = strings.Fields("message story paste snippet link url invitation invite notification mapping advertisement offer promotion")
	lockNames    = strings.Fields("lock mutex leader semaphore")
)

// withoutTTL reports tables of locks, and of what ends at a time that a column has. Neither they nor their statements
// have a TTL.
func withoutTTL(r *review, t *schema.Table) {
	if t.TTL() > 0 || template(t.Options["default_time_to_live"]) || r.asks(t, func(q *schema.Query) bool { return q.TTL != 0 }) {
		return
	}
	thing, _, _ := guess.Cut(t.Name)
	// A cart is short, and no item of it is.
	short := cmp.Or(firstOf(shortNames, words(thing)...), firstOf([]string{"cart", "presence", "online"}, rowsOf(t)))
	mixed := short == "" && !rowsAre(t, passingNames) // the row stays, whatever of it ends
	if mixed && firstOf(slices.Concat(growingNames, tradeNames), lastWord(t.Name)) == "" {
		short = firstOf([]string{"idempotency", "nonce"}, words(strings.Join(names(keyColumns(t)), "_"))...)
	}
	ends := func(c schema.Column) bool {
		return hasWord(c.Name, strings.Fields("expires expire expired expiry expiration ttl")) &&
			(!mixed || !rowsAre(t, accountNames) && hasWord(c.Name, shortNames))
	}
	takes := func(q *schema.Query) bool { return q.Conditional && (q.Verb == "INSERT" || q.Verb == "UPDATE") }
	stay, what, deleted := "forever", "neither a TTL nor a DELETE ends", r.query(t, "DELETE") != nil
	if deleted {
		stay, what = "until a DELETE", "no TTL, but a DELETE alone ends"
	}
	i := slices.IndexFunc(t.Columns, ends)
	switch {
	case i >= 0:
		r.finding(t, "USING TTL in each INSERT, or default_time_to_live", "rows have their end in %s, and no TTL: they stay %s", t.Columns[i].Name, stay).
			when(!r.written(t) || short == "" || deleted, Note).Column = t.Columns[i].Name // the writes may have one
	case rowsAre(t, lockNames) && r.asks(t, takes):
		r.finding(t, "USING TTL in the statement that takes it; and a number that grows each time, which what is locked checks",
			"a lock without TTL: if its holder is gone, nobody gets it")
	case short != "" && short != "refresh" && short != "lock" && r.written(t):
		r.finding(t, "USING TTL in each INSERT, or default_time_to_live", "%s %s", what,
			strings.NewReplacer("a idempotency", "an idempotency key", "a o", "an o").Replace("a "+short)).Severity = Note
	case r.written(t) && !counting(t) && !aggregates(t) && (!deleted || hasWord(t.Name, []string{"log", "logs"})) && r.piles(t):
		r.finding(t, "default_time_to_live, or tables by month that are dropped; or accept it, if all rows are wanted forever",
			"rows are written as things happen, and %s them", strings.TrimPrefix(what, "no TTL, but ")).Severity = Note
	}
}

// piles says whether a table has a row for each thing that happens, by its key or its name.
func (r *review) piles(t *schema.Table) bool {
	part, rows := t.Of(schema.PartitionKey), t.Of(schema.Clustering)
	instants := slices.ContainsFunc(part, instant)
	switch column, told := r.endless(t); {
	case told != "": // DN104 says that the partition grows, and what is measured or logged is not wanted forever
		kept := hasWord(t.Name, []string{"history"}) || hasWord(column, sequenceNames)
		return !kept && (column != "" && measured(t) || hasWord(t.Name, passedNames) || hasWord(t.Name, streamNames))
	case len(t.Of(schema.Regular)) == 0 && !instants:
		return false
	}
	seldom := len(part) == 1 || reference(t) || hasWord(strings.ReplaceAll(key(t), ", ", "_"), strings.Fields("year month quarter week"))
	timed := rolesOf(t)[moment] > 0 && (instants && len(rows) > 0 || len(rows) == 0 && !seldom || len(rows) > 0 && (instant(rows[0]) || clock(rows[0])))
	return timed || !hasWord(t.Name, strings.Fields("last latest current")) && hasWord(t.Name, passedNames)
}

// passedNames are words in the names of tables of what has happened; streamNames are words of what arrives without end.
var (
	passedNames = strings.Fields(`log logs event events audit audits notification notifications click clicks visits execution
		executions history trace traces readings`)
	streamNames = strings.Fields("telemetry metrics measurements views positions locations alerts")
)

// deletesWithTTL notes tables whose rows expire, and are deleted as well.
func deletesWithTTL(r *review, x sent) {
	if d, ok := x.Statement.(*ast.Delete); ok && len(d.Columns) == 0 && x.table.TTL() > 0 && r.once(x.table.ID) {
		r.finding(x.table, "let the rows expire, if that is soon enough", "rows expire, and are deleted as well: each DELETE leaves a tombstone").
			of(x.Query)
	}
}

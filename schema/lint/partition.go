package lint

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// partOf is the partition key without hash buckets of its other columns: rows that have these have the same bucket.
func partOf(t *schema.Table) []schema.Column {
	all := t.Of(schema.PartitionKey)
	return slices.DeleteFunc(slices.Clone(all), func(c schema.Column) bool {
		_, of, isHash := strings.Cut(strings.TrimSuffix(c.Derived, ")"), ", ") // hash(4, user_id)
		return isHash && !slices.ContainsFunc(strings.Split(of, ", "), func(name string) bool {
			return !slices.ContainsFunc(all, func(c schema.Column) bool { return c.Name == name })
		})
	})
}

// rolesOf counts what the columns of a partition key do.
func rolesOf(t *schema.Table) map[role]int {
	n := make(map[role]int)
	for _, c := range partOf(t) {
		n[roleOf(c)]++
	}
	return n
}

// clustered gives the tables and views with more than a row a partition, the roles in their partition key with them.
func (r *review) clustered(yield func(*schema.Table, map[role]int) bool) {
	tables := r.tables()
	for _, v := range r.schema.Views {
		if t := r.byID[v.ID]; t != nil && len(v.Columns) > 0 {
			tables = append(tables, t)
		}
	}
	for _, t := range tables {
		migrations := rowsAre(t, strings.Fields("version migration")) && hasWord(t.Name, strings.Fields("schema migration migrations db"))
		if len(t.Of(schema.Clustering)) > 0 && !migrations && !yield(t, rolesOf(t)) {
			return
		}
	}
}

func lowCardinality(r *review, t *schema.Table, n map[role]int) {
	if n[few] > 0 && n[few] == len(partOf(t)) {
		if reference(t) {
			return
		}
		r.finding(t, "add a bucket to the partition key, a stable hash of the row's id modulo 16 or so, and read the buckets side by side",
			"the partition key (%s) has few values", key(t))
	} else if _, told := r.endless(t); (told == "" || told == many(t)) && n[moment]+n[few]+n[spread] == 0 && r.sameAlways(t) {
		r.finding(t, "what queries know as the partition key; or accept it, if rows stay few",
			"the statements write one value of the partition key (%s): all rows are in one partition", key(t)).Severity = Warning
	}
}

func hotPartition(r *review, t *schema.Table, n map[role]int) {
	if momentary(t, n) {
		r.finding(t, "put what the rows are about into the partition key before the time, for example ((sensor_id, day), ts), or a bucket",
			"the partition key (%s) is only a time and rows arrive in the order of %s: every write of the moment goes to one partition",
			key(t), t.Of(schema.Clustering)[0].Name).when(interval(t.Of(schema.Clustering)[0].Name), Note)
		return
	}
	part := partOf(t)
	i := slices.IndexFunc(part, func(c schema.Column) bool { return c.Type == "text" && slices.Contains(wordNames, lastWord(c.Name)) })
	if i >= 0 && n[moment] > 0 && n[moment]+1 == len(part) && instant(t.Of(schema.Clustering)[0]) {
		r.finding(t, "add a bucket to the partition key, a hash of the row's id modulo 16 or so",
			"the partition key (%s) is a %s and a time: all that is written of a popular one at a moment goes to one partition", key(t),
			lastWord(part[i].Name)).Severity = Note
	}
}

// momentary says whether a partition has all rows of a time, in the order of their arrival.
func momentary(t *schema.Table, n map[role]int) bool {
	rows := t.Of(schema.Clustering)
	return n[moment] > 0 && n[moment] == len(partOf(t)) && len(rows) > 0 && instant(rows[0])
}

func timeOnly(r *review, t *schema.Table, n map[role]int) {
	mixed := n[moment] > 0 && n[few] > 0
	if n[moment] == 0 || n[moment]+n[few] < len(partOf(t)) || !mixed && instant(t.Of(schema.Clustering)[0]) {
		return
	}
	r.finding(t, "add to the partition key what queries know besides the time, or a bucket; if rows are few, state their volume and accept this",
		"all rows of one %s are in one partition", key(t)).when(counting(t) || windowed(t), Note) // a row for each thing that is counted
}

// windowed says whether a partition is of one short window, of which a program writes what it has summed up.
func windowed(t *schema.Table) bool {
	return !slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool { return c.Type != "timestamp" || !hasWord(c.Name, []string{"window"}) })
}

func unbounded(r *review, t *schema.Table, n map[role]int) {
	if column, reason := r.endless(t); reason != "" {
		fix := "add a bucket of time to the partition key, or a TTL with TimeWindowCompactionStrategy, or both, as a bucket ends no row; " +
			"or state its volume, if that stays small"
		if column == "" {
			fix = "add a bucket to the partition key, a hash of the row's id; or state its volume, if that stays small"
		}
		number := func(c schema.Column) bool { return slices.Contains(strings.Fields("int bigint"), c.Type) && !isID(c) }
		guessed := many(t) == reason || hasWord(column, append([]string{"window"}, sequenceNames...)) ||
			rowsAre(t, catalogNames) || column == "" && hasWord(t.Name, circleNames)
		part := t.Of(schema.PartitionKey)
		r.finding(t, fix, "a partition (%s) %s", key(t), reason). // the number may be a bucket, a window an hour, and a circle small
										when(guessed || len(part) > 1 && slices.ContainsFunc(part, number), Note).Column = column
	}
}

// many says that a partition has all of something that one thing may have many of. It goes by the names of the table and
// of its clustering columns.
func many(t *schema.Table) string {
	thing, _, _ := guess.Cut(t.Name)
	of := words(strings.Join(names(t.Of(schema.PartitionKey)), "_"))
	if slices.Contains(of, rowsOf(t)) || slices.Equal(of, []string{"id"}) {
		thing = "" // it names the partition: a product_sku is no product
	}
	all := words(thing)
	for _, c := range t.Of(schema.Clustering) {
		if roleOf(c) == identity {
			all = append(all, words(c.Name)...)
		}
	}
	if len(all) == len(words(thing)) || counting(t) || rowsAre(t, ownedNames) {
		return ""
	}
	if hasWord(strings.Join(of, "_"), tenantNames) {
		return "has every row of one " + strings.Join(of, " ") + ", however many there are"
	}
	all = slices.DeleteFunc(all, func(w string) bool { return slices.Contains(of, guess.Singular(w)) })
	slices.Reverse(all)
	if what := firstOf(slices.Concat(manyNames, tradeNames), all...); what != "" {
		return "has every " + what + " of one " + strings.Join(of, " ") + ", however many there are"
	}
	if hasWord(strings.Join(of, "_"), publicNames) && hasWord(t.Of(schema.Clustering)[0].Name, personNouns) &&
		!hasWord(t.Of(schema.Clustering)[0].Name, []string{"author", "person"}) {
		return "has a row for each " + t.Of(schema.Clustering)[0].Name + " of one " + strings.Join(of, " ")
	}
	return ""
}

// publicNames are words for what anybody may look at.
var publicNames = strings.Fields("video post article product movie film song track")

// manyNames are words for what one thing may have many of.
var manyNames = strings.Fields(`message event log transaction notification audit entry reading measurement activity comment like rating review vote visit
	reference member follower order purchase product video tag metric history favorite bookmark view click download play
	object file snapshot request appointment recommendation post tweet retweet feed timeline voto pedido mensaje comentario nachricht patient`)

// source is the table whose statements write a table: of a view its base.
func (r *review) source(t *schema.Table) *schema.Table { return cmp.Or(r.bases[t], t) }

// endless says why a partition of a table gets rows forever, and by which time; the reason is empty if it does not.
func (r *review) endless(t *schema.Table) (column, reason string) {
	clustering, n := t.Of(schema.Clustering), rolesOf(t)
	if len(clustering) == 0 {
		return "", ""
	}
	divided := slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool { return roleOf(c) == spread && !hashed(c) })
	brief := slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool {
		all := words(c.Name)
		if last := len(all) - 1; last > 0 && slices.Contains(strings.Fields("id no nr number ref"), all[last]) {
			all = all[:last]
		}
		return len(all) > 0 && slices.Contains(briefNames, all[len(all)-1]) && !hasWord(t.Name, strings.Fields("vote votes voto votos likes views clicks"))
	})
	whole := n[spread] == len(partOf(t)) || n[few] == 0 && !brief && r.constant(t)
	if !whole && (n[identity] == 0 || brief || divided) || n[moment] > 0 || r.single(t) || r.stated(t) || r.queue(t) {
		return "", ""
	}
	if from := r.source(t); from.TTL() > 0 || r.alwaysTTL(from) {
		return "", ""
	}
	if lookup(t) || reference(t) || slow(t) || attributed(t) {
		return "", ""
	}
	return r.arrives(t)
}

// arrives says by what the rows of one partition arrive, as their names say.
func (r *review) arrives(t *schema.Table) (column, reason string) {
	clustering := t.Of(schema.Clustering)
	name := words(t.Name)
	crowd := slices.IndexFunc(name, func(w string) bool { return slices.Contains(crowdNames, w) })
	if crowd >= 0 && !counting(t) && !hasWord(t.Name, smallNames) && roleOf(clustering[0]) == identity && ofOne(t) && !joined(t) {
		return "", "gets a row for each of its " + name[crowd] + " forever"
	}
	if sequence(clustering[0]) && firstOf(growingNames, name...) != "" {
		return clustering[0].Name, "gets rows by " + clustering[0].Name + " forever"
	}
	owned := isID(clustering[0]) && rowsAre(t, ownedNames)
	if i := slices.IndexFunc(clustering, func(c schema.Column) bool { return instant(c) || clocked(t)(c) || r.textOfTime(t, c) }); i >= 0 && !owned {
		c := clustering[i]
		if i == len(clustering)-1 && c.Type != "timeuuid" && interval(c.Name) && !hasWord(c.Name, []string{"minute", "window"}) ||
			hasWord(strings.ReplaceAll(key(t), ", ", "_"), mediaNames) && hasWord(t.Name+"_"+c.Name, placeNames) {
			return "", "" // a row a day, or a place in what has an end
		}
		return c.Name, "gets rows by " + c.Name + " forever"
	}
	part := t.Of(schema.PartitionKey)
	what := ""
	if len(part) == 1 && hasWord(part[0].Name, slices.Concat(tenantNames, outletNames)) {
		what = firstOf(slices.Concat(growingNames, tradeNames), rowsOf(t))
	} else if isID(clustering[0]) {
		what = firstOf(growingNames, rowsOf(t))
	}
	if what != "" && ofOne(t) && roleOf(clustering[0]) == identity {
		return "", "gets a row for each " + what + " forever"
	}
	if len(part) == 1 && slices.Contains(wordNames, lastWord(part[0].Name)) && part[0].Type == "text" {
		row := clustering[len(clustering)-1]
		if slices.Contains([]string{"domain", "topic"}, lastWord(part[0].Name)) {
			row = clustering[0] // what follows may be a few of each
		}
		if isUUID(row) || row.Name == "id" || row.Name == rowsOf(t)+"_id" {
			return "", "has all rows of one " + lastWord(part[0].Name) + ", and a popular one gets large"
		}
	}
	piece := slices.Contains(strings.Fields("int bigint varint"), clustering[0].Type) && slices.ContainsFunc(t.Of(schema.Regular), func(c schema.Column) bool {
		return c.Type == "blob" && slices.Contains(strings.Fields("chunk block part piece segment"), lastWord(c.Name))
	})
	if piece {
		return "", "has all pieces of a blob, however large it is"
	}
	if r.written(t) {
		return "", many(t)
	}
	return "", ""
}

// firstOf is the first of some words that is in a list, in the singular; or empty. A long one may be the end of a word, as
// in songcomments, which was written as songComments.
func firstOf(list []string, names ...string) string {
	for _, w := range names {
		one := guess.Singular(w)
		if i := slices.IndexFunc(list, func(s string) bool { return one == s || len(s) > 6 && strings.HasSuffix(one, s) }); i >= 0 {
			return list[i]
		}
	}
	return ""
}

// briefNames are words of things that come to an end, and their events with them.
var briefNames = strings.Fields(`order parcel package shipment delivery tracking invoice claim ticket trip ride booking reservation payment job run session
	cart basket match auction poll message lease loan contract appointment visit call meeting request transaction transfer incident issue
	build deployment execution task upload trace survey exam`)

var (
	// tenantNames are words for those who use a system with all that they have.
	tenantNames = strings.Fields("tenant org organization organisation company workspace merchant namespace")
	// outletNames are words for places that have such things each day.
	outletNames = strings.Fields("restaurant shop store hotel clinic hospital")
	// tradeNames are words for what they do with it; also in French, Spanish and German.
	tradeNames = strings.Fields(`order invoice payment booking reservation ticket shipment customer
		ecriture mouvement facture commande paiement pedido factura pago movimiento buchung rechnung bestellung zahlung`)
	// wordNames are words for words, of which some are far more frequent than others.
	wordNames = strings.Fields("tag hashtag domain topic keyword term word")
)

// sequenceNames are words in the names of numbers that events have in their order.
var sequenceNames = strings.Fields("version revision seq sequence seqno seqnr")

// sequence says whether a column has such numbers.
func sequence(c schema.Column) bool {
	return slices.Contains(strings.Fields("int bigint varint"), c.Type) && hasWord(c.Name, sequenceNames)
}

// slow says whether the rows are the history of a thing that seldom changes, or its versions.
func slow(t *schema.Table) bool {
	first := t.Of(schema.Clustering)[0]
	happens := firstOf(growingNames, words(t.Name)...) != "" // as in event_history
	return hasWord(first.Name, []string{"version", "revision"}) && (!happens || !sequence(first)) ||
		!happens && rowsAre(t, strings.Fields("history ownership version revision")) && !isID(first) &&
			!slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool {
				return !isID(c) || !hasWord(c.Name, strings.Fields("product item asset book document property unit article page"))
			})
}

// personNouns are words in the names of columns of people.
var personNouns = strings.Fields("user member customer author sender follower participant subscriber person player account profile fan viewer reader")

// joined says whether a partition is of a person, and its rows are what that person is a member of.
func joined(t *schema.Table) bool {
	person := func(c schema.Column) bool { return hasWord(c.Name, personNouns) }
	return slices.ContainsFunc(t.Of(schema.PartitionKey), person) && !slices.ContainsFunc(t.Of(schema.Clustering), person)
}

// Of crowdNames one thing may have any number, unless it is one of smallNames.
var (
	crowdNames = strings.Fields("followers reactions upvotes members subscribers fans likes stars votes viewers participants")
	smallNames = strings.Fields("team crew family household band squad project board committee")
	// catalogNames are words for what somebody offers, of which one maker or kind has a few more each year.
	catalogNames = strings.Fields("product item book movie film course recipe property listing vehicle model")
	// Of circleNames there are seldom many.
	circleNames = strings.Fields("members participants")
	// A time in one of mediaNames that is of placeNames is not one of the clock.
	mediaNames = strings.Fields("video audio recording clip movie film episode song track podcast")
	placeNames = strings.Fields("frame frames keyframe cue cues caption captions subtitle subtitles lyrics chapter chapters offset")
)

// ofOne says whether a partition is of one thing, by its id or its unique name.
func ofOne(t *schema.Table) bool {
	return !slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool {
		return lastWord(c.Name) != "id" && !isUUID(c) && !slices.Contains(uniqueNames, lastWord(c.Name))
	})
}

// constant says whether all that is written to a table is in one partition, which the statements name.
func (r *review) constant(t *schema.Table) bool {
	return r.onePartition(t, func(x sent) bool { return x.Verb != "SELECT" }) != ""
}

// onePartition is the name of the partition that all statements of a kind name by its text, or empty.
func (r *review) onePartition(t *schema.Table, of func(sent) bool) (partition string) {
	for _, x := range r.sent[t] {
		if !of(x) {
			continue
		}
		name, fixed := partitionOf(x.Query, t)
		if !fixed || partition != "" && name != partition {
			return ""
		}
		partition = name
	}
	return partition
}

// constantText matches a value that code has as a constant, and no user enters.
var constantText = regexp.MustCompile(`^([a-z_]+|\d)$`)

// sameAlways says whether all that inserts into a table names the same partition by its text, and the rest of the row
// by marks.
func (r *review) sameAlways(t *schema.Table) bool {
	marked := true
	partition := r.onePartition(t, func(x sent) bool {
		s, insert := x.Statement.(*ast.Insert)
		marked = marked && (!insert || slices.ContainsFunc(s.Values, func(v ast.Term) bool { return v.Kind == ast.Mark }))
		return insert
	})
	return marked && partition != "" && constantText.MatchString(strings.TrimPrefix(partition, t.Keyspace+"\n"))
}

// hashed says whether a bucket is a hash by its name, and so does not grow with time. A column called bucket may be of
// either kind.
func hashed(c schema.Column) bool {
	return strings.HasPrefix(c.Derived, "hash") ||
		hasWord(c.Name, strings.Fields("shard hash slice"))
}

// stated says whether what is expected of a table is: what comes of it is said by the rules on size.
func (r *review) stated(t *schema.Table) bool {
	return slices.ContainsFunc(r.schema.Volumes, func(v schema.Volume) bool { return v.Table == t.ID && !v.Measured })
}

// alwaysTTL says whether all that is written to a table has a TTL, or the table has one that a tool fills in.
func (r *review) alwaysTTL(t *schema.Table) bool {
	if template(t.Options["default_time_to_live"]) {
		return true
	}
	return r.written(t) && !r.asks(t, func(q *schema.Query) bool { return (q.Verb == "INSERT" || q.Verb == "UPDATE") && q.TTL == 0 })
}

// foresight is how far ahead the rules on size look.
const foresight = 5 * schema.Year

// size reports tables whose stated volume reaches a limit, unless it reaches a worse one, of which another rule tells.
func size(what string, limit, worse float64) func(*review) {
	of := func(s estimate.Size) float64 {
		return map[string]float64{"rows": s.Rows, "bytes": s.Bytes, "cells": s.Cells}[what]
	}
	return func(r *review) {
		for _, v := range r.schema.Volumes {
			if !r.once([2]any{v.Table, v.Measured}) { // of several volumes the first counts
				continue
			}
			if t := r.byID[v.Table]; t != nil { // DN507 tells of columns that it does not have
				unknown := func(name string, _ float64) bool { return t.Column(name) == nil }
				for _, stated := range []*map[string]float64{&v.Width, &v.Elements, &v.Filled} {
					*stated = maps.Clone(*stated)
					maps.DeleteFunc(*stated, unknown)
				}
			}
			e, err := estimate.New(r.schema, v)
			if err != nil { // also of a table that the schema does not have
				continue
			}
			at := of(e.At(foresight))
			after, ok := e.When(func(s estimate.Size) bool { return of(s) >= limit })
			if !ok || after > foresight || at >= worse {
				continue
			}
			when := "reaches " + count(limit) + " " + what + " after " + estimate.Age(after)
			if after <= time.Minute {
				when = "has " + count(at) + " " + what
			}
			r.finding(r.byID[v.Table], "divide the partition: a bucket of time, one more key column, or a second table for what is large",
				"the largest partition %s", when)
		}
	}
}

// count writes a number for people, for example 2 billion.
func count(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, " billion"}, {1e6, " million"}, {1e3, " thousand"}} {
		if n >= u.size {
			return fmt.Sprintf("%.3g%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g", n)
}

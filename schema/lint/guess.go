package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// This file guesses from names and types what a column is for, and package guess which tables are of one entity. A
// schema that says so is believed: see Column.Domain.

// role is what a column of a partition key does for it.
type role uint8

const (
	identity role = iota // many values, rows spread
	few                  // few values, all rows in few partitions
	moment               // a time: rows of now are in one partition
	spread               // a bucket that divides what would be one partition
)

var (
	fewNames = strings.Fields(`status state type kind category country gender level priority severity flag active enabled
		deleted language currency role color colour class grade stage phase region confirmed blood letter weekday season genre
		protocol platform stub dummy fake`)
	momentNames = strings.Fields(`date day hour month year week minute quarter yyyymmdd yyyymm period`)
	// Abbreviations, and words of other languages, which may be English words of something else: they have to be the whole
	// name.
	fewWhole    = strings.Fields(`zustand kategorie land sprache estado tipo categoria pais idioma situacao statut etat categorie pays langue`)
	momentWhole = strings.Fields(`yr mon mth wk dy hr hh dd yyyy datum stunde monat jahr woche dia mes semana hora fecha jour heure mois semaine annee
		jahr_monat anio ano ano_mes annee_mois`)
	spreadNames   = strings.Fields(`bucket timebucket shard partition chunk segment hash slice`)
	numerousNames = strings.Fields(`email mail phone id uuid token hash url uri username login address ip serial key sku isbn
		confirmation reference tracking`)
)

// Words for what the rows of a table are, in the singular.
var (
	// Rows of accountNames are known by a name or an address that is to be one's alone.
	accountNames = strings.Fields(`user account member customer client profile player employee student author person login
		credential tenant subscriber guest patient teacher doctor driver seller vendor merchant owner admin operator agent voter votante usuario cliente`)
	// Of referenceNames there are as many as somebody has thought of: they do not grow with use.
	referenceNames = strings.Fields(`template rate config configuration setting option label translation permission role definition type
		category country currency language plan tariff parameter variable`)
	// Of ownedNames one thing has a few, of growingNames more each day.
	ownedNames = strings.Fields(`alarm playlist list board project channel room team group address card account device sensor photo image picture
		file attachment setting preference filter wallet profile webhook rule contact pet vehicle site collection album folder client app dashboard`)
	growingNames = strings.Fields("message event log transaction notification audit entry reading measurement activity")
)

// rowsOf is the word for what a row of a table is, in the singular: message, of chat_messages_by_user.
func rowsOf(t *schema.Table) string {
	thing, _, _ := guess.Cut(t.Name)
	return guess.Singular(lastWord(strings.ReplaceAll(thing, "user_agent", "useragent"))) // which is nobody
}

// rowsAre says whether what a row of a table is, is in a list.
func rowsAre(t *schema.Table, list []string) bool { return slices.Contains(list, rowsOf(t)) }

// reference says whether a table holds what somebody has thought of, and not what happens.
func reference(t *schema.Table) bool {
	return rowsAre(t, referenceNames) && !slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool { return instant(c) || clock(c) })
}

// isID says whether a column is the id of something, by its name.
func isID(c schema.Column) bool {
	return slices.Contains([]string{"id", "uuid", "guid"}, lastWord(c.Name))
}

// isUUID says whether a column is of uuids.
func isUUID(c schema.Column) bool { return c.Type == "uuid" || c.Type == "timeuuid" }

// anyID says whether a column has ids, by its name or its type.
func anyID(c schema.Column) bool { return isID(c) || isUUID(c) }

// lookup says whether a partition is of one thing, which is found by its name or its token. The key may have its id as
// well.
func lookup(t *schema.Table) bool {
	part := t.Of(schema.PartitionKey)
	if len(part) != 1 || slices.ContainsFunc(t.Of(schema.Clustering), func(c schema.Column) bool { return !isID(c) && !hasWord(c.Name, secretNames) }) {
		return false
	}
	own := slices.Contains(words(part[0].Name), rowsOf(t)) && hasWord(part[0].Name, secretNames)
	return own || slices.Contains(uniqueNames, lastWord(part[0].Name)) && rowsAre(t, accountNames)
}

// secretNames are words of what is made up for one thing.
var secretNames = strings.Fields("token code hash secret")

// manyValues is a domain that is no longer small.
const manyValues = 10_000

// roleOf guesses what a column of a partition key does.
func roleOf(c schema.Column) role {
	words := words(c.Name)
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	whole := func(list []string) bool {
		return slices.Contains(list, strings.ToLower(c.Name)) || !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(list, w) })
	}
	short := slices.Contains([]string{"text", "ascii", "tinyint", "smallint", "int", "bigint"}, c.Type)
	switch {
	case c.Derived != "" && c.Buckets > 0:
		return spread
	case c.Derived != "":
		return moment
	case c.Domain >= manyValues:
		return identity
	case short && has(spreadNames) && !has(momentNames):
		return spread
	case c.Domain > 0:
		return few
	case c.Type == "date" || c.Type == "timestamp" || c.Type == "time" || short && (has(momentNames) || whole(momentWhole)):
		return moment
	case len(words) > 2 && words[len(words)-1] == "id": // status_page_id
		return identity
	case c.Type == "boolean" || c.Type == "tinyint",
		short && (has(fewNames) || whole(fewWhole) || len(words) > 0 && (words[0] == "is" || words[0] == "has")):
		return few
	}
	return identity
}

// instant says whether a column holds a moment.
func instant(c schema.Column) bool { return c.Type == "timeuuid" || c.Type == "timestamp" }

// numerous says whether a column has so many values that an index entry is for a row or two.
func numerous(c schema.Column) bool {
	if c.Domain > 0 {
		return c.Domain >= manyValues
	}
	switch c.Type {
	case "uuid", "timeuuid", "timestamp", "inet", "blob", "decimal", "double", "float", "duration", "varint":
		return true
	}
	if roleOf(c) == few {
		return false
	}
	return hasWord(c.Name, numerousNames)
}

// family is tables that hold the same thing: declared so, or named so.
type family struct {
	schema.Entity
	tables   []*schema.Table // those that the schema has
	guessed  bool
	base     int                // of a guessed one: which of the tables is the base table, or -1
	together bool               // a batch writes all of them
	identity []string           // columns that tell entities apart
	keys     map[string][2]bool // of columns, once [family.keyed] is asked
}

// families gives those that the schema knows, and those that table names suggest.
func (r *review) families() []family {
	var out []family
	known := make(map[schema.ID]bool)
	for _, e := range r.schema.Entities {
		x := family{Entity: e}
		if base := r.byID[e.Tables[0]]; len(e.ID) > 0 {
			x.identity = e.ID
		} else if base != nil {
			x.identity = names(keyColumns(base))
		}
		for _, id := range e.Tables {
			known[id] = true
			if t := r.byID[id]; t != nil {
				x.tables = append(x.tables, t)
			}
		}
		out = append(out, x)
	}
	for _, e := range guess.Entities(r.schema) {
		tables := each.Of(e.Tables, func(id schema.ID) *schema.Table { return r.byID[id] })
		out = append(out, family{Entity: e.Entity, base: e.Base, tables: tables, guessed: true, identity: []string{e.Name + "_id"}})
	}
	for i := range out {
		e := &out[i]
		if e.keys = make(map[string][2]bool); e.guessed {
			e.identify()
		}
	}
	return out
}

// identify takes a column of UUIDs that alone is the key of a table for what tells the entities apart, if all tables
// have it.
func (f *family) identify() {
	var id string
	for _, t := range f.tables {
		if key := keyColumns(t); len(key) == 1 && isUUID(key[0]) && key[0].Name != "id" {
			if id != "" {
				return
			}
			id = key[0].Name
		}
	}
	if id != "" && !slices.ContainsFunc(f.tables, func(t *schema.Table) bool { return t.Column(id) == nil }) {
		f.identity = []string{id}
	}
}

// members gives the tables of entities, each with its entity.
func (r *review) members(yield func(*family, *schema.Table) bool) {
	for i := range r.entities {
		for _, t := range r.entities[i].tables {
			if !yield(&r.entities[i], t) {
				return
			}
		}
	}
}

// inKey says whether a column is in the primary key of a table.
func inKey(t *schema.Table, column string) bool {
	c := t.Column(column)
	return c != nil && (c.Kind == schema.PartitionKey || c.Kind == schema.Clustering)
}

// single says whether a partition of the table holds one entity only: its identity is in the partition key.
func (r *review) single(t *schema.Table) bool {
	return slices.ContainsFunc(r.entities, func(e family) bool {
		return len(e.identity) > 0 && slices.Contains(e.Tables, t.ID) && !slices.ContainsFunc(e.identity, func(name string) bool {
			return !slices.ContainsFunc(e.called(t, name), func(name string) bool {
				c := t.Column(name)
				return c != nil && c.Kind == schema.PartitionKey
			})
		})
	})
}

// Package decide is about writes that depend on rows as they are: what has to hold is decided before the rest of the
// write is sent, or with it. Each kind of decision is a package of its own, which fills in a [Protocol]; what several
// kinds need is here.
package decide

import (
	"slices"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Decision is what has to hold before the rest of a write is sent. The errors of the write have it, and several
// goroutines may resume these at the same time, so it is data, and does not change once it is sent.
type Decision struct {
	*Protocol
	Parts     []*entity.Conditional // by change: all hold, or nothing is applied
	Mutations []*statement.Mutation // what is applied with them, if the decision is all of the write
	Tables    []string              // of the entity, with their keyspaces, where the query tables follow the base row
}

// New is the decision of a change.
func New(protocol *Protocol, c *entity.Conditional) *Decision {
	d := &Decision{Protocol: protocol, Parts: []*entity.Conditional{c}}
	if !protocol.Versions {
		return d
	}
	d.Tables = []string{c.Condition.Keyspace + "." + c.Condition.Table}
	for i := range c.Mutations {
		if name := c.Mutations[i].Keyspace + "." + c.Mutations[i].Table; !slices.Contains(d.Tables, name) {
			d.Tables = append(d.Tables, name)
		}
	}
	return d
}

// Add makes a change a part of the decision, or says why it cannot be one.
func (d *Decision) Add(c *entity.Conditional) error {
	if err := d.Join(d.Parts[0], c); err != nil {
		return err
	}
	d.Parts = append(d.Parts, c)
	return nil
}

// First is the condition of the first change.
func (d *Decision) First() *entity.Condition { return d.Parts[0].Condition }

// Version is the version of the rows afterwards, or zero if rows of this kind have no version.
func (d *Decision) Version() (none gocql.UUID) {
	if d.Versions {
		return d.First().Version
	}
	return none
}

// Row names the base row of the first change, for [Ends].
func (d *Decision) Row() string {
	c := d.First()
	return c.Keyspace + "." + c.Table + "." + c.Base().Key()
}

// Inserts says whether one of the changes is an insert.
func (d *Decision) Inserts() bool {
	return slices.ContainsFunc(d.Parts, func(one *entity.Conditional) bool { return one.Condition.Kind == entity.Insert })
}

// Follows says whether a table is a query table that anyone who meets the entity brings to the state of its base row.
// The other tables of the write are of other entities.
func (d *Decision) Follows(keyspace, table string) bool {
	return d.Followed && slices.Contains(d.Tables, keyspace+"."+table)
}

// Place is a table.
type Place struct{ Keyspace, Table string }

// Places are the tables that the decision is about, each once. Base tables come first.
func (d *Decision) Places() []Place {
	var places []Place
	for _, c := range d.Parts {
		places = append(places, Place{c.Condition.Keyspace, c.Condition.Table})
	}
	for _, m := range d.Mutations {
		places = append(places, Place{m.Keyspace, m.Table})
	}
	return each.Once(places)
}

// PlacesOf are the tables that a condition writes. The table of its own row comes first.
func PlacesOf(c *entity.Conditional) []Place {
	places := []Place{{c.Condition.Keyspace, c.Condition.Table}}
	for _, k := range slices.Concat(c.Claims, c.Releases) {
		places = append(places, Place{k.Keyspace, k.Table})
	}
	return places
}

// PlaceOf is the keyspace of a table that the decision is about, and whether it is one of a rotation.
func (d *Decision) PlaceOf(name string) (keyspace string, rotates bool) {
	for _, c := range d.Parts {
		for _, place := range PlacesOf(c) {
			if place.Table == name {
				return place.Keyspace, false
			}
		}
	}
	for _, m := range d.Mutations {
		if m.Table == name {
			return m.Keyspace, m.Rotates
		}
	}
	return "", false
}

package history

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/writer"
)

// unsound holds what the clients were told in errors against what the tables show.
func (c *checker[T]) unsound() {
	for _, i := range c.images {
		if i.write.Contradiction != "" {
			c.find(Unsound, &c.tables[0], nil, i.write.Contradiction, "one truth", i)
		}
		if i.timestamp == 0 {
			continue
		}
		var shown, lacking []string
		for t := range c.tables {
			p := &c.tables[t]
			switch i.write.of(p.Name) {
			case writer.NotApplied:
				if i.puts() && len(c.at(i.timestamp)) == 1 && c.shows(t, i) {
					shown = append(shown, p.Name)
				}
			case writer.Applied:
				if i.write.Tables != nil && c.lacks(t, i) {
					lacking = append(lacking, p.Name)
				}
			case writer.Unknown, writer.Pending, writer.Conflict, writer.Taken, writer.Invalid, writer.NotFound: // the last four are of calls
			}
		}
		if shown != nil {
			c.find(Unsound, &c.tables[0], nil, "the row in "+strings.Join(shown, ", "), "it nowhere that was told to be without", i)
		}
		if lacking != nil {
			c.find(Unsound, &c.tables[0], nil, "neither the write nor a later one in "+strings.Join(lacking, ", "),
				"it in each table that was told to have it", i)
		}
	}
}

// shows says whether a table shows the row of a write, and not of another one.
func (c *checker[T]) shows(t int, i *image[T]) bool {
	p := &c.tables[t]
	return slices.ContainsFunc(c.rows[t], func(n int32) bool {
		r := &p.Rows[n]
		return r.time() == i.timestamp && p.matches(r, i.values, nil)
	})
}

// lacks says whether a table shows neither a write nor a later one.
func (c *checker[T]) lacks(t int, i *image[T]) bool {
	p := &c.tables[t]
	older, later := false, false
	for _, n := range c.rows[t] {
		if p.Rows[n].time() < i.timestamp {
			older = true
		} else {
			later = true
		}
	}
	if !i.puts() {
		return older
	}
	if !p.holds(i.values) {
		return false
	}
	return !later && !slices.ContainsFunc(c.images, func(d *image[T]) bool {
		if d.timestamp != 0 && d.timestamp <= i.timestamp || !d.possible() {
			return false
		}
		// One that puts the row elsewhere has removed it here, perhaps, though its own row has not arrived.
		of := d.write.of(p.Name)
		return !d.puts() || !p.holds(d.values) || of == writer.Unknown || of == writer.Pending
	})
}

// holds says whether an entity with these values has a row in the table.
func (p *place) holds(values map[string][]byte) bool {
	return !slices.ContainsFunc(p.key, func(k string) bool { return values[k] == nil })
}

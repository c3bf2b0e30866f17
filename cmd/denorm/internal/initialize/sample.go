package initialize

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/sample"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// A sample is read in so many places of the ring, at most 20 a second.
const (
	places        = 16
	pause         = 50 * time.Millisecond
	sampleTimeout = 10 * time.Second
)

// A column has few values if the rows of a sample, of which there are enough, have at most so many. Of text there must
// be many rows for each value: it may be a name.
const (
	fewValues   = 8
	enoughRows  = 20
	rowsOfAText = 10
)

// Samples reads at most so many rows of the base table of each entity. show is told how far it is, and "" at the end.
func (p *Plan) Samples(ctx context.Context, s *session.Session, rows int, show func(string)) (map[schema.ID]*Sample, error) {
	defer show("")
	out := make(map[schema.ID]*Sample)
	r := &sample.Reader{Reads: s.Reads(), Timeout: sampleTimeout, Places: places, Rows: (rows + places - 1) / places, Pause: pause}
	for i, e := range p.Entities {
		show(fmt.Sprintf("sampled %d of %d base tables", i, len(p.Entities)))
		if e.set.Counts {
			continue
		}
		seen, err := e.sample(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			seen = &Sample{Failed: err.Error()}
		}
		out[e.Tables[0].ID] = seen
	}
	return out, nil
}

// sample reads the columns that the base table has already.
func (e *Entity) sample(ctx context.Context, r *sample.Reader) (*Sample, error) {
	base, d := e.Tables[0].Table, e.declaration
	added := func(column string) bool { return base.Column(column) == nil }
	set, err := row(e.Name, slices.DeleteFunc(slices.Clone(e.fields), func(f field) bool { return added(f.column) }), declare.Declaration{
		Tables: d.Tables[:1], Types: d.Types, UserTypes: d.UserTypes, ReadOnly: d.ReadOnly, Versions: d.Versions,
		Stamps: slices.DeleteFunc(slices.Clone(d.Stamps), added),
	})
	if err != nil {
		return nil, err
	}
	keys := slices.Concat(each.Of(e.Decisions, func(d Decision) []string { return d.Columns })...)
	l := tablerow.Layouts(set)[0]
	seen, columns := &Sample{Values: make(map[string][]string)}, l.AllColumns()
	seen.Survey, err = r.Survey(ctx, l, base.Keyspace, base.String(), base.TTL(), func(cells [][]byte) {
		for _, column := range keys {
			i, known := slices.Index(columns, column), seen.Values[column]
			if i < 0 || cells[i] == nil || len(known) > fewValues {
				continue
			}
			if value := literal(base.Column(column).Type, cells[i]); !slices.Contains(known, value) {
				seen.Values[column] = append(known, value)
			}
		}
	})
	maps.DeleteFunc(seen.Values, func(column string, values []string) bool {
		slices.Sort(values)
		enough := enoughRows
		if leaves[base.Column(column).Type].text == "string" {
			enough = max(enough, rowsOfAText*len(values))
		}
		return len(values) > fewValues || values[0] == "" || seen.Rows < enough
	})
	return seen, err
}

// literal is a value as it is written in Go, of a type of which a column may have few values; else "".
func literal(cqlType string, data []byte) string {
	if !listed[cqlType] {
		return ""
	}
	value := reflect.New(leaves[cqlType].real)
	switch err := gocql.Unmarshal(cqltype.Must(cqlType).Info(), data, value.Interface()); {
	case err != nil:
		return ""
	case value.Elem().CanInt():
		return fmt.Sprintf("%T(%[1]d)", value.Elem().Interface())
	}
	return fmt.Sprintf("%#v", value.Elem().Interface())
}

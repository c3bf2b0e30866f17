package initialize

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/denorm-go/denorm/internal/declare"
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

// A column has few values if the rows of a sample, of which there are enough, have at most so many. Of text there must be
// many rows for each value: it may be a name.
const (
	fewValues   = 8
	enoughRows  = 20
	rowsOfAText = 10
)

// Samples reads at most so many rows of the base table of each entity. show is told how many base tables were read, of how many.
func (p *Plan) Samples(ctx context.Context, s *session.Session, rows int, show func(read, of int)) (map[schema.ID]*Sample, error) {
	out := make(map[schema.ID]*Sample)
	r := sample.New(s.Reads(), sampleTimeout)
	r.Places, r.Rows, r.Pause = places, (rows+places-1)/places, pause
	for i, e := range p.Entities {
		show(i, len(p.Entities))
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
	show(len(p.Entities), len(p.Entities))
	return out, nil
}

// sample reads the columns that the base table has already.
func (e *Entity) sample(ctx context.Context, r *sample.Reader) (*Sample, error) {
	base, d := e.Tables[0].Table, e.declaration
	added := func(column string) bool { return base.Column(column) == nil }
	set, err := row(e.Name, slices.DeleteFunc(slices.Clone(e.fields), func(f field) bool { return added(f.column) }), declare.Declaration{
		Tables: d.Tables[:1], Types: d.Types, UserTypes: d.UserTypes, ReadOnly: d.ReadOnly, Stamps: slices.DeleteFunc(slices.Clone(d.Stamps), added),
	})
	if err != nil {
		return nil, err
	}
	l := tablerow.Layouts(set)[0]
	surveyor, columns := tablerow.NewSurveyor(l), l.AllColumns()
	surveyor.Default = base.TTL()
	seen := &Sample{Values: make(map[string][]string)}
	values := make(map[string]map[string]bool)
	for _, d := range e.Decisions {
		values[d.Column] = make(map[string]bool)
	}
	err = r.Each(ctx, l, base.Keyspace, base.String(), func(cells [][]byte, now time.Time) {
		if !surveyor.Row(cells) {
			return
		}
		surveyor.Count(&seen.Survey, cells, now)
		for column, known := range values {
			if i := slices.Index(columns, column); len(known) <= fewValues && i >= 0 && cells[i] != nil {
				known[literal(base.Column(column).Type, cells[i])] = true
			}
		}
	})
	for column, known := range values {
		enough := enoughRows
		if slices.Contains([]string{"text", "varchar", "ascii"}, base.Column(column).Type) {
			enough = max(enough, rowsOfAText*len(known))
		}
		if len(known) > 0 && len(known) <= fewValues && !known[""] && seen.Rows >= enough {
			for text := range known {
				seen.Values[column] = append(seen.Values[column], text)
			}
			slices.Sort(seen.Values[column])
		}
	}
	return seen, err
}

// literal is a value as it is written in Go, of a type of which a column may have few values; else "".
func literal(cqlType string, data []byte) string {
	n := int64(0)
	for i, b := range data {
		if n = n<<8 | int64(b); i == 0 {
			n = int64(int8(b))
		}
	}
	switch cqlType {
	case "text", "varchar", "ascii":
		return strconv.Quote(string(data))
	case "boolean":
		return strconv.FormatBool(n != 0)
	case "tinyint", "smallint", "int", "bigint":
		return fmt.Sprintf("%s(%d)", leaves[cqlType].text, n)
	}
	return ""
}

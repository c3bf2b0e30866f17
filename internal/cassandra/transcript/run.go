package transcript

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

// raw is a value that the driver takes and gives as it is.
type raw struct{ Value }

// MarshalCQL implements gocql.Marshaler.
func (r raw) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return r.Bytes, nil }

// UnmarshalCQL implements gocql.Unmarshaler.
func (r *raw) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	r.Bytes = slices.Clone(data)
	if data != nil && r.Bytes == nil {
		r.Bytes = []byte{}
	}
	return nil
}

// Configure sets what a session must be like that runs steps.
func Configure(c *gocql.ClusterConfig) {
	c.Consistency, c.SerialConsistency = gocql.All, gocql.Serial
	c.DefaultTimestamp = false
	c.MaxPreparedStmts = 200_000
	c.PageSize = 0
}

// Run carries a step out.
func Run(ctx context.Context, session *gocql.Session, step Step) Reply {
	if step.Wait > 0 {
		select {
		case <-time.After(time.Duration(step.Wait) * time.Second):
		case <-ctx.Done():
		}
	}
	consistency, err := level(step.Level)
	if err != nil {
		return refused(err)
	}
	if step.Batch != "" {
		return batch(ctx, session, step, consistency)
	}
	var out Reply
	var state []byte
	for {
		q := session.Query(step.Statements[0].Text, arguments(step.Statements[0])...).WithContext(ctx).
			PageSize(step.PageSize).PageState(state).
			Consistency(consistency)
		if step.Timestamp != 0 {
			q.WithTimestamp(step.Timestamp)
		}
		if strings.Contains(step.Statements[0].Text, " IF ") {
			q.NoSkipMetadata() // of a conditional statement those of the prepared one say nothing
		}
		iter := q.Iter()
		state = iter.PageState()
		if err := out.add(iter); err != nil {
			return refused(err)
		}
		if len(state) == 0 {
			return out
		}
	}
}

// level is a consistency by its name.
func level(name string) (gocql.Consistency, error) {
	switch name {
	case "":
		return gocql.All, nil
	case "SERIAL":
		return gocql.Consistency(gocql.Serial), nil
	case "LOCAL_SERIAL":
		return gocql.Consistency(gocql.LocalSerial), nil
	}
	c, err := gocql.ParseConsistencyWrapper(name)
	if err != nil {
		return 0, fmt.Errorf("a step: %w", err)
	}
	return c, nil
}

func batch(ctx context.Context, session *gocql.Session, step Step, consistency gocql.Consistency) Reply {
	b := session.NewBatch(map[string]gocql.BatchType{
		"LOGGED": gocql.LoggedBatch, "UNLOGGED": gocql.UnloggedBatch, "COUNTER": gocql.CounterBatch,
	}[step.Batch]).WithContext(ctx)
	if step.Timestamp != 0 {
		b.WithTimestamp(step.Timestamp)
	}
	b.SerialConsistency(gocql.Serial)
	b.Cons = consistency
	for _, s := range step.Statements {
		b.Query(s.Text, arguments(s)...)
	}
	if step.Columns == nil {
		if err := session.ExecuteBatch(b); err != nil {
			return refused(err)
		}
		return Reply{}
	}
	return conditional(session, b, step.Columns)
}

// conditional carries a batch out that has conditions, and answers with the columns of some names. The driver scans the
// first row into a map before it shows the columns.
func conditional(session *gocql.Session, b *gocql.Batch, names []string) Reply {
	first := make(map[string]any)
	for _, name := range names {
		first[name] = new(raw)
	}
	applied, iter, err := session.MapExecuteBatchCAS(b, first)
	if err != nil {
		return refused(err)
	}
	out := Reply{Rows: [][]Value{{{Bytes: []byte{0}}}}}
	if applied {
		out.Rows[0][0].Bytes[0] = 1
	}
	for _, c := range iter.Columns()[1:] {
		r, ok := first[c.Name].(raw)
		if !ok {
			return Reply{Error: "an answer with a column that nobody expects: " + c.Name}
		}
		out.Rows[0] = append(out.Rows[0], r.Value)
	}
	if err := out.add(iter); err != nil {
		return refused(err)
	}
	out.Pages = []int{len(out.Rows)}
	return out
}

// add adds the rows of a page.
func (r *Reply) add(iter *gocql.Iter) error {
	columns := iter.Columns()
	dest := make([]any, 0, len(columns))
	first := r.Columns == nil
	for _, c := range columns {
		if first {
			r.Columns = append(r.Columns, Column{c.Name, spell(c.TypeInfo)})
		}
		n := 1
		if t, ok := c.TypeInfo.(gocql.TupleTypeInfo); ok {
			n = len(t.Elems)
		}
		for range n {
			dest = append(dest, new(raw))
		}
	}
	rows := 0
	for len(columns) > 0 && iter.Scan(dest...) {
		row := make([]Value, len(dest))
		for i := range dest {
			row[i] = dest[i].(*raw).Value
		}
		r.Rows = append(r.Rows, row)
		rows++
	}
	if len(columns) > 0 {
		r.Pages = append(r.Pages, rows)
	}
	return iter.Close()
}

func arguments(s Statement) []any {
	out := make([]any, len(s.Values))
	for i, v := range s.Values {
		if v.Unset {
			out[i] = gocql.UnsetValue
			continue
		}
		out[i] = raw{v}
	}
	return out
}

func refused(err error) Reply {
	if e, ok := driver.RequestError(err); ok {
		return Reply{Code: e.Code(), Error: e.Message()}
	}
	return Reply{Error: err.Error()}
}

// spell is a type with its parts.
func spell(t gocql.TypeInfo) string {
	switch t := t.(type) {
	case gocql.CollectionType:
		if t.Key != nil {
			return fmt.Sprintf("%s<%s, %s>", driver.TypeName(t.Type()), spell(t.Key), spell(t.Elem))
		}
		return fmt.Sprintf("%s<%s>", driver.TypeName(t.Type()), spell(t.Elem))
	case gocql.TupleTypeInfo:
		var parts []string
		for _, e := range t.Elems {
			parts = append(parts, spell(e))
		}
		return "tuple<" + strings.Join(parts, ", ") + ">"
	case gocql.UDTTypeInfo:
		var parts []string
		for _, e := range t.Elements {
			parts = append(parts, e.Name+" "+spell(e.Type))
		}
		return t.Name + "(" + strings.Join(parts, ", ") + ")"
	}
	return driver.TypeName(t.Type())
}

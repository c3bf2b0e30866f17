package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/gocql/gocql"
)

// types compares the user-defined types that a table needs with those of its keyspace. Column types name them and nothing
// more. What is different is reported with the table.
func (c *checker) types(keyspace string, t entity.TableDescription, add func(column, reason string, args ...any)) error {
	for _, declared := range t.Types {
		var live []entity.FieldDescription
		if err := askSchema(c.ctx, &c.w.retrier, func(ctx context.Context) (err error) {
			live, err = c.fields(ctx, keyspace, declared.Name)
			return err
		}); err != nil {
			return err
		}
		if live == nil {
			add("", "user-defined type %s does not exist", declared.Name)
			continue
		}
		if is, want := thawed(live), thawed(declared.Fields); !slices.Equal(is, want) {
			var advice strings.Builder
			for i := range min(len(live), len(declared.Fields)) {
				if f, l := declared.Fields[i], live[i]; f.Name == l.Name && is[i] != want[i] {
					advice.WriteString(c.advice("; of field "+f.Name+" that ", declared.Name, f.Name, l.Type))
				}
			}
			add("", "user-defined type %s is (%s), declared (%s)%s", declared.Name, fieldList(live), fieldList(declared.Fields), advice.String())
		}
	}
	return nil
}

// fields are those of a live user-defined type, nil if there is none.
func (c *checker) fields(ctx context.Context, keyspace, name string) ([]entity.FieldDescription, error) {
	var names, types []string
	err := c.session.Query(`SELECT field_names, field_types FROM system_schema.types WHERE keyspace_name = ? AND type_name = ?`,
		keyspace, name).WithContext(ctx).Consistency(gocql.One).RetryPolicy(nil).Scan(&names, &types)
	if errors.Is(err, gocql.ErrNotFound) {
		return nil, nil
	}
	if err == nil && len(names) != len(types) {
		err = fmt.Errorf("system_schema.types has %d names and %d types of the fields of %s", len(names), len(types), name)
	}
	if err != nil {
		return nil, err
	}
	out := make([]entity.FieldDescription, len(names))
	for i := range names {
		out[i] = entity.FieldDescription{Name: names[i], Type: types[i]}
	}
	return out, nil
}

func fieldList(fields []entity.FieldDescription) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.Name + " " + f.Type
	}
	return strings.Join(texts, ", ")
}

// thawed are fields without frozen<...>: inside a frozen value everything is, whether it says so or not.
func thawed(fields []entity.FieldDescription) []entity.FieldDescription {
	out := slices.Clone(fields)
	for i := range out {
		if t, err := cql.ParseType(out[i].Type); err == nil {
			out[i].Type = t.Thawed().String()
		}
	}
	return out
}

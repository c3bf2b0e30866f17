package catalog

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/gocql/gocql"
)

// row is a row of system_schema: strings, ints, floats and so on by column, nil for null.
type row map[string]any

// Rows are those of a table of system_schema, in the order of their keys within a keyspace: values encoded, by name of
// the column; a column that is missing is null. Other tables of the system have none.
func (s *Schema) Rows(table *Table) []map[string][]byte {
	if table.Keyspace != "system_schema" {
		return nil
	}
	var out []map[string][]byte
	for _, name := range slices.Sorted(maps.Keys(s.keyspaces)) {
		if name == virtual {
			continue
		}
		for _, r := range s.keyspaces[name].rows(table.Name) {
			encoded := make(map[string][]byte, len(r)+1)
			r["keyspace_name"] = name
			for column, value := range r {
				if b := table.Column(column).encode(value); b != nil {
					encoded[column] = b
				}
			}
			out = append(out, encoded)
		}
	}
	slices.SortStableFunc(out, func(a, b map[string][]byte) int {
		for _, c := range slices.Concat(table.Partition, table.Clustering) {
			if order := c.Type.Compare(a[c.Name], b[c.Name]); order != 0 {
				return order
			}
		}
		return 0
	})
	return out
}

func (k *Keyspace) rows(table string) []row {
	var out []row
	switch table {
	case "keyspaces":
		return []row{{"durable_writes": k.Durable, "replication": k.Replication}}
	case "types":
		for _, u := range k.types {
			var names, types []string
			for _, f := range u.fields {
				names, types = append(names, f.name), append(types, f.typ)
			}
			out = append(out, row{"type_name": u.name, "field_names": names, "field_types": types})
		}
	case "indexes":
		for _, i := range k.indexes {
			out = append(out, row{"table_name": i.table, "index_name": i.name, "kind": i.kind, "options": i.options})
		}
	case "tables":
		for _, t := range sorted(k.tables) {
			out = append(out, t.row())
		}
	case "views":
		for _, t := range sorted(k.views) {
			out = append(out, t.viewRow())
		}
	case "columns", "dropped_columns":
		for _, t := range slices.Concat(sorted(k.tables), sorted(k.views)) {
			if table == "columns" {
				out = append(out, t.columnRows()...)
			} else {
				out = append(out, t.droppedRows()...)
			}
		}
	}
	return out
}

// row is the row of a table in system_schema.tables.
func (t *Table) row() row {
	flags := []string{"compound"}
	if t.Counter {
		flags = append(flags, "counter")
	}
	r := row{
		"table_name": t.Name, "id": t.ID, "flags": flags,
		"dclocal_read_repair_chance": 0.0, "read_repair_chance": 0.0, // which have no meaning any more
	}
	maps.Copy(r, t.options)
	return r
}

func (t *Table) viewRow() row {
	r := t.row()
	delete(r, "table_name")
	delete(r, "flags")
	r["view_name"], r["base_table_id"], r["base_table_name"] = t.Name, t.view.base.ID, t.view.base.Name
	r["include_all_columns"], r["where_clause"] = t.view.all, t.view.where
	return r
}

func (t *Table) columnRows() []row {
	var out []row
	for _, c := range t.Columns {
		order := "none"
		if c.Kind == Clustering {
			order = "asc"
			if c.Descending {
				order = "desc"
			}
		}
		out = append(out, row{
			"table_name": t.Name, "column_name": c.Name, "column_name_bytes": []byte(c.Name), "clustering_order": order,
			"kind": c.Kind.String(), "position": c.Position, "type": c.Type.String(),
		})
	}
	return out
}

func (t *Table) droppedRows() []row {
	var out []row
	for _, d := range t.dropped {
		out = append(out, row{
			"table_name": t.Name, "column_name": d.name, "kind": d.kind.String(), "type": d.typ.String(), "dropped_time": 0,
		})
	}
	return out
}

// encode gives the bytes of a value in a row of the system.
func (c *Column) encode(value any) []byte {
	var elems [][][]byte
	switch v := value.(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	case gocql.UUID:
		return v.Bytes()
	case bool:
		if v {
			return []byte{1}
		}
		return []byte{0}
	case float64:
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(v))
	case int:
		return binary.BigEndian.AppendUint64(nil, uint64(v))[8-c.Type.Size():]
	case []string:
		for _, e := range v {
			elems = append(elems, [][]byte{[]byte(e)})
		}
		return collection(elems)
	case map[string]string:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			elems = append(elems, [][]byte{[]byte(key), []byte(v[key])})
		}
		return collection(elems)
	}
	return nil
}

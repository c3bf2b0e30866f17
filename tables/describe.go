package tables

// Description is what a set declares, for code that compares it with a live schema or draws it.
type Description struct {
	Entity string
	Atomic bool
	Tables []TableDescription // the base table first
}

// TableDescription is one table of a [Description].
type TableDescription struct {
	Name, Keyspace string // as declared
	Columns        []ColumnDescription
}

// ColumnDescription is one column of a [TableDescription].
type ColumnDescription struct {
	Name string
	Type string // CQL, as system_schema.columns spells it
	// Kind is "partition_key", "clustering" or "regular", and Position counts from 0 within the first two.
	Kind     string
	Position int
	Desc     bool // clustering order
}

// Described is a set of any row type.
type Described interface {
	Describe() Description
	Statements(table int, keyspace string) []string
}

// Describe gives the declaration as data.
func (s *Set[T]) Describe() Description {
	d := Description{Entity: s.def.entity, Atomic: s.def.atomic}
	for _, t := range s.def.tables {
		td := TableDescription{Name: t.name, Keyspace: t.keyspace}
		for n, i := range t.columns {
			c := ColumnDescription{Name: s.def.columns[i].name, Type: s.def.columns[i].cql.String(), Kind: "regular"}
			switch {
			case n < t.part:
				c.Kind, c.Position = "partition_key", n
			case n < len(t.key):
				c.Kind, c.Position, c.Desc = "clustering", n-t.part, t.desc[n]
			}
			td.Columns = append(td.Columns, c)
		}
		d.Tables = append(d.Tables, td)
	}
	return d
}

// Statements gives, for a table of the set in the given physical keyspace, the CQL texts that its mutations carry. A
// writer prepares them ahead.
func (s *Set[T]) Statements(table int, keyspace string) []string {
	st := s.def.tables[table].statements(keyspace)
	if s.def.expiry >= 0 {
		return []string{st.insert, st.insertTTL, st.delete}
	}
	return []string{st.insert, st.delete}
}

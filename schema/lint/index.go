package lint

import "github.com/denorm-go/denorm/schema"

var indexRules = []Rule{
	{
		Code: "DN401", Name: "index-high-cardinality", Severity: Error,
		Doc:   "A secondary index on a column with many values: each lookup asks every node for a row or two.",
		check: indexes,
	},
	{
		Code: "DN402", Name: "materialized-view", Severity: Warning,
		Doc:   "A materialized view: experimental, off by default since Cassandra 4, and nothing repairs a view that differs from its base.",
		check: views,
	},
}

func indexes(r *review) {
	for i := range r.schema.Indexes {
		x := &r.schema.Indexes[i]
		t := r.schema.Table(schema.ID{Keyspace: x.Keyspace, Name: x.Table})
		if t == nil || x.Class != "" {
			continue
		}
		if c := t.Column(x.Column()); c != nil && numerous(*c) {
			f := r.finding(t, "a query table with "+c.Name+" as its partition key", "index %s on %s, which has many values", x.Name, c.Name)
			f.Column = c.Name
			if x.At.Line > 0 {
				f.At = x.At
			}
		}
	}
}

func views(r *review) {
	for i := range r.schema.Views {
		v := &r.schema.Views[i]
		base := r.schema.Table(schema.ID{Keyspace: v.Keyspace, Name: v.Base})
		if base == nil {
			continue
		}
		f := r.finding(base, "a query table that the service writes itself", "materialized view %s", v.ID)
		if v.At.Line > 0 {
			f.At = v.At
		}
	}
}

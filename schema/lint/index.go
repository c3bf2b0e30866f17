package lint

import "github.com/denorm-go/denorm/schema"

func indexes(r *review) {
	for _, x := range r.schema.Indexes {
		t := r.byID[schema.ID{Keyspace: x.Keyspace, Name: x.Table}]
		if t == nil || x.Class != "" {
			continue
		}
		if c := t.Column(x.Column()); c != nil && numerous(*c) {
			f := r.finding(t, "a query table with "+c.Name+" as its partition key", "index %s on %s, which has many values", x.Name, c.Name)
			f.Column = c.Name
			f.at(x.At)
		}
	}
}

func views(r *review) {
	for _, v := range r.schema.Views {
		if base := r.byID[schema.ID{Keyspace: v.Keyspace, Name: v.Base}]; base != nil {
			r.finding(base, "a query table that the service writes itself", "materialized view %s", v.ID).at(v.At)
		}
	}
}

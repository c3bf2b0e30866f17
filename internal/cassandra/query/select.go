package query

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// Read is a prepared SELECT.
type Read struct {
	Columns   []Column // of the result
	table     *catalog.Table
	where     where
	selectors []selector
	limit     *term
	perLimit  *term
	reversed  bool
	sorted    bool // rows of several partitions by ORDER BY
	ordered   int  // by so many clustering columns
	distinct  bool
	count     bool
	wildcard  bool
	asked     []*catalog.Column // by the selectors
}

const needsFiltering = "Cannot execute this query as it might involve data filtering and thus may have unpredictable " +
	"performance. " +
	"If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING"

func (c *compiler) read(s *ast.Select) (*Read, error) {
	r := &Read{table: c.table, distinct: s.Distinct, wildcard: s.Columns == nil}
	if err := c.selectors(s, r); err != nil {
		return nil, err
	}
	var err error
	if r.where, err = c.relations(s.Where, true); err != nil {
		return nil, err
	}
	filtering := s.Filtering || c.table.System
	if err := r.where.placed(filtering); err != nil {
		return nil, r.where.byIndex(err)
	}
	if err := r.allowed(s); err != nil {
		return nil, err
	}
	if err := r.order(s.OrderBy); err != nil {
		return nil, err
	}
	if err := r.where.lookup(filtering); err != nil {
		return nil, r.where.byIndex(err)
	}
	for _, l := range []struct {
		term *ast.Term
		into **term
		name string
	}{{s.PerLimit, &r.perLimit, "[per_partition_limit]"}, {s.Limit, &r.limit, "[limit]"}} {
		if l.term == nil {
			continue
		}
		t, err := c.term(*l.term, l.name, intType)
		if err != nil {
			return nil, err
		}
		*l.into = &t
	}
	return r, nil
}

// allowed says whether what is selected goes together with the rest.
func (r *Read) allowed(s *ast.Select) error {
	if r.where.narrowed && r.onlyStatic() {
		return invalid("Cannot restrict clustering columns when selecting only static columns")
	}
	if r.distinct {
		if err := r.distinctly(s); err != nil {
			return err
		}
	}
	if r.count && s.PerLimit != nil {
		return invalid("PER PARTITION LIMIT is not allowed with aggregate queries.")
	}
	return nil
}

// onlyStatic says whether static columns are selected, and none but those and the partition key.
func (r *Read) onlyStatic() bool {
	static := false
	for _, c := range r.asked {
		if c.Kind != catalog.Static && c.Kind != catalog.PartitionKey {
			return false
		}
		static = static || c.Kind == catalog.Static
	}
	return static && !r.wildcard
}

// distinctly says whether SELECT DISTINCT is allowed.
func (r *Read) distinctly(s *ast.Select) error {
	if s.PerLimit != nil {
		return invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries")
	}
	regular := func(f filter) bool { return f.column.Kind == catalog.Regular }
	if r.where.narrowed || slices.ContainsFunc(r.where.filters, regular) {
		return invalid("SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.")
	}
	for _, c := range r.asked {
		if c.Kind != catalog.PartitionKey && c.Kind != catalog.Static {
			return invalid("SELECT DISTINCT queries must only request partition key columns and/or static columns (not %s)",
				c.Name)
		}
	}
	for _, c := range r.table.Partition {
		if r.scan() && !slices.Contains(r.asked, c) {
			return invalid("SELECT DISTINCT queries must request all the partition key columns (missing %s)", c.Name)
		}
	}
	return nil
}

// placed says whether the columns of the key are restricted in their order, as they must be without filtering.
func (w *where) placed(filtering bool) error {
	unbound := slices.Index(w.clustering, nil)
	skips := func(f filter) bool {
		return f.column.Kind == catalog.Clustering && unbound >= 0 && f.column.Position > unbound
	}
	given := len(w.partition) - count(w.partition, nil)
	switch at := slices.IndexFunc(w.filters, skips); {
	case filtering:
	case given > 0 && given < len(w.partition):
		return invalid(needsFiltering)
	case at >= 0 && (w.from != nil || w.to != nil):
		return invalid("Clustering column \"%s\" cannot be restricted (preceding column \"%s\" is restricted by a non-EQ "+
			"relation)",
			w.filters[at].column.Name, w.table.Clustering[unbound].Name)
	case at >= 0:
		return invalid("PRIMARY KEY column \"%s\" cannot be restricted as preceding column \"%s\" is not restricted",
			w.filters[at].column.Name, w.table.Clustering[unbound].Name)
	}
	return nil
}

func count(rs []*restriction, what *restriction) (n int) {
	for _, r := range rs {
		if r == what {
			n++
		}
	}
	return n
}

// lookup says whether the rows can be found without looking at others. What cannot becomes a filter, if that is
// allowed.
func (w *where) lookup(filtering bool) error {
	var missing string
	given := 0
	for i, r := range w.partition {
		if r != nil {
			given++
		} else if missing == "" {
			missing = w.table.Partition[i].Name
		}
	}
	scan := missing != ""
	narrowed := w.from != nil || w.to != nil || slices.ContainsFunc(w.clustering, func(r *restriction) bool {
		return r != nil
	})
	switch {
	case len(w.tokens) > 0 && given > 0:
		return unsupported("token() together with a restriction of the partition key")
	case !filtering && (scan && (given > 0 || narrowed) || len(w.filters) > 0):
		return invalid(needsFiltering)
	case scan && given > 0:
		for i, r := range w.partition {
			if r != nil {
				w.filters = append(w.filters, filter{column: r.column, operator: "IN", terms: r.terms, marked: r.marked})
				w.partition[i] = nil
			}
		}
	}
	return nil
}

// byIndex is why rows cannot be found without looking at others, unless an index would find them: nothing fills those.
func (w *where) byIndex(err error) error {
	if w.indexed == "" {
		return err
	}
	return unsupported("a SELECT by the index of column %s without ALLOW FILTERING", w.indexed)
}

func (r *Read) order(by []ast.Order) error {
	if len(by) == 0 {
		return nil
	}
	if slices.Contains(r.where.partition, nil) {
		return invalid("ORDER BY is only supported when the partition key is restricted by an EQ or an IN.")
	}
	r.sorted = in(r.where.partition)
	if r.sorted && r.distinct {
		return invalid("SELECT DISTINCT queries must only request partition key columns and/or static columns (not %s)",
			by[0].Column)
	}
	at := 0
	for i, o := range by {
		column := r.table.Column(o.Column)
		switch {
		case column == nil:
			return invalid("Undefined column name %s in table %s.%s", o.Column, r.table.Keyspace, r.table.Name)
		case column.Kind != catalog.Clustering:
			return invalid("Order by is currently only supported on the clustered columns of the PRIMARY KEY, got %s", o.Column)
		}
		for ; at != column.Position; at++ {
			if at > column.Position || r.where.clustering[at] == nil || r.where.clustering[at].list {
				return invalid("Order by currently only supports the ordering of columns following their declared order in the " +
					"PRIMARY KEY")
			}
		}
		at++
		reversed := o.Descending != column.Descending
		if i > 0 && reversed != r.reversed {
			return invalid("Unsupported order by relation")
		}
		r.reversed = reversed
	}
	r.ordered = at
	return nil
}

func (r *Read) scan() bool { return slices.Contains(r.where.partition, nil) }

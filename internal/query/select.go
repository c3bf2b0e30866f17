package query

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/replica"
	"github.com/denorm-go/denorm/internal/ring"
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

// Source is where the partitions of a table are read.
type Source interface {
	// Keys are the partitions that there may be, in no order. It is asked for a scan only.
	Keys() []string
	// Partition is the partition of a key, or if row is not nil, as much of it as matters to that row; nil if there is none. It
	// must not be changed.
	Partition(key string, row [][]byte) (*replica.Partition, error)
}

const needsFiltering = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. " +
	"If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING"

func (c *compiler) read(s *cql.Select) (*Read, error) {
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
		return nil, err
	}
	if err := r.allowed(s); err != nil {
		return nil, err
	}
	if err := r.order(s.OrderBy); err != nil {
		return nil, err
	}
	if err := r.where.lookup(filtering); err != nil {
		return nil, err
	}
	for _, l := range []struct {
		term *cql.Term
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
func (r *Read) allowed(s *cql.Select) error {
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
func (r *Read) distinctly(s *cql.Select) error {
	if s.PerLimit != nil {
		return invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries")
	}
	regular := func(f filter) bool { return f.column.Kind == catalog.Regular }
	if r.where.narrowed || slices.ContainsFunc(r.where.filters, regular) {
		return invalid("SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.")
	}
	for _, c := range r.asked {
		if c.Kind != catalog.PartitionKey && c.Kind != catalog.Static {
			return invalid("SELECT DISTINCT queries must only request partition key columns and/or static columns (not %s)", c.Name)
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
		return invalid("Clustering column \"%s\" cannot be restricted (preceding column \"%s\" is restricted by a non-EQ relation)",
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

// lookup says whether the rows can be found without looking at others. What cannot becomes a filter, if that is allowed.
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
	narrowed := w.from != nil || w.to != nil || slices.ContainsFunc(w.clustering, func(r *restriction) bool { return r != nil })
	switch {
	case len(w.tokens) > 0 && given > 0:
		return unsupported("token() beside a restriction of the partition key")
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

func (r *Read) order(by []cql.Order) error {
	if len(by) == 0 {
		return nil
	}
	if slices.Contains(r.where.partition, nil) {
		return invalid("ORDER BY is only supported when the partition key is restricted by an EQ or an IN.")
	}
	r.sorted = in(r.where.partition)
	if r.sorted && r.distinct {
		return invalid("SELECT DISTINCT queries must only request partition key columns and/or static columns (not %s)", by[0].Column)
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
				return invalid("Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY")
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

// Page is how much of a result is asked for.
type Page struct {
	Size  int    // rows; 0 for all
	State []byte // of the page before, nil for the first one
}

// run is a SELECT being executed.
type run struct {
	*Read
	env      *Env
	left     int // rows up to the limit
	perLimit int
	page     int
	rows     [][][]byte
	places   [][][]byte // of the rows, if they are to be sorted
	counted  int64
	last     position // of the last row
}

// position is where a page ends.
type position struct {
	key    string
	row    [][]byte
	inside int // rows of the partition that were given
}

// Run gives a page of the result, and the state for the next one, nil after the last.
func (r *Read) Run(env *Env, source Source, page Page) (rows [][][]byte, state []byte, err error) {
	e := &run{Read: r, env: env, page: page.Size}
	if e.left, err = r.bound(r.limit, env); err != nil {
		return nil, nil, err
	}
	if e.perLimit, err = r.bound(r.perLimit, env); err != nil {
		return nil, nil, err
	}
	if r.sorted && e.page > 0 {
		if err := e.pageable(); err != nil {
			return nil, nil, err
		}
	}
	if e.page <= 0 || r.count || r.sorted {
		e.page = math.MaxInt
	}
	if r.distinct {
		e.perLimit = 1
	}
	limit := e.left
	if r.sorted {
		e.left = math.MaxInt
	}
	keys, err := e.keys(source)
	if err != nil {
		return nil, nil, err
	}
	var from *position
	if page.State != nil {
		if from, e.left, err = r.parse(page.State); err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(keys, func(k string) bool { return e.reached(k, from.key, keys) })
		if i < 0 {
			return nil, nil, nil
		}
		keys = keys[i:]
	}
	for i, key := range keys {
		if from != nil && from.key != key {
			from = nil
		}
		if err := e.partition(source, key, from); err != nil {
			return nil, nil, err
		}
		if e.left == 0 {
			break
		}
		if len(e.rows) >= e.page && !e.exhausted(key, i == len(keys)-1) {
			return e.rows, r.state(e), nil
		}
	}
	if r.count {
		return [][][]byte{{bigint(e.counted)}}, nil, nil
	}
	if r.sorted {
		e.sort()
		e.rows = e.rows[:min(len(e.rows), limit)]
	}
	return e.rows, nil, nil
}

// exhausted says of a page that is full whether the partition was the last one and is known to have no more. Cassandra does not
// look for another row, so that the last page may be empty (AbstractQueryPager.isExhausted).
func (e *run) exhausted(key string, last bool) bool {
	return last && !e.scan() && (e.last.key != key || e.last.inside >= e.perLimit || len(e.last.row) == 0)
}

// sort brings the rows of several partitions into the order of ORDER BY.
func (e *run) sort() {
	order := make([]int, len(e.rows))
	for i := range order {
		order[i] = i
	}
	prefix := func(row [][]byte) [][]byte { return row[:min(len(row), e.ordered)] }
	slices.SortStableFunc(order, func(a, b int) int {
		c := e.table.Compare(prefix(e.places[a]), prefix(e.places[b]))
		if c == 0 { // a static row alone comes first
			c = min(len(e.places[a]), 1) - min(len(e.places[b]), 1)
		}
		if e.reversed {
			return -c
		}
		return c
	})
	rows := make([][][]byte, len(order))
	for i, at := range order {
		rows[i] = e.rows[at]
	}
	e.rows = rows
}

// pageable says that rows of several partitions cannot be sorted page by page, unless the restrictions leave none anyway,
// and they are not counted.
func (e *run) pageable() error {
	spans, err := e.spans()
	if err == nil && (e.count || slices.ContainsFunc(spans, func(s replica.Range) bool { return !s.Empty(e.table.Compare) })) {
		err = invalid("Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either " +
			"remove the ORDER BY or the IN and sort client side, or disable paging for this query")
	}
	return err
}

// reached says whether a partition is at, or in a scan after, the one where the page before has ended.
func (e *run) reached(key, last string, keys []string) bool {
	if key == last {
		return true
	}
	return e.scan() && !slices.Contains(keys, last) && ring.Token([]byte(key)) > ring.Token([]byte(last))
}

func (r *Read) bound(t *term, env *Env) (int, error) {
	if t == nil {
		return math.MaxInt32, nil
	}
	b, unset, err := t.eval(env)
	switch {
	case err != nil || unset:
		return math.MaxInt32, err
	case len(b) != 4:
		return 0, invalid("Invalid limit value")
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	if n <= 0 {
		return 0, invalid("LIMIT must be strictly positive")
	}
	return n, nil
}

func (r *Read) scan() bool { return slices.Contains(r.where.partition, nil) }

// keys are the partitions that are read, in the order of the result.
func (e *run) keys(source Source) ([]string, error) {
	if !e.scan() {
		values, err := product(e.env, e.where.partition)
		if err != nil {
			return nil, err
		}
		keys := make([]string, len(values))
		for i, v := range values {
			if keys[i], err = RoutingKey(v); err != nil {
				return nil, err
			}
		}
		return keys, nil
	}
	var tokens []int64
	for i := range e.where.tokens {
		b, unset, err := e.where.tokens[i].term.eval(e.env)
		if err != nil || unset || len(b) != 8 {
			return nil, invalid("Invalid null token value for column partition key token")
		}
		tokens = append(tokens, int64(binary.BigEndian.Uint64(b)))
	}
	type placed struct {
		token int64
		key   string
	}
	var all []placed
	for _, key := range source.Keys() {
		token := ring.Token([]byte(key))
		if e.within(token, tokens) {
			all = append(all, placed{token, key})
		}
	}
	slices.SortFunc(all, func(a, b placed) int {
		if a.token != b.token {
			if a.token < b.token {
				return -1
			}
			return 1
		}
		if a.key < b.key {
			return -1
		}
		return 1
	})
	keys := make([]string, len(all))
	for i, p := range all {
		keys[i] = p.key
	}
	return keys, nil
}

func (e *run) within(token int64, limits []int64) bool {
	for i, l := range limits {
		ok, _ := compare(e.where.tokens[i].operator, bigintType, bigint(token), bigint(l), false)
		if !ok {
			return false
		}
	}
	return true
}

// single is the row that is asked for, nil if it may be several.
func (e *run) single() ([][]byte, error) {
	rs := e.where.clustering
	if len(rs) == 0 || slices.ContainsFunc(rs, func(r *restriction) bool { return r == nil || r.list }) {
		return nil, nil
	}
	rows, err := product(e.env, rs)
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// partition adds the rows of one partition, as many as the page has room for.
func (e *run) partition(source Source, key string, from *position) error {
	row, err := e.single()
	if err != nil {
		return err
	}
	p, err := source.Partition(key, row)
	if err != nil || p == nil || from != nil && e.distinct {
		return err
	}
	given := 0
	if from != nil {
		given = from.inside
	}
	v := &View{table: e.table, key: SplitKey(e.table, key), static: p.Static, now: e.env.seconds()}
	found := given > 0
	err = e.each(p, from, func(r *replica.Row) (bool, error) {
		if !r.Live(v.now) {
			return true, nil
		}
		found = true
		v.row = r
		ok, err := e.passes(v)
		if err != nil || !ok {
			return true, err
		}
		if given >= e.perLimit || e.left == 0 || len(e.rows) >= e.page {
			return false, nil
		}
		given++
		e.give(v, position{key, r.Key, given})
		return !e.distinct, nil
	})
	if err != nil || found || !e.static(p, v.now) || len(e.rows) >= e.page {
		return err
	}
	v.row = nil
	ok, err := e.passes(v)
	if ok {
		e.give(v, position{key, nil, 1})
	}
	return err
}

// static says whether a partition without rows gives one of its static columns alone.
func (e *run) static(p *replica.Partition, now int64) bool {
	narrowed := e.where.from != nil || e.where.to != nil || len(e.where.equalities()) > 0
	return p.Static != nil && p.Static.Live(now) && !narrowed
}

func (e *run) passes(v *View) (bool, error) {
	for i := range e.where.filters {
		if ok, err := e.where.filters[i].holds(e.env, v, false); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func (e *run) give(v *View, at position) {
	e.left--
	e.last = at
	if e.count {
		e.counted++
		e.left++
		return
	}
	out := make([][]byte, len(e.selectors))
	for i, get := range e.selectors {
		out[i] = get(e.env, v)
	}
	e.rows = append(e.rows, out)
	if e.sorted {
		e.places = append(e.places, at.row)
	}
}

// each visits the rows of a partition that the clustering columns restrict it to, in the order of the result, up to the first
// for which visit says no.
func (e *run) each(p *replica.Partition, from *position, visit func(*replica.Row) (bool, error)) error {
	spans, err := e.spans()
	if err != nil {
		return err
	}
	for _, span := range spans {
		rows := within(p.Rows, span, e.table.Compare)
		for i := range rows {
			row := rows[i]
			if e.reversed {
				row = rows[len(rows)-1-i]
			}
			if from != nil && e.before(row.Key, from.row) {
				continue
			}
			if more, err := visit(row); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// spans are the ranges of rows that the clustering columns are restricted to, in the order of the result.
func (e *run) spans() ([]replica.Range, error) {
	prefixes, err := product(e.env, e.where.equalities())
	if err != nil {
		return nil, err
	}
	spans := make([]replica.Range, len(prefixes))
	for i, prefix := range prefixes {
		if spans[i], err = e.where.span(e.env, prefix); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(spans, func(a, b replica.Range) int { return e.table.Compare(a.From.Prefix, b.From.Prefix) })
	if e.reversed {
		slices.Reverse(spans)
	}
	return spans, nil
}

// before says whether a row was in a page that ends with last.
func (e *run) before(row, last [][]byte) bool {
	c := e.table.Compare(row, last)
	return c == 0 || (c < 0) != e.reversed
}

// within are the rows of a range.
func within(rows []*replica.Row, span replica.Range, compare replica.Compare) []*replica.Row {
	search := func(b replica.Bound, after bool) int {
		i, _ := slices.BinarySearchFunc(rows, b.Prefix, func(r *replica.Row, prefix [][]byte) int {
			if c := compare(r.Key, prefix); c != 0 || !after {
				if c == 0 {
					return 1
				}
				return c
			}
			return -1
		})
		return i
	}
	first, end := search(span.From, !span.From.Inclusive), search(span.To, span.To.Inclusive)
	return rows[first:max(first, end)]
}

// state encodes where a page has ended.
func (r *Read) state(e *run) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(e.left))
	b = binary.BigEndian.AppendUint32(b, uint32(e.last.inside))
	return appendParts(b, append([][]byte{[]byte(e.last.key)}, e.last.row...))
}

func (r *Read) parse(state []byte) (*position, int, error) {
	if len(state) < 8 {
		return nil, 0, invalid("Invalid value for the paging state")
	}
	parts, err := split(tupleType, state[8:])
	if err != nil || len(parts) == 0 {
		return nil, 0, invalid("Invalid value for the paging state")
	}
	return &position{string(parts[0]), parts[1:], int(binary.BigEndian.Uint32(state[4:]))}, int(binary.BigEndian.Uint32(state)), nil
}

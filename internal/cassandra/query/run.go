package query

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/denorm-go/denorm/internal/murmur3"
)

// Source is where the partitions of a table are read.
type Source interface {
	// Keys are the partitions that there may be, in no order. It is asked for a scan only.
	Keys() ([]string, error)
	// Several is asked before several partitions are read by one command, which is not done if it is an error.
	Several() error
	// Partition is the partition of a key, or if row is not nil, as much of it as matters to that row; nil if there is
	// none. It must not be changed.
	Partition(key string, row [][]byte) (*replica.Partition, error)
}

// run is a SELECT being executed.
type run struct {
	*Read
	env      *Env
	left     int // rows up to the limit
	perLimit int
	page     int
	spans    []replica.Range // of rows, in each partition
	rows     [][][]byte
	places   [][][]byte // of the rows, if they are to be sorted
	counted  int64
	last     position // of the last row
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
	if e.spans, err = e.restricted(); err != nil {
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
	var keys []string
	if len(e.spans) > 0 { // else nothing is read (SelectStatement.getSliceCommands)
		if keys, err = e.keys(source); err != nil {
			return nil, nil, err
		}
	}
	if len(keys) > 1 && !e.scan() && !r.count && (page.Size <= 0 || limit <= page.Size) {
		// else a pager reads one after the other
		if err := source.Several(); err != nil {
			return nil, nil, err
		}
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

// exhausted says of a page that is full whether the partition was the last one and is known to have no more. Cassandra
// does not look for another row, so that the last page may be empty (AbstractQueryPager.isExhausted).
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
	stored, err := source.Keys()
	if err != nil {
		return nil, err
	}
	for _, key := range stored {
		token := murmur3.Token([]byte(key))
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

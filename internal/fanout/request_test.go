package fanout

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// Mutations of one keyspace with equal partition keys travel together, others do not, and the base table comes first.
func TestRequestsOfPartitions(t *testing.T) {
	t.Parallel()
	m := func(keyspace, table, key string) *statement.Mutation {
		return &statement.Mutation{Keyspace: keyspace, Table: table, PartitionKey: []byte(key)}
	}
	for name, test := range map[string]struct {
		in   []*statement.Mutation
		want [][]string
	}{
		"none":           {},
		"one":            {[]*statement.Mutation{m("k", "a", "1")}, [][]string{{"a"}}},
		"equal keys":     {[]*statement.Mutation{m("k", "a", "1"), m("k", "b", "1")}, [][]string{{"a", "b"}}},
		"other key":      {[]*statement.Mutation{m("k", "a", "1"), m("k", "b", "2")}, [][]string{{"a"}, {"b"}}},
		"other keyspace": {[]*statement.Mutation{m("k", "a", "1"), m("l", "b", "1")}, [][]string{{"a"}, {"b"}}},
		"apart": {
			[]*statement.Mutation{m("k", "a", "1"), m("k", "b", "2"), m("k", "c", "1")},
			[][]string{{"a", "c"}, {"b"}},
		},
		"a key and its x": {[]*statement.Mutation{m("k", "a", "1"), m("k", "b", "1x")}, [][]string{{"a"}, {"b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := slices.Clone(test.in)
			requests := Requests(test.in)
			if len(requests) != len(test.want) {
				t.Fatalf("%d requests, want %d", len(requests), len(test.want))
			}
			for i := range requests {
				if got := requests[i].tables(); !slices.Equal(got, test.want[i]) {
					t.Errorf("request %d: %v, want %v", i, got, test.want[i])
				}
				if requests[i].Outcome != retry.NotApplied {
					t.Error("what was not sent is not applied")
				}
			}
			if !slices.Equal(in, test.in) {
				t.Error("the mutations given were moved: two requests share them")
			}
		})
	}
}

// The tables of a large batch are found in a time that grows with their number: a stored error may have 100,000.
func TestNamesOfManyTables(t *testing.T) {
	t.Parallel()
	const n = 50_000
	var batch Request
	for i := range 2 * n {
		batch.Mutations = append(batch.Mutations, &statement.Mutation{Table: "t" + strconv.Itoa(i%n)})
	}
	start := time.Now()
	if names := batch.tables(); len(names) != n || names[7] != "t7" {
		t.Errorf("%d names, the eighth %s", len(names), names[7])
	}
	if took := time.Since(start); took > 10*time.Second { // compared with each other they take minutes
		t.Errorf("took %v", took)
	}
}

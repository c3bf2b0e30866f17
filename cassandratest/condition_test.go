package cassandratest

import (
	"maps"
	"slices"
	"testing"

	"github.com/gocql/gocql"
)

// IF CONTAINS compares with an element, which is not a collection: short ones, and 0, are elements as others are.
func TestConditionContains(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create(`CREATE TABLE shop.bags (id int PRIMARY KEY, label text, numbers set<int>, tags set<text>, steps list<text>, prices map<text, int>)`)
		const row = `INSERT INTO shop.bags (id, numbers, tags, steps, prices) VALUES (1, {0, 7}, {'', 'b', 'red'}, ['a', 'bc'], {'x': 0, '': 5})`
		if err := s.Query(row).Exec(); err != nil {
			t.Fatal(err)
		}
		holds := map[string]bool{
			"numbers CONTAINS 0": true, "numbers CONTAINS 7": true, "numbers CONTAINS 1": false,
			"tags CONTAINS ''": true, "tags CONTAINS 'b'": true, "tags CONTAINS 'red'": true, "tags CONTAINS 'c'": false, "tags CONTAINS 'blue'": false,
			"steps CONTAINS 'a'": true, "steps CONTAINS 'bc'": true, "steps CONTAINS ''": false,
			"prices CONTAINS 0": true, "prices CONTAINS 1": false,
			"prices CONTAINS KEY 'x'": true, "prices CONTAINS KEY ''": true, "prices CONTAINS KEY 'y'": false,
		}
		for _, condition := range slices.Sorted(maps.Keys(holds)) {
			applied, err := s.Query(`UPDATE shop.bags SET label = 'new' WHERE id = 1 IF ` + condition).MapScanCAS(map[string]any{})
			if applied != holds[condition] || err != nil {
				t.Errorf("IF %s: %v, %v", condition, applied, err)
			}
		}
		if err := s.Query(`UPDATE shop.bags SET label = 'new' WHERE id = 1 IF tags CONTAINS ?`, nil).Exec(); !is(err, gocql.ErrCodeInvalid) {
			t.Errorf("IF CONTAINS null: %v", err)
		}
	})
}

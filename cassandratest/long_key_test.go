package cassandratest

import (
	"strings"
	"testing"

	"github.com/gocql/gocql"
)

// Clustering columns that are too long together are rejected, also in a batch and a DELETE, but not in a lightweight
// transaction, a SELECT and the DELETE of a range (ModificationStatement.addUpdates, ClusteringPrefix.validate).
func TestClusteringTooLong(t *testing.T) {
	bubble(t, func(t trial, c *Cluster, s *gocql.Session) {
		c.Create(`CREATE TABLE shop.files (disk int, dir text, name text, size int, PRIMARY KEY (disk, dir, name))`)
		const message = "Key length of 65536 is longer than maximum of 65535"
		dir := strings.Repeat("d", 40_000)
		insert := `INSERT INTO shop.files (disk, dir, name, size) VALUES (1, ?, ?, 1)`
		for name, test := range map[string]struct {
			text     string
			rejected bool
		}{
			"insert":      {insert, true},
			"update":      {`UPDATE shop.files SET size = 2 WHERE disk = 1 AND dir = ? AND name = ?`, true},
			"delete":      {`DELETE FROM shop.files WHERE disk = 1 AND dir = ? AND name = ?`, true},
			"several":     {`DELETE FROM shop.files WHERE disk = 1 AND dir = ? AND name IN (?, '')`, true},
			"a range":     {`DELETE FROM shop.files WHERE disk = 1 AND dir = ? AND name > ?`, false},
			"a read":      {`SELECT size FROM shop.files WHERE disk = 1 AND dir = ? AND name = ?`, false},
			"transaction": {insert + " IF NOT EXISTS", false},
		} {
			for size, rejected := range map[int]bool{25_535: false, 25_536: test.rejected} {
				err := s.Query(test.text, dir, strings.Repeat("n", size)).Exec()
				if rejected != is(err, gocql.ErrCodeInvalid) || rejected && err.Error() != message || !rejected && err != nil {
					t.Errorf("%s, %d bytes: %v", name, 40_000+size, err)
				}
			}
		}
		b := s.NewBatch(gocql.LoggedBatch)
		b.Query(insertNote, 1, "milk")
		b.Query(insert, dir, strings.Repeat("n", 25_536))
		if err := s.ExecuteBatch(b); !is(err, gocql.ErrCodeInvalid) {
			t.Error(err)
		}
		if got := noteAt(t, s, gocql.All, 1); got != "" {
			t.Errorf("%q of a batch that is rejected", got)
		}
	})
}

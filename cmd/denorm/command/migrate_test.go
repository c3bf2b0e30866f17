package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
)

// Names of keyspaces and names in a cluster are not read as statements of a migration, nor as commands of a CI service.
func TestMigrationOfNamesIsNoStatement(t *testing.T) {
	t.Parallel()
	c := cassandratest.Listen(t, 1)
	c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}", "CREATE TABLE shop.users (id int PRIMARY KEY)")
	host := fmt.Sprintf("%s:%d", c.Config().Hosts[0], c.Config().Port)
	file := filepath.Join(t.TempDir(), "a.cql")
	text := "CREATE TABLE \"shop\nDROP KEYSPACE shop;\n--\".t (a int PRIMARY KEY);\nCREATE TABLE shop.users (id int PRIMARY KEY, \"\n::add-mask::x\" int);"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, err := run(t, nil, "ddl", "--migrate", "--hosts", host, file)
	if head, _, _ := strings.Cut(out, "\n"); !strings.HasPrefix(head, `-- `) || !strings.Contains(head, `shop\nDROP KEYSPACE shop;`) || strings.Contains(out, "\n::") {
		t.Errorf("%v: %s", err, out)
	}
}

package command

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// adopt --copy copies lists before it adopts, one of them into two columns, says how many, and copies none the next
// time.
func TestAdoptCopy(t *testing.T) {
	t.Parallel()
	startSignals()
	type album struct {
		ID, Owner    string
		Notes, Pages []string
		Words        map[string]struct{}
		UpdatedAt    int64
	}
	declared := schema.Must(schema.Declare(schema.Sets(tables.Must(tables.New[album]("album",
		tables.Table{Name: "albums", PartKey: []string{"id"}}, tables.Table{Name: "albums_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
		tables.ReadOnly("notes"), tables.Type("pages", "frozen<list<text>>"), tables.Stamp("updated_at"))))))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create(declared.In(map[string]string{"": "shop"}).Statements()...)
		live := c.Config()
		live.Keyspace = "shop"
		s, err := live.CreateSession()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		for _, table := range []string{"albums", "albums_by_owner"} {
			err := s.Query("INSERT INTO "+table+" (id, owner, notes) VALUES ('a', 'ann', ['x', 'y']) USING TIMESTAMP ?", time.Now().Add(-time.Hour).UnixMicro()).
				DefaultTimestamp(false).Exec()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []struct{ format, says string }{{"text", "lists copied: 2; kept, as the column was written later: 0\n"}, {"json", `"copied": 0,`}} {
			var out bytes.Buffer
			root := New(Declared(declared), func(on *config) {
				on.session = append(on.session, session.Adjust(func(g *gocql.ClusterConfig) { g.Dialer = c.Config().Dialer }))
			})
			root.SetOut(&out)
			root.SetErr(&out)
			root.SetArgs([]string{
				"adopt", "album", "--writers", time.Now().Add(-time.Minute).Format(time.RFC3339), "--copy", "notes=pages", "--copy", "notes=words", "--format", want.format,
				"--hosts", net.JoinHostPort(live.Hosts[0], strconv.Itoa(live.Port)), "--keyspace", "shop", "--settle", "8s",
			})
			if err := root.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), want.says) {
				t.Errorf("%v\n%s", err, out.String())
			}
		}
	})
}

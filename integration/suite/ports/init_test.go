package ports_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cmd/denorm/command"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/nodes"
)

// On real nodes denorm init finds the entities of the services, and what their rows say. It declares what the ports
// declare.
func TestInit(t *testing.T) {
	t.Parallel()
	const rows = 20
	for name, c := range map[string]struct {
		tables       []string
		plant        func(p *port)
		report, sets []string
	}{
		"shop": {shopTables, func(p *port) {
			p.by("INSERT INTO orders (order_id, user_id, status, address) VALUES (?, ?, 'open', 'a')", gocql.TimeUUID(), gocql.MustRandomUUID())
			p.by("INSERT INTO holds (hold_id, sku, quantity) VALUES (?, 'a', 1) USING TTL 3600", gocql.MustRandomUUID())
		}, []string{
			"2 entities, 0 tables alone", "entity order (a guess)", "entity hold (a guess)", "null in 20 of 20 rows that were read: total",
			"rows expire: 20 of 20 rows that were read end by a TTL",
		}, []string{`// tables.OneOf("status", "open"), //`, "// tables.UnstampedRows(), //", `tables.ExpiresAt("expires_at"),`}},
		"visibility": {visibilityTables, func(p *port) {
			p.must(visibilityByHand{p.hand}.closed(p.Context(), aRun().close(1), time.Hour))
		}, []string{
			"1 entities, 1 tables alone", "write times in milliseconds: 20 of 20 rows", "rows expire: 20 of 20 rows", "open_executions: no other table",
		}, []string{`tables.ID("domain_id", "run_id"),`, `tables.ExpiresAt("expires_at"),`}},
		"chat": {chatTables, func(p *port) {
			m := aMessage(gocql.MustRandomUUID(), gocql.MustRandomUUID(), "a")
			m.Attachments = []string{"a.png"}
			p.saidByHand(m)
			p.joinedByHand(member{ChannelID: m.ChannelID, UserID: m.AuthorID, Role: "guest"})
			p.invitedByHand(invitation{Code: m.MessageID.String(), ChannelID: m.ChannelID, ExpiresAt: time.Now().Add(time.Hour)})
		}, []string{"4 entities, 0 tables alone", "rows expire: 20 of 20 rows"}, []string{
			`tables.ID("message_id"),`, `tables.ReadOnly("attachments"),`, `Columns: []string{"channel_id", "bucket", "content"}`,
			`tables.Type("reactions", "set<text>"),`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, nodes.Cassandra, c.tables)
			for range rows {
				c.plant(p)
			}
			dir := t.TempDir()
			p.must(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/service\n"), 0o600))
			var out strings.Builder
			root := command.New()
			root.SetOut(&out)
			root.SetArgs([]string{
				"init", "--hosts", strings.Join(cluster.Hosts(t), ","), "--keyspace", p.Keyspace, "--sample", "800", "--out", filepath.Join(dir, "sets"),
			})
			p.must(root.ExecuteContext(t.Context()))
			sets, err := os.ReadFile(filepath.Join(dir, "sets", "sets.go"))
			p.must(err)
			for text, wants := range map[string][]string{out.String(): c.report, string(sets): c.sets} {
				for _, want := range wants {
					if !strings.Contains(text, want) {
						t.Errorf("no %q in:\n%s", want, text)
					}
				}
			}
		})
	}
}

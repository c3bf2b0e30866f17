package command_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/cmd/denorm/command"
)

const (
	// Tables without a finding of note but for the notes below: the key of items_by_state has a name that is taken for one
	// of few values.
	itemTables = `CREATE TABLE shop.items (item_id uuid PRIMARY KEY, state text, title text);
CREATE TABLE shop.items_by_state (state text, item_id uuid, title text, PRIMARY KEY (state, item_id));
CREATE TABLE shop.things (thing_id uuid PRIMARY KEY, state text);
CREATE TABLE shop.things_by_title (title text, kind text, PRIMARY KEY (title, kind));
`
	// What is said of them, each of which is found to be wrong or has an effect.
	itemNotes = `-- Queries of the service.
USE shop;
-- denorm:domain items_by_state.state 200000
-- denorm:entity thing things things_by_title
-- denorm:volume items rows=1000
-- denorm:ignore DN201 things_by_title the title is unique
-- denorm:ignore DN101 things nothing is found
-- denorm:entity none nothing
-- denorm:volume nowhere rows=7
-- denorm:domain things.stat 3
-- denorm:domain thinks.state 3
SELECT * FROM items_by_state WHERE state = ?;
SELECT nothing FROM items WHERE item_id = ?;
`
)

// Notes and queries of a file are about tables that another file, or only the cluster, has; what is wrong is found in
// the file that says it.
func TestNotesOnTablesOfOtherFilesAndOfClusters(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	created, notes := write("tables.cql", itemTables), write("notes.cql", itemNotes)
	c := cassandratest.Listen(t, 1)
	c.Create(append([]string{"CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}"},
		strings.Split(strings.TrimSuffix(itemTables, ";\n"), ";\n")...)...)
	hosts := net.JoinHostPort(c.Config().Hosts[0], strconv.Itoa(c.Config().Port))
	unqualified := write("unqualified.cql", strings.Replace(itemNotes, "USE shop;", "", 1))
	for name, from := range map[string]struct {
		args  []string
		notes string
	}{
		"two files":                        {[]string{created, notes}, notes},
		"the other way round":              {[]string{notes, created}, notes},
		"a cluster":                        {[]string{"--hosts", hosts, notes}, notes},
		"a cluster and its keyspace":       {[]string{"--hosts", hosts, "--keyspace", "shop", unqualified}, unqualified},
		"a cluster and the tables as well": {[]string{"--hosts", hosts, created, notes}, notes},
	} {
		out, code, err := run(t, nil, append([]string{"lint", "--format", "text"}, from.args...)...)
		if code != command.ExitFound {
			t.Errorf("%s: exit code %d, %v", name, code, err)
		}
		for _, want := range []string{
			":7: note DN001 shop.things unused-ignore",
			":8: warning DN506 shop.nothing unknown-table",
			":9: warning DN506 shop.nowhere unknown-table",
			":10: warning DN507 shop.things unknown-column",
			":11: warning DN506 shop.thinks unknown-table",
			":13: error DN507 shop.items unknown-column",
		} {
			if !strings.Contains(out, from.notes+want) {
				t.Errorf("%s: no %s in\n%s", name, want, out)
			}
		}
		if strings.Contains(out, "DN101 shop.items_by_state") || !strings.Contains(out, "1 suppressed") {
			t.Errorf("%s: the notes have no effect:\n%s", name, out)
		}
		if strings.Count(out, from.notes+":") != strings.Count(out, "notes.cql:")+strings.Count(out, "unqualified.cql:") {
			t.Errorf("%s: another file is named:\n%s", name, out)
		}
	}
	if out, _, _ := run(t, nil, "lint", created); !strings.Contains(out, "error DN101 shop.items_by_state") {
		t.Errorf("without the notes the tables have no finding:\n%s", out)
	}
	for _, args := range [][]string{{"diagram", created, notes}, {"diagram", "--hosts", hosts, notes}} {
		if out, code, err := run(t, nil, args...); code != 0 || !strings.Contains(out, `>same row<`) {
			t.Errorf("%v: exit code %d, %v\n%s", args, code, err, out)
		}
	}
}

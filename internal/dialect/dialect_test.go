package dialect

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		local map[string]any
		want  Server
	}{
		"nothing":             {nil, ""},
		"Apache Cassandra":    {map[string]any{"cluster_name": "Test Cluster", "release_version": "5.0.9"}, ""},
		"another type":        {map[string]any{"cluster_name": 1, "dse_version": 2}, ""},
		"no version of DSE":   {map[string]any{"cluster_name": "Test Cluster", "dse_version": ""}, ""},
		"DataStax Enterprise": {map[string]any{"cluster_name": "Test Cluster", "dse_version": "6.8.0"}, DSE},
		"Astra DB":            {map[string]any{"cluster_name": "cndb", "dse_version": "6.8.0"}, Astra},
		"ScyllaDB":            {map[string]any{"cluster_name": "Test Cluster", "supported_features": ""}, ScyllaDB},
		"Amazon Keyspaces":    {map[string]any{"cluster_name": "Amazon Keyspaces"}, Keyspaces},
		"Azure Cosmos DB":     {map[string]any{"cluster_name": "CosmosProd"}, CosmosDB},
	} {
		if got := Of(test.local); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The page names each server.
func TestServersAreOnThePage(t *testing.T) {
	t.Parallel()
	page := servers(t)
	for _, server := range []Server{ScyllaDB, DSE, Astra, Keyspaces, CosmosDB} {
		if !strings.Contains(page, strings.TrimPrefix(string(server), "DataStax ")) {
			t.Errorf("%s is not in docs/ref/servers.md", server)
		}
	}
}

// The table says of each version whether it was tested there, and of another server only what an address says.
func TestCellsOfServers(t *testing.T) {
	t.Parallel()
	page := servers(t)
	_, table, ok := strings.Cut(page, "\n| relied on |")
	if !ok {
		t.Fatal("docs/ref/servers.md has no table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	version := regexp.MustCompile("^(tested|documented|unknown)$")
	elsewhere := regexp.MustCompile(`^(-|((ScyllaDB|Astra DB|Keyspaces|Cosmos DB): [^:]*\]\[[a-z0-9-]+\][^:]*)+)$`)
	rows := strings.Split(table, "\n")[2:]
	if len(rows) < 15 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 4 || !version.MatchString(cells[1]) || !version.MatchString(cells[2]) ||
			!elsewhere.MatchString(cells[3]) {
			t.Errorf("%d cells: %s", len(cells), row)
		}
	}
	defined, used := make(map[string]bool), make(map[string]bool)
	for _, found := range regexp.MustCompile(`(?m)^\[([a-z0-9-]+)\]: https://`).FindAllStringSubmatch(page, -1) {
		defined[found[1]] = true
	}
	for _, found := range regexp.MustCompile(`\]\[([a-z0-9-]+)\]`).FindAllStringSubmatch(page, -1) {
		used[found[1]] = true
	}
	if !maps.Equal(defined, used) {
		t.Errorf("addresses %v\nused      %v", slices.Sorted(maps.Keys(defined)), slices.Sorted(maps.Keys(used)))
	}
}

// servers is docs/ref/servers.md.
func servers(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/ref/servers.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

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

// Each doubt says where it is from and what to do, and the page that lists them has its address.
func TestDoubtsHaveSources(t *testing.T) {
	t.Parallel()
	page := servers(t)
	address := regexp.MustCompile(`https://[^\s,;)]+`)
	for server, doubts := range doubts {
		for use, d := range doubts {
			addresses := address.FindAllString(d.Reason+" "+d.Do, -1)
			if len(addresses) == 0 {
				t.Errorf("%s, use %d: no address: %s", server, use, d.Reason)
			}
			for _, a := range addresses {
				if !strings.Contains(page, ": "+a+"\n") {
					t.Errorf("%s, use %d: %s is not in docs/ref/servers.md", server, use, a)
				}
			}
			if (d.Option == "") == (d.Do == "") {
				t.Errorf("%s, use %d: an option or what to do, and not both: %+v", server, use, d)
			}
		}
	}
	for _, server := range clusters {
		if !strings.Contains(page, strings.TrimSuffix(strings.TrimPrefix(string(server), "DataStax "),
			" for Apache Cassandra")) {
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
	elsewhere := regexp.MustCompile(`^(-|((ScyllaDB|Astra DB|Keyspaces|Cosmos DB)\*?: [^:]*\]\[[a-z0-9-]+\][^:]*)+)$`)
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

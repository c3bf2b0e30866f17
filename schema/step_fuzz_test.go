package schema

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzSteps: whatever a text has, and whether the cluster has it already or not, it is planned or is an error.
func FuzzSteps(f *testing.F) {
	for _, pattern := range []string{"testdata/systems/*.cql", "lint/testdata/corpus/*.cql"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Add("CREATE TABLE k.t (a int PRIMARY KEY); CREATE TABLE k.t (a int); CREATE TABLE k.t (a int PRIMARY KEY, a int)")
	f.Add("CREATE TABLE k.t (a int PRIMARY KEY); CREATE INDEX ON k.t (a); CREATE INDEX ON k.t (a); " +
		"ALTER TABLE k.t ADD b int; DROP INDEX k.x")
	f.Add("ALTER KEYSPACE k WITH replication = {'class': 'a'}; " +
		"ALTER KEYSPACE k WITH replication = {'class': 'b'} AND durable_writes = false")
	f.Add("CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE a IS NOT NULL PRIMARY KEY (a); " +
		"CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE a IS NOT NULL PRIMARY KEY (a, a)")
	f.Fuzz(func(_ *testing.T, text string) {
		steps, err := readSteps("k", []Source{{File: "f", Text: text}})
		if err != nil {
			return
		}
		live := fuzzed(steps)
		_ = plan(live, steps)
		for i := range steps {
			if after, err := steps[i].on(live, steps[i].statement, true); err == nil {
				live = after
			}
			if i == len(steps)/2 || i == len(steps)-1 {
				_ = plan(live, steps)
			}
		}
	})
}

// fuzzed is a cluster with the keyspaces of steps.
func fuzzed(steps []Step) *Schema {
	s := &Schema{}
	for _, name := range keyspacesOf(steps) {
		s.Keyspaces = append(s.Keyspaces, Keyspace{Name: name, Replication: map[string]string{"class": "a"}})
	}
	return s
}

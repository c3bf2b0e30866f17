package files

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// workflow is what the tests look at of a workflow.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn         string `yaml:"runs-on"`
		TimeoutMinutes int    `yaml:"timeout-minutes"`
		Strategy       struct{ Matrix map[string][]string }
		Env            map[string]string
		Steps          []struct {
			Uses, Run string
			With      map[string]string
		}
	}
}

func loadWorkflow(t *testing.T, name string) workflow {
	t.Helper()
	data, err := os.ReadFile("../../../.github/workflows/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

var (
	pinned = regexp.MustCompile(`^[\w-]+/[\w-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})$`)
	target = regexp.MustCompile(`\bmake ([a-z-]+)`)
)

// A job that runs forever, an action that changes under one's feet or a target that was renamed is found here.
func TestWorkflowSteps(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, file := range []string{"ci.yml", "nightly.yml"} {
		w := loadWorkflow(t, file)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions %v, want to read contents", file, w.Permissions)
		}
		for name, job := range w.Jobs {
			if job.TimeoutMinutes == 0 || job.RunsOn == "" || strings.HasSuffix(job.RunsOn, "latest") {
				t.Errorf("job %s runs on %q for %d minutes", name, job.RunsOn, job.TimeoutMinutes)
			}
			for _, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") {
					t.Errorf("job %s has a step that neither uses nor runs something, or both: %+v", name, step)
				}
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("job %s uses %s, which is not pinned", name, step.Uses)
				}
				for _, match := range target.FindAllStringSubmatch(step.Run, -1) {
					targets = append(targets, match[1])
					if !strings.Contains(string(makefile), "\n"+match[1]+":") {
						t.Errorf("job %s calls make %s, which is not in the Makefile", name, match[1])
					}
				}
			}
		}
	}
	for _, want := range []string{"lint", "rules", "platforms", "unit", "race", "integration", "proofs", "long"} {
		if !slices.Contains(targets, want) {
			t.Errorf("no job calls make %s", want)
		}
	}
}

// The versions are those that the README names: the two newest Go releases, Cassandra 5.0, which the tests of this project run on,
// and 4.1, which only this workflow runs them on as well. The nodes are in containers.
func TestWorkflowVersions(t *testing.T) {
	t.Parallel()
	jobs := loadWorkflow(t, "ci.yml").Jobs
	if got := jobs["unit"].Strategy.Matrix["go"]; len(got) != 2 {
		t.Errorf("Go %v, want two releases", got)
	}
	integration := jobs["integration"]
	if got, want := integration.Strategy.Matrix["cassandra"], []string{"4.1", "5.0"}; !slices.Equal(got, want) {
		t.Errorf("Cassandra %v, want %v", got, want)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, supported, _ := strings.Cut(string(readme), "\n## Supported versions\n")
	supported, _, _ = strings.Cut(supported, "\n## ")
	for _, version := range integration.Strategy.Matrix["cassandra"] {
		if !strings.Contains(supported, version) {
			t.Errorf("the README does not name Cassandra %s among the supported versions", version)
		}
	}
	for name, want := range map[string]string{
		"CASSANDRA_VERSION": "${{ matrix.cassandra }}", "DENORM_MODE": "compose", "DENORM_JAEGER_URL": "http://127.0.0.1:16686",
	} {
		if got := integration.Env[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	newest := jobs["unit"].Strategy.Matrix["go"][1]
	for _, step := range integration.Steps {
		if version := step.With["go-version"]; version != "" && version != newest {
			t.Errorf("integration tests run on Go %s, want the newest, %s", version, newest)
		}
	}
}

package files

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

const workflows = "../../../.github/workflows/"

// workflow is what the tests look at of a workflow.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Uses           string // another workflow, in place of steps
		Permissions    map[string]string
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
	data, err := os.ReadFile(workflows + name)
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
	uses   = regexp.MustCompile(`(?m)^ *(?:- )?uses: (.*)$`)
	pinned = regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	target = regexp.MustCompile(`\bmake ([a-z0-9-]+)`)
)

// A job that runs forever, an action that changes under one's feet or a target that was renamed is found here.
func TestWorkflowSteps(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, file := range []string{"ci.yml", "nightly.yml", "release.yml", "site.yml"} {
		w := loadWorkflow(t, file)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions %v, want to read contents", file, w.Permissions)
		}
		text, err := os.ReadFile(workflows + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range uses.FindAllStringSubmatch(string(text), -1) {
			if !pinned.MatchString(found[1]) && found[1] != "./.github/workflows/ci.yml" {
				t.Errorf("%s uses %s: want a commit, and the version in a comment", file, found[1])
			}
		}
		for name, job := range w.Jobs {
			if job.Permissions != nil && file+" "+name != "release.yml release" && file+" "+name != "site.yml publish" {
				t.Errorf("%s, job %s has permissions %v of its own", file, name, job.Permissions)
			}
			if job.Uses != "" {
				continue
			}
			if job.TimeoutMinutes == 0 || job.RunsOn == "" || strings.HasSuffix(job.RunsOn, "latest") {
				t.Errorf("job %s runs on %q for %d minutes", name, job.RunsOn, job.TimeoutMinutes)
			}
			for _, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") {
					t.Errorf("job %s has a step that neither uses nor runs something, or both: %+v", name, step)
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
	for _, want := range []string{"lint", "benchgate", "rules", "platforms", "unit", "race", "integration", "proofs", "long", "fuzz", "vulnerabilities", "test", "release-dry", "site"} {
		if !slices.Contains(targets, want) {
			t.Errorf("no job calls make %s", want)
		}
	}
}

// A release is made of a tested commit of main only, and with the notes of its version.
func TestReleaseWorkflow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(workflows + "release.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		On struct {
			Push map[string][]string
		}
		Jobs map[string]struct{ Needs any }
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	if tags := w.On.Push["tags"]; len(w.On.Push) != 1 || !slices.Equal(tags, []string{"v*"}) {
		t.Errorf("it runs on a push of %v, want tags v*", w.On.Push)
	}
	if got := fmt.Sprintf("%v %v %v", w.Jobs["release"].Needs, w.Jobs["ci"].Needs, w.Jobs["test"].Needs); got != "[ci test] notes notes" {
		t.Errorf("jobs need %s", got)
	}
	for _, want := range []string{
		`merge-base --is-ancestor "$GITHUB_SHA" origin/main`, "make test\n", `make release-dry VERSION="$GITHUB_REF_NAME"`,
		`internal/tools/notes.sh "$GITHUB_REF_NAME" >"$RUNNER_TEMP/notes.md"`,
		`gh release create "$GITHUB_REF_NAME" --verify-tag --title "$GITHUB_REF_NAME" --notes-file "$RUNNER_TEMP/notes.md"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("release.yml does not have: %s", want)
		}
	}
}

// Dependabot looks after all modules.
func TestDependabot(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directory   string
			Directories []string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	have := make(map[string][]string)
	for _, u := range config.Updates {
		if u.Directory != "" {
			u.Directories = append(u.Directories, u.Directory)
		}
		have[u.Ecosystem] = append(have[u.Ecosystem], u.Directories...)
	}
	var modules []string
	err = filepath.WalkDir("../../..", func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "bin" {
			return filepath.SkipDir
		}
		if err == nil && entry.Name() == "go.mod" {
			modules = append(modules, cmp.Or(strings.TrimPrefix(filepath.Dir(path), "../../.."), "/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(have["gomod"]); !slices.Equal(have["gomod"], slices.Sorted(slices.Values(modules))) {
		t.Errorf("modules %q, want %q", have["gomod"], modules)
	}
	if !slices.Equal(have["github-actions"], []string{"/"}) {
		t.Errorf("actions %q", have["github-actions"])
	}
}

// The versions are those that the README names: the two newest Go releases, and Cassandra 4.1 and 5.0, in containers.
// make integration runs on both.
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
	_, supported, _ := strings.Cut(string(readme), "\n## Versions and status\n")
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

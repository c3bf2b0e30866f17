package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/schema"
)

// denorm is the built command.
type denorm struct {
	path, keyspace string
	hosts          string
}

func build(t *testing.T, keyspace string) denorm {
	t.Helper()
	return denorm{built(t), keyspace, strings.Join(cluster.Hosts(t), ",")}
}

// built is the path of the command.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "denorm")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/denorm")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// run runs it on the cluster, and gives its output and exit code.
func (d denorm) run(t *testing.T, command string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(d.path, append([]string{command, "--hosts", d.hosts, "--keyspace", d.keyspace}, args...)...)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if failed.Len() > 0 {
		t.Logf("denorm %s: %s", command, &failed)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The command on a live keyspace: it reviews it with what a file says of its use, draws it, writes its CQL, and tells
// what would fix a difference.
func TestCommand(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	cql, err := os.ReadFile("../../../schema/testdata/systems/s01_orders.cql")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "orders.cql")
	if err := os.WriteFile(file, cql, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(file, string(cql))
	if err != nil {
		t.Fatal(err)
	}
	keyspace := cluster.Keyspace(t, 3)
	declared := s.In(map[string]string{"": keyspace})
	cluster.ChangeSchema(t, "", declared.Statements()...)
	d := build(t, keyspace)

	out, code := d.run(t, "lint", "--format", "json", file)
	var report struct {
		Findings []struct{ Code, Keyspace, Table, Severity string }
		Counts   struct{ Errors int }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if code != 1 || report.Counts.Errors != 1 {
		t.Errorf("exit code %d, %s", code, out)
	}
	for _, f := range report.Findings {
		if f.Severity == "error" && (f.Code != "DN101" || f.Table != "orders_by_status" || f.Keyspace != keyspace) {
			t.Errorf("%+v", f)
		}
	}
	if out, code = d.run(t, "diagram"); code != 0 || !strings.Contains(out, keyspace+".orders_by_user") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	out, code = d.run(t, "ddl")
	written, err := schema.Parse("ddl", out)
	if err != nil || code != 0 {
		t.Fatalf("exit code %d, %v:\n%s", code, err, out)
	}
	if found := schema.Breaking(schema.Compare(declared, written)); len(found) > 0 {
		t.Errorf("the CQL of the cluster is not what was declared: %v", found)
	}
	if out, code = d.run(t, "ddl", "--migrate", file); code != 0 || !strings.Contains(out, "-- 0 differences") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	cluster.ChangeSchema(t, "", "ALTER TABLE "+keyspace+".orders_by_user DROP total")
	out, code = d.run(t, "ddl", "--migrate", file)
	if code != 1 || !strings.Contains(out, "\nALTER TABLE "+keyspace+".orders_by_user ADD total decimal;\n") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	d.keyspace = "nothing_of_this_name"
	if out, code := d.run(t, "lint"); code != 2 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// The SARIF of the command follows the schema of the standard, and holds what the text does.
func TestSARIF(t *testing.T) {
	t.Parallel()
	const shop = "../../../cmd/denorm/command/testdata/shop.cql" // an error, a warning, a note, and one that is suppressed
	out, err := exec.Command(built(t), "lint", "--format", "sarif", shop).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	// The schema of OASIS without its descriptions.
	if err := jsonschema.NewCompiler().MustCompile("testdata/sarif-schema-2.1.0.json").Validate(document); err != nil {
		t.Error(err)
	}
	var report struct {
		Runs []struct {
			Results []struct {
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				Suppressions []struct{ Justification string }
			}
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	results := report.Runs[0].Results
	if len(results) != 4 {
		t.Fatalf("%d results", len(results))
	}
	suppressed := 0
	for _, r := range results {
		suppressed += len(r.Suppressions)
		if l := r.Locations[0].PhysicalLocation; l.ArtifactLocation.URI != shop || l.Region.StartLine == 0 {
			t.Errorf("no place in the file: %+v", l)
		}
	}
	if suppressed != 1 {
		t.Errorf("%d suppressed", suppressed)
	}
}

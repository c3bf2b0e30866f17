// Package files checks files of the repository that no Go code reads, so that no engine and no platform is needed to
// find a mistake in them.
package files

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const composeFile = "../../../docker-compose.yml"

// load reads the compose file as docker compose does, checked against the compose specification.
func load(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{composeFile}, cli.WithProfiles(profiles))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestComposeProfiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ profiles, want []string }{
		{nil, []string{"cassandra1"}},
		{[]string{"three"}, []string{"cassandra1", "cassandra2", "cassandra3"}},
		{[]string{"jaeger"}, []string{"cassandra1", "jaeger"}},
		{[]string{"three", "jaeger"}, []string{"cassandra1", "cassandra2", "cassandra3", "jaeger"}},
	} {
		got := load(t, test.profiles...).ServiceNames()
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("profiles %v: services %v, want %v", test.profiles, got, test.want)
		}
	}
}

// Whatever is added to the file must not be open to the network, nor take the machine down, nor be waited for in vain.
func TestEveryComposeService(t *testing.T) {
	t.Parallel()
	for name, service := range load(t, "*").Services {
		if len(service.Ports) == 0 {
			t.Errorf("%s publishes nothing", name)
		}
		for _, port := range service.Ports {
			if !strings.HasPrefix(port.HostIP, "127.0.0.") {
				t.Errorf("%s publishes port %s on %q, which is not loopback", name, port.Published, port.HostIP)
			}
		}
		if limit := service.MemLimit; limit < 256<<20 || limit > 2<<30 {
			t.Errorf("%s has a memory limit of %d", name, limit)
		}
		if check := service.HealthCheck; check == nil || len(check.Test) < 2 || check.Test[0] != "CMD" ||
			check.Retries == nil || check.Interval == nil || check.Timeout == nil {
			t.Errorf("%s has no health check, or one without limits: %+v", name, check)
		}
		if _, version, _ := strings.Cut(service.Image, ":"); version == "" || version == "latest" {
			t.Errorf("%s has the image %q, whose version is not pinned", name, service.Image)
		}
		if len(service.Volumes) > 0 {
			t.Errorf("%s keeps data", name)
		}
	}
}

// Nodes join one after the other, each at a loopback address of its own, which is what it announces to drivers.
func TestComposeCassandra(t *testing.T) {
	t.Parallel()
	services := load(t, "three").Services
	for i, name := range []string{"cassandra1", "cassandra2", "cassandra3"} {
		service, address := services[name], "127.0.0."+string(rune('1'+i))
		if len(service.Ports) != 1 || service.Ports[0].HostIP != address || service.Ports[0].Published != "9042" {
			t.Errorf("%s: ports %+v, want %s:9042", name, service.Ports, address)
		}
		if got := service.Environment["CASSANDRA_BROADCAST_RPC_ADDRESS"]; got == nil || *got != address {
			t.Errorf("%s does not announce %s", name, address)
		}
		rack := "rack" + string(rune('1'+i))
		for key, want := range map[string]string{"CASSANDRA_SEEDS": "cassandra1", "CASSANDRA_RACK": rack} {
			if got := service.Environment[key]; got == nil || *got != want {
				t.Errorf("%s: %s is not %s", name, key, want)
			}
		}
		if i == 0 {
			continue
		}
		before := "cassandra" + string(rune('0'+i))
		if got := service.DependsOn[before].Condition; got != types.ServiceConditionHealthy {
			t.Errorf("%s waits for %s with %q, want until it is healthy", name, before, got)
		}
	}
}

// The container and the program that is built where there is no engine are the same release.
func TestComposeJaeger(t *testing.T) {
	t.Parallel()
	service := load(t, "jaeger").Services["jaeger"]
	var published []string
	for _, port := range service.Ports {
		published = append(published, port.HostIP+":"+port.Published)
	}
	if want := []string{"127.0.0.1:4317", "127.0.0.1:4318", "127.0.0.1:16686"}; !slices.Equal(published, want) {
		t.Errorf("ports %v, want %v", published, want)
	}
	module, err := os.ReadFile("../../harness/jaeger/server/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`github\.com/jaegertracing/jaeger v(\S+)`).FindSubmatch(module)
	if version == nil || service.Image != "jaegertracing/all-in-one:"+string(version[1]) {
		t.Errorf("the image is %s, the module's version %s", service.Image, version)
	}
}

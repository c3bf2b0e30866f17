package cluster

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"go.yaml.in/yaml/v4"
)

func TestFindCompose(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root, "integration", "harness", "cluster")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	if _, err := findCompose(); err == nil || !strings.Contains(err.Error(), ModeEnv) {
		t.Errorf("without a file: %v", err)
	}
	nearer := filepath.Join(deep, composeName)
	if err := os.Symlink(nearer, nearer); err != nil {
		t.Fatal(err)
	}
	if _, err := findCompose(); err == nil || !strings.Contains(err.Error(), nearer) {
		t.Errorf("of a link to itself: %v", err)
	}
	if err := os.Remove(nearer); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(root, composeName)
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := findCompose(); got != want || err != nil {
		t.Errorf("findCompose = %s, %v; want %s", got, err, want)
	}
}

func TestComposeFileHasTheServices(t *testing.T) {
	t.Parallel()
	file, err := findCompose()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, service := range composeServices(3) {
		for _, want := range []string{"\n  " + service + ":\n", `["` + loopback(i+1) + `:9042:9042"]`} {
			if !strings.Contains(string(data), want) {
				t.Errorf("%s lacks %q", file, want)
			}
		}
	}
}

// Containers are of the version, and have the settings, that local nodes have. The version follows CASSANDRA_VERSION.
func TestComposeIsAsLocalNodes(t *testing.T) {
	t.Parallel()
	asLocalNodes(t, nil, releases[0])
	for _, r := range releases {
		if !r.accord { // startCompose rejects it
			asLocalNodes(t, []string{VersionEnv + "=" + r.version}, r)
		}
	}
}

func asLocalNodes(t *testing.T, env []string, r release) {
	t.Helper()
	file, err := findCompose()
	if err != nil {
		t.Fatal(err)
	}
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnv(env), cli.WithProfiles([]string{"three"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range composeServices(3) {
		service := project.Services[name]
		if want := "cassandra:" + r.version; service.Image != want {
			t.Errorf("%s with %v: image %s, want %s", name, env, service.Image, want)
		}
		got := make(map[string]string)
		for key, value := range service.Environment {
			switch setting := strings.ToLower(strings.TrimPrefix(key, "CASSANDRA_")); {
			case key == "JVM_EXTRA_OPTS":
				properties(got, strings.Fields(*value))
			case key == "MAX_HEAP_SIZE":
				got["-Xmx"] = *value
			case strings.HasPrefix(key, "CASSANDRA_"):
				got[setting] = *value
			}
		}
		properties(got, service.Command)
		for _, where := range elsewhere {
			delete(got, where)
		}
		if want := localSettings(t, i+1, r); !maps.Equal(got, want) {
			t.Errorf("%s with %v has\n%v\nwant, as local nodes\n%v", name, env, got, want)
		}
	}
}

// elsewhere are what a container has from its image or its network. Containers keep auto_bootstrap on: only the first
// is a seed.
var elsewhere = strings.Fields(`partitioner auto_bootstrap seed_provider seeds listen_address rpc_address broadcast_rpc_address storage_port
	native_transport_port data_file_directories commitlog_directory hints_directory saved_caches_directory cdc_raw_directory
	-Dcassandra.config -Dcassandra.logdir -Dcassandra.storagedir -Dcassandra.config.allow_system_properties`)

// localSettings are the settings and properties of a local node of three.
func localSettings(t *testing.T, n int, r release) map[string]string {
	t.Helper()
	data, err := render("dir", loopback(n), tokens(n, 3), loopbacks(3), r)
	if err != nil {
		t.Fatal(err)
	}
	var settings map[string]any
	if err := yaml.Unmarshal(data, &settings); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"dc": "dc1", "rack": fmt.Sprintf("rack%d", n)}
	for key, value := range settings {
		all[key] = fmt.Sprint(value)
	}
	properties(all, jvmArgs("home", "dir", jars{}, (&state{Version: r.version}).properties()...))
	for _, where := range elsewhere {
		delete(all, where)
	}
	return all
}

// properties adds those of a command line. A setting can be one.
func properties(to map[string]string, args []string) {
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch setting, is := strings.CutPrefix(key, "-Dcassandra.settings."); {
		case is:
			to[setting] = value
		case strings.HasPrefix(key, "-Dcassandra."):
			to[key] = value
		case strings.HasPrefix(key, "-Xmx"):
			to["-Xmx"] = strings.TrimPrefix(key, "-Xmx")
		}
	}
}

func TestWantedMode(t *testing.T) {
	for value, ok := range map[string]bool{"": true, "jvm": true, "compose": true, "external": false, "docker": false} {
		t.Setenv(ModeEnv, value)
		if got, err := wantedMode(); (err == nil) != ok || ok && string(got) != value {
			t.Errorf("%s=%q: %q, %v", ModeEnv, value, got, err)
		}
	}
}

// fakeDocker puts a docker in the way that notes how it is called and does as the script says.
func fakeDocker(t *testing.T, script string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	notes := filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$*\" >> '" + notes + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return func() string {
		data, _ := os.ReadFile(notes)
		return string(data)
	}
}

func TestChooseMode(t *testing.T) {
	tests := []struct {
		name, script, wanted string
		want                 Mode
		says                 string // in the error, or among the progress
	}{
		{name: "an engine answers", script: "exit 0", want: Compose},
		{name: "no engine", script: "exit 1", want: Local, says: "no engine answers"},
		{name: "no plug-in", script: `[ "$1" = info ]`, want: Local, says: "no compose plug-in"},
		{name: "processes are wanted", script: "exit 0", wanted: "jvm", want: Local},
		{name: "an engine is wanted and missing", script: "exit 1", wanted: "compose", says: ModeEnv + "=jvm"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fakeDocker(t, test.script)
			t.Setenv(ModeEnv, test.wanted)
			var said strings.Builder
			got, err := chooseMode(t.Context(), &progress{out: &said})
			if err != nil {
				said.WriteString(err.Error())
			}
			if got != test.want || (err != nil) != (test.want == "") || !strings.Contains(said.String(), test.says) {
				t.Errorf("%q, %v; said %q", got, err, said.String())
			}
		})
	}
}

// Who can do without a real cluster does so only if there is none and nobody has asked for one.
func TestNothingToRunCassandraWith(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no docker, no Maven, and no apt-get to install them
	m := machine{home: t.TempDir(), log: &progress{out: io.Discard}}
	for _, test := range []struct {
		wanted  string
		nothing bool
		says    string
	}{
		{"", true, "no container engine, and no"},
		{"jvm", false, errNoMaven.Error()},
		{"compose", false, "no docker"},
	} {
		t.Setenv(ModeEnv, test.wanted)
		if _, err := m.choose(t.Context()); err == nil || errors.Is(err, ErrNothingToRun) != test.nothing || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s=%s: %v", ModeEnv, test.wanted, err)
		}
	}
}

func TestComposeThatFailsSaysWhy(t *testing.T) {
	calls := fakeDocker(t, `case "$*" in
*" up "*) echo "Error response from daemon: ports are not available for $CASSANDRA_VERSION"; exit 1 ;;
*" logs "*) echo "cassandra2 | out of memory" ;;
esac`)
	home := t.TempDir()
	var said strings.Builder
	m := machine{home: home, log: &progress{out: &said}}
	s := &state{Mode: Compose, Nodes: 3}
	t.Setenv(VersionEnv, "4.1")
	err := m.start(t.Context(), s)
	if err == nil {
		t.Fatal("started")
	}
	for _, want := range []string{"ports are not available for 4.1.10", "out of memory", "ifconfig lo0 alias 127.0.0.2"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: lacks %q", err, want)
		}
	}
	saved, err := loadState(home) // what another process needs to stop it
	if err != nil || saved.Compose != s.Compose {
		t.Fatalf("state = %+v, %v", saved, err)
	}
	if err := m.stop(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" up --detach --quiet-pull --wait --wait-timeout 600 cassandra1 cassandra2 cassandra3\n",
		" rm --stop --force --volumes cassandra1 cassandra2 cassandra3\n",
		"--profile three ",
	} {
		if !strings.Contains(calls(), want) {
			t.Errorf("docker was called\n%swithout %q", calls(), want)
		}
	}
}

package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseJavaVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		out  string
		want int // 0: an error
	}{
		{"openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)", 17},
		{"java version \"1.8.0_392\"\nJava(TM) SE Runtime Environment", 8},
		{"openjdk version \"11.0.2\" 2019-01-15", 11},
		{"openjdk version \"25\" 2025-09-16", 25},
		{"openjdk version \"21-ea\" 2023-09-19", 21},
		{"Picked up JAVA_TOOL_OPTIONS: -Dx=\"1\"\nopenjdk version \"17.0.15\" 2025-04-15", 17},
		{"NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g\nWARNING: something version 3\nopenjdk version \"11.0.2\"", 11},
		{"The operation couldn't be completed. Unable to locate a Java Runtime.", 0},
		{"", 0},
	}
	for _, test := range tests {
		got, err := parseJavaVersion(test.out)
		if got != test.want || (err == nil) != (test.want != 0) {
			t.Errorf("parseJavaVersion(%q) = %d, %v; want %d", test.out, got, err, test.want)
		}
	}
}

func TestChooseJava(t *testing.T) {
	t.Parallel()
	jdk := func(version int) java { return java{path: "/jdk", version: version} }
	if got, err := chooseJava([]java{jdk(25), jdk(11), jdk(17)}); got.version != 17 || err != nil {
		t.Errorf("%v, %v; want 17", got, err)
	}
	if got, err := chooseJava([]java{jdk(21), jdk(11)}); got.version != 11 || err != nil {
		t.Errorf("%v, %v; want 11", got, err)
	}
	_, err := chooseJava([]java{jdk(25)})
	if !errors.Is(err, errNoJava) || !strings.Contains(err.Error(), "found only 25 at /jdk") {
		t.Errorf("wrong version: %v", err)
	}
	_, err = chooseJava(nil)
	if !errors.Is(err, errNoJava) || !strings.Contains(err.Error(), "none found") {
		t.Errorf("none: %v", err)
	}
}

func TestJavaHomeComesFirstAndBrokenOnesAreSkipped(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	fake := filepath.Join(home, "bin", "java")
	// It fails if it is shown an environment that it must not see.
	script := "#!/bin/sh\n[ -z \"$JAVA_TOOL_OPTIONS\" ] || exit 1\necho 'openjdk version \"17.9.9\"' >&2\n"
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", home)
	t.Setenv("JAVA_TOOL_OPTIONS", "-agentlib:nonsense")
	got, err := findJava(t.Context())
	if err != nil || got.path != fake || got.version != 17 {
		t.Errorf("findJava = %+v, %v", got, err)
	}
	if got.home() != home {
		if resolved, _ := filepath.EvalSymlinks(home); got.home() != resolved {
			t.Errorf("home = %s, want %s", got.home(), home)
		}
	}
}

func TestJavaEnvironment(t *testing.T) {
	t.Parallel()
	got := javaEnvironment([]string{"PATH=/bin", "JAVA_TOOL_OPTIONS=-Xmx8g", "_JAVA_OPTIONS=x", "JDK_JAVA_OPTIONS=y", "HOME=/root", "CLASSPATH=z"})
	if want := []string{"PATH=/bin", "HOME=/root"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

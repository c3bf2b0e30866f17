package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nobody else may enter the directory that nodes are run from, whoever made it.
func TestHomeIsClosedToOthers(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]os.FileMode{"new": 0, "open": 0o755, "open to all": 0o777, "closed": 0o700} {
		home := filepath.Join(t.TempDir(), "deep", "home")
		if mode != 0 {
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(home, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := makeHome(home); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := makeHome(shared); !errors.Is(err, ErrShared) || !strings.Contains(err.Error(), HomeEnv) {
		t.Errorf("a directory like /tmp: %v", err)
	}
	if info, err := os.Stat(shared); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("a directory like /tmp was changed: %v, %v", info.Mode(), err)
	}
}

func TestJarsArePinned(t *testing.T) {
	t.Parallel()
	for _, r := range releases {
		if !strings.Contains(r.sums(), "  cassandra-all-"+r.version+".jar\n") || strings.Count(r.sums(), "\n") < 65 {
			t.Errorf("the sums are not those of Cassandra %s:\n%s", r.version, r.sums())
		}
	}
	const sums = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  a.jar\n" +
		"486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7  b.jar\n" // hello, world
	for name, c := range map[string]struct {
		files map[string]string
		says  string // empty: they are the pinned ones
	}{
		"pinned":  {map[string]string{"a.jar": "hello", "b.jar": "world"}, ""},
		"changed": {map[string]string{"a.jar": "hello", "b.jar": "World"}, "b.jar has SHA-256 "},
		"missing": {map[string]string{"a.jar": "hello"}, "b.jar is missing"},
		"more":    {map[string]string{"a.jar": "hello", "b.jar": "world", "c.jar": ""}, "c.jar is not pinned"},
		"swapped": {map[string]string{"a.jar": "world", "b.jar": "hello"}, "has 2, the first: a.jar has SHA-256 "},
		"nothing": {nil, "has 2, the first: a.jar is missing"},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := verifyJars(dir, sums)
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, ErrJars) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if home, err := Home(); err == nil { // those of this machine, if they are there
		for _, r := range releases {
			if lib, ok := r.findJars(home); ok {
				if err := verifyJars(lib.dir, r.sums()); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// state is what is known of the cluster between two commands. It is read and written under the transition lock.
type state struct {
	Mode  Mode     `json:"mode"`
	Nodes int      `json:"nodes"`
	Hosts []string `json:"hosts"`
	Ready bool     `json:"ready"` // false while it starts, which happens under the lock: who reads it later found a wreck
	Keep  bool     `json:"keep"`  // stays up without users
	// Volatile nodes forget their schema when they are killed, see [Harness.Volatile].
	Volatile bool      `json:"volatile,omitempty"`
	Heap     string    `json:"heap,omitempty"`    // see [Harness.Heap]
	Version  string    `json:"version,omitempty"` // of nodes that start
	Started  time.Time `json:"started"`
	Compose  string    `json:"compose,omitempty"` // the compose file it was started from
	Java     string    `json:"java,omitempty"`    // the java it was started with, for starting a node again
}

func statePath(home string) string { return filepath.Join(home, "state.json") }

// loadState returns nil if there is no cluster.
func loadState(home string) (*state, error) {
	var s state
	err := readJSON(statePath(home), &s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no cluster is no error
	}
	if err != nil {
		return nil, fmt.Errorf("cluster state: %w", err)
	}
	return &s, nil
}

func (s *state) save(home string) error { return writeJSON(statePath(home), s) }

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeJSON replaces the file in one step, as its readers hold no lock.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	temp := path + ".new"
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// HomeEnv names the environment variable that overrides the directory of [Home].
const HomeEnv = "DENORM_HOME"

// Home returns the directory that holds jars, locks, state and node directories: $DENORM_HOME, or denorm in the user's
// cache directory.
func Home() (string, error) {
	if dir := os.Getenv(HomeEnv); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("%s: %w", HomeEnv, err)
		}
		return abs, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory for jars and cluster state: %w; set %s", err, HomeEnv)
	}
	return filepath.Join(cache, "denorm"), nil
}

// ErrShared is returned where the directory of [Home] is one that everybody uses, such as /tmp.
var ErrShared = errors.New("everybody may write to it")

// makeHome makes the directory of [Home], or takes one that is there from everybody else: nodes run what is in it, and
// their logs and data hold what tests write.
func makeHome(home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("directory for cluster state: %w; set %s to one that can be written", err, HomeEnv)
	}
	info, err := os.Stat(home)
	if err != nil {
		return fmt.Errorf("directory for cluster state: %w", err)
	}
	switch {
	case info.Mode()&os.ModeSticky != 0:
		return fmt.Errorf("directory for cluster state %s: %w; set %s to one of your own", home, ErrShared, HomeEnv)
	case info.Mode().Perm()&0o077 == 0:
		return nil
	}
	if err := os.Chmod(home, 0o700); err != nil {
		return fmt.Errorf("directory for cluster state: %w; chmod it to 700, or set %s to one of your own", err, HomeEnv)
	}
	return nil
}

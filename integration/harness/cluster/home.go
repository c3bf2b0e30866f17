package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

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

// makeHome makes the directory of [Home], or takes one that is there from everybody else: nodes run what is in it, and their logs
// and data hold what tests write.
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

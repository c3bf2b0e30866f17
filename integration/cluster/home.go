package cluster

import (
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

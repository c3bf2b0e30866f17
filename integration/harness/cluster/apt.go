package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// aptUsable reports whether packages can be installed without asking anybody: as root on a Debian-like machine, which in
// practice is a container or a build machine.
func aptUsable() bool {
	if os.Geteuid() != 0 {
		return false
	}
	_, err := exec.LookPath("apt-get")
	return err == nil
}

// aptInstall installs packages and says so.
func aptInstall(ctx context.Context, log *progress, packages ...string) error {
	done := log.step("installing %s with apt-get", strings.Join(packages, " and "))
	if err := apt(ctx, "update", "-q"); err != nil {
		return err
	}
	if err := apt(ctx, append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...)...); err != nil {
		return err
	}
	done("installed")
	return nil
}

func apt(ctx context.Context, args ...string) error {
	cmd := command(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w; its last lines:\n%s", strings.Join(args, " "), err, LastLines(out, 10))
	}
	return nil
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// GuardCommand is the argument with which a program that uses a [Harness] starts itself as its guard. Such a program
// calls [Guard] when it finds it.
const GuardCommand = "guard"

// Guard is what a program does that is started as a guard, see [Harness.Guard]. It must catch no signals, as nothing
// but one could end its wait.
func Guard(out io.Writer) error {
	h, err := New(out)
	if err != nil {
		return err
	}
	return h.Guard(context.Background())
}

// spawnGuard starts this program again as the guard. If there is one already, the new one ends at once.
func spawnGuard(home string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start guard: %w", err)
	}
	out, err := os.OpenFile(filepath.Join(home, "guard.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start guard: %w", err)
	}
	defer out.Close()                       //nolint:errcheck // nothing was written here
	cmd := exec.Command(self, GuardCommand) // itself; it must outlive any context
	cmd.Dir = home
	cmd.Env = append(os.Environ(), HomeEnv+"="+home)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // none of the terminal's signals
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start guard: %w", err)
	}
	return cmd.Process.Release()
}

// Guard waits until nobody uses the cluster and then does what the last user should have done but could not if it was
// killed: it stops the cluster. It returns when there is nothing left to guard. While it waits for users nothing but a
// signal that ends the process interrupts it.
func (h *Harness) Guard(ctx context.Context) error {
	only, err := openLock(h.path("guard.lock"))
	if err != nil {
		return err
	}
	defer only.close()
	if err := only.try(); err != nil {
		if errors.Is(err, errHeld) {
			return nil
		}
		return err
	}
	users, err := openLock(h.path("users.lock"))
	if err != nil {
		return err
	}
	defer users.close()
	for {
		// This sleeps in the kernel until nobody has the lock.
		if err := errors.Join(users.wait(), users.unlock()); err != nil {
			return err
		}
		done, err := h.guardOnce(ctx, only)
		if err != nil || done {
			return err
		}
	}
}

// guardOnce reports whether there is nothing left to guard. The guard's lock is given back while nobody can start a
// cluster, so that whoever does next finds either a guard that watches or none.
func (h *Harness) guardOnce(ctx context.Context, only *lock) (done bool, err error) {
	transition, err := h.transition(ctx)
	if err != nil {
		return false, err
	}
	defer transition.close()
	if used, err := h.used(ctx); err != nil || used {
		return false, err
	}
	err = h.stopUnused(ctx)
	return true, errors.Join(err, only.unlock())
}

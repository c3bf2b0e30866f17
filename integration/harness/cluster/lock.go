package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// lock is an flock on a file. It belongs to the open file, so the kernel gives it back when the last process that has
// the file open ends, however it ends.
type lock struct{ file *os.File }

// errHeld is returned when another process holds the lock.
var errHeld = errors.New("lock is held by another process")

func openLock(path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	return &lock{file: file}, nil
}

// Lock waits until nobody else has the lock of the file at path, in this process or another, and takes it until release
// is called.
func Lock(ctx context.Context, path string) (release func(), err error) {
	l, err := acquireLock(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	return l.close, nil // which unlocks it
}

// acquireLock opens a lock and takes it exclusively, see [lock.acquire].
func acquireLock(ctx context.Context, path string, waiting func()) (*lock, error) {
	l, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := l.acquire(ctx, waiting); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lock) flock(how int) error {
	for {
		err := syscall.Flock(int(l.file.Fd()), how)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		default:
			return fmt.Errorf("lock %s: %w", l.file.Name(), err)
		}
	}
}

// try takes the lock exclusively, or returns errHeld at once.
func (l *lock) try() error { return l.flock(syscall.LOCK_EX | syscall.LOCK_NB) }

// share takes the lock shared, waiting while somebody has it exclusively. A lock held exclusively becomes shared.
func (l *lock) share() error { return l.flock(syscall.LOCK_SH) }

// wait takes the lock exclusively and cannot be interrupted.
func (l *lock) wait() error { return l.flock(syscall.LOCK_EX) }

// acquire takes the lock exclusively. It polls, as a blocked flock cannot be told that the context has ended. Whoever
// has to wait is told so once.
func (l *lock) acquire(ctx context.Context, waiting func()) error {
	notice := time.Now().Add(time.Second)
	for {
		err := l.try()
		if !errors.Is(err, errHeld) {
			return err
		}
		if waiting != nil && time.Now().After(notice) {
			waiting()
			waiting = nil
		}
		if err := sleep.For(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// unlock gives the lock back, also for the processes that inherited it.
func (l *lock) unlock() error { return l.flock(syscall.LOCK_UN) }

func (l *lock) close() { _ = l.file.Close() }

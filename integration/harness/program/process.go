package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// Process is a process below a shell that ends it when this process ends, however that comes about.
type Process struct {
	Cmd   *exec.Cmd
	Log   *os.File      // its output
	Ended chan struct{} // closed when it has ended, also if nobody stopped it
	name  string
	leash io.Closer // its end is the end of the process
}

// watch starts the program. The end of its standard input, which the kernel brings about if the writer is killed, ends
// the program. It ends when the program does.
const watch = `exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
{ cat <&3 >/dev/null; kill -9 $server; } 2>/dev/null &
exec 3<&-
wait $server
code=$?
kill $! 2>/dev/null
exit $code`

// Start starts a program in an environment. name is for errors.
func Start(name, path string, args, env []string) (*Process, error) {
	log, err := os.CreateTemp("", "denorm-server-*.log")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	_ = os.Remove(log.Name()) // it lives as long as it is open: nothing is left behind
	// Stop ends it, not a context.
	cmd := exec.Command("/bin/sh", append([]string{"-c", watch, "server", path}, args...)...)
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // none of the terminal's signals: spans come until the end
	leash, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	p := &Process{Cmd: cmd, Log: log, Ended: make(chan struct{}), name: name, leash: leash}
	go func() {
		defer close(p.Ended)
		_ = cmd.Wait() // the log says why it ended
	}()
	return p, nil
}

// Await returns when the program is ready, or why it will not be.
func (p *Process) Await(ctx context.Context, ready func(context.Context) error) error {
	for ready(ctx) != nil {
		select {
		case <-p.Ended:
			return p.Failure()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// FreePort is the loopback address of the port that is wanted, or of one that is free.
func FreePort(ctx context.Context, wanted int) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(wanted)))
	if wanted != 0 && errors.Is(err, syscall.EADDRINUSE) {
		listener, err = config.Listen(ctx, "tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// Failure says why the process has ended.
func (p *Process) Failure() error {
	const tail = 4 << 10
	size, _ := p.Log.Seek(0, io.SeekEnd)
	text := make([]byte, min(size, tail))
	n, _ := p.Log.ReadAt(text, size-int64(len(text)))
	return fmt.Errorf("start %s: it ended; its last lines:\n%s", p.name, cluster.LastLines(text[:n], 10))
}

// Stop kills it, if it runs, and waits for its end.
func (p *Process) Stop() error {
	err := p.leash.Close()
	if errors.Is(err, os.ErrClosed) { // it had ended by itself
		err = nil
	}
	<-p.Ended
	return errors.Join(err, p.Log.Close())
}

package driverbugs

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// session is one of a driver, and what the tests do with it.
type session struct {
	exec, batch func(ctx context.Context, statement string, values ...any) error
	close       func()
	noAnswer    error // what the driver returns where the node does not answer in time
}

// options are the settings of a session: protocol 4, one connection a node, no retries, and frames that are written by
// the goroutine of the request.
type options struct {
	dialer    *dialer
	timeout   time.Duration // of a request, and of reads from the socket
	connected func()        // called when a connection is made, and before it is in the pool
}

// opener opens a session by a driver.
type opener func(options) (session, error)

var drivers = map[string]opener{
	"gocql 1.7": openGocql17,
	"v2":        openV2,
}

const fixed = "fixed in this driver version: remove the workaround in "

func (open opener) session(t *testing.T, o options) session {
	t.Helper()
	s, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// A connection that ends between the last answer of its handshake and the moment when the pool takes it up stays in the
// pool, closed: the pool is told of the end first, when it does not know the connection, and takes it up then. It
// counts as one of the host's connections, so that no other is made: where it is the only one, every request to the
// host fails until the session is closed.
func TestClosedConnectionStays(t *testing.T) {
	t.Parallel()
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const control, first, cut = 1, 2, 3 // the connections, in the order in which they are made
			var firstConn atomic.Pointer[server]
			n := startNode(t, func(c *server, f frame) bool {
				switch {
				case c.number == first:
					firstConn.Store(c)
				case c.number == cut && f.op == opStartup:
					c.send(f.stream, opReady, nil)
					_ = c.Close()
					return true
				}
				return false
			})
			var calls atomic.Int32
			closed, taken := make(chan struct{}), make(chan struct{})
			end := sync.OnceFunc(func() { close(closed) })
			d := &dialer{node: n, closed: func(number int32) {
				if number == cut {
					end()
				}
			}}
			s := open.session(t, options{dialer: d, timeout: 5 * time.Second, connected: func() {
				if calls.Add(1) != cut {
					return
				}
				<-closed // the driver has read the end of the connection, and
				for closing() {
					<-time.After(time.Millisecond) // has told the pool; only then does the pool take it up
				}
				close(taken)
			}})
			if err := s.exec(t.Context(), "INSERT INTO k.t (v) VALUES (?)", "x"); err != nil {
				t.Fatal(err)
			}
			_ = firstConn.Load().Close() // as a network device does that has lost its state
			wait(t, taken, "a third connection")
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			requests := 0
			for ctx.Err() == nil {
				err := s.exec(ctx, "INSERT INTO k.t (v) VALUES (?)", "x")
				if requests++; err == nil {
					t.Fatalf("request %d after the end of the connection was answered: %ssession/fresh.go", requests, fixed)
				}
				if requests == 1 {
					t.Log(err)
				}
				<-time.After(10 * time.Millisecond)
			}
			if made := n.accepted.Load(); made != cut {
				t.Fatalf("%d connections were made, the pool's was replaced: %ssession/fresh.go", made, fixed)
			}
			t.Logf("%d requests failed in 3 s, and no connection was made", requests)
		})
	}
}

// closing says whether a goroutine of any session closes a connection.
func closing() bool {
	stacks := make([]byte, 1<<20)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte(").closeWithError("))
}

// UNPREPARED answers are followed by PREPARE and the same request again, by a function that calls itself: as long as
// the node goes on so, one call sends requests without end, each on a deeper stack. The process ends when the stack
// meets its limit, 1 GB.
func TestUnpreparedRecursion(t *testing.T) {
	t.Parallel()
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []string{"query", "batch"} {
				t.Run(kind, func(t *testing.T) {
					n := startNode(t, func(c *server, f frame) bool {
						if strings.HasPrefix(f.statement, "INSERT") && (f.op == opExecute || f.op == opBatch) {
							c.fail(f, unpreparedCode, join(short(len(f.id)), f.id))
							return true
						}
						return false
					})
					const enough = 200
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					var depths []int // on the goroutine of the call, of its requests
					d := &dialer{node: n, wrote: func(frame []byte) {
						if op := frame[4]; (op == opExecute || op == opBatch) && bytes.Contains(frame, []byte("id of INSERT")) {
							depths = append(depths, runtime.Callers(0, make([]uintptr, 1<<16)))
							if len(depths) == enough {
								cancel()
							}
						}
					}}
					s := open.session(t, options{dialer: d, timeout: 30 * time.Second})
					exec := s.exec
					if kind == "batch" {
						exec = s.batch
					}
					err := exec(ctx, "INSERT INTO k.t (v) VALUES (?)", "x")
					if len(depths) < enough {
						t.Fatalf("%d requests, %v: %swriter/writer.go (deadline)", len(depths), err, fixed)
					}
					if grown := depths[enough-1] - depths[0]; grown < enough-1 {
						t.Errorf("requests without end (%v), but %d requests took %d calls only: no recursion any more", err, enough, grown)
					}
					t.Logf("one call made %d requests, the stack went from %d calls to %d: %v", enough, depths[0], depths[enough-1], err)
				})
			}
		})
	}
}

// A response that stalls within its body for five times Timeout is given up, and its connection goes on to be used:
// what then comes of the body is read as the next frame. If these bytes look like a frame for the stream of a request
// that is in flight, it has an answer that the node never gave. Here an INSERT that the node has thrown away succeeds.
func TestDesynchronised(t *testing.T) {
	t.Parallel()
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const timeout = 500 * time.Millisecond
			type stalled struct {
				on   int32
				rest int // bytes that are not sent yet
			}
			var state atomic.Pointer[stalled]
			var elsewhere atomic.Bool
			n := startNode(t, func(c *server, f frame) bool {
				void := encode(0, opResult, integer(1)) // the value that is read has this in it
				switch s := state.Load(); {
				case strings.HasPrefix(f.statement, "SELECT v") && f.op == opExecute:
					response := encode(f.stream, opResult, rows(column{"v", short(typeBlob), append(make([]byte, 1000), void...)}))
					state.Store(&stalled{c.number, len(void)})
					_, _ = c.Write(response[:len(response)-len(void)])
				case s == nil:
					return false
				case f.op == opExecute && c.number != s.on:
					elsewhere.Store(true)
					c.fail(f, serverCode, nil)
				case f.op == opExecute: // thrown away; the value of the SELECT ends as it might
					_, _ = c.Write(encode(f.stream, opResult, integer(1)))
				default:
					return c.number == s.on // a heartbeat must not come into the middle of the value
				}
				return true
			})
			var reads atomic.Int32
			given := make(chan struct{})
			var once sync.Once
			d := &dialer{node: n, timedOut: func(number int32) {
				if s := state.Load(); s != nil && s.on == number && reads.Add(1) == 5 {
					once.Do(func() { close(given) })
				}
			}}
			d.closed = func(number int32) {
				if s := state.Load(); s != nil && s.on == number {
					once.Do(func() { close(given) })
				}
			}
			s := open.session(t, options{dialer: d, timeout: timeout})
			if err := s.exec(t.Context(), "INSERT INTO k.t (v) VALUES (?)", "x"); err != nil { // it is prepared then
				t.Fatal(err)
			}
			if err := s.exec(t.Context(), "SELECT v FROM k.t WHERE v = ?", "x"); !errors.Is(err, s.noAnswer) {
				t.Logf("SELECT: %v", err)
			}
			wait(t, given, "the driver to give the body up")
			err := s.exec(t.Context(), "INSERT INTO k.t (v) VALUES (?)", "x")
			switch {
			case err == nil:
				t.Log("the INSERT succeeded, and the node has never answered it")
			case errors.Is(err, s.noAnswer):
				t.Fatalf("this machine is too busy: the bytes did not come within %v", timeout)
			default:
				t.Fatalf("INSERT: %v; sent on another connection: %v: %ssession/session.go (a session for reads)", err, elsewhere.Load(), fixed)
			}
		})
	}
}

func wait(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("waited a minute for %s", what)
	}
}

package session

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// If a connection of gocql 1.7 ends between the last answer of its handshake and the moment when the pool adds it, it
// stays in the pool forever: the pool hears of the end first, when it does not know the connection, and adds it then
// (connectionpool.go, HandleError and connect). Every request on the connection fails, and it counts as one of
// NumConns, so no other takes its place. If something on the network cuts connections for a while, all connections of a
// session may end like this.
//
// So gocql reads the end of a fresh connection late, when the pool knows the connection, or when something is written
// to it.
//
// The write fails a moment after that. If it fails first, as it does before the end was read, gocql closes the
// connection in the goroutine of the request. If that is the request of the control connection for the nodes, gocql
// then waits in it for an update of the nodes, which waits for the lock that the request holds: CreateSession never
// returns, or a session hears of no node any more (ringDescriber.GetHosts, controlConn.HandleError).
const (
	freshFor   = 10 * time.Second
	eofDelay   = 250 * time.Millisecond // between the last bytes and the end
	writeDelay = 50 * time.Millisecond  // between the end and the failure of a write
)

// newFreshConn wraps a connection that was just made, and counts as fresh for the given time.
func newFreshConn(conn net.Conn, fresh time.Duration) net.Conn {
	e := &earlyClose{conn: conn, until: time.Now().Add(fresh), closed: make(chan struct{}), written: make(chan struct{})}
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &freshTCP{e, tcpConn{tcp}}
	}
	return &freshConn{e, otherConn{conn}}
}

// freshConn is a connection of any kind: what earlyClose has comes before what the connection has, which is one level
// deeper.
type freshConn struct {
	*earlyClose
	otherConn
}

type otherConn struct{ net.Conn }

// freshTCP still writes several frames with one system call, as [net.Buffers] does for this type alone, without a call
// of Write.
type freshTCP struct {
	*earlyClose
	tcpConn
}

type tcpConn struct{ *net.TCPConn }

// earlyClose is what a connection knows of its age. One goroutine at a time reads from it; any goroutine may use it
// otherwise.
type earlyClose struct {
	conn   net.Conn
	until  time.Time
	old    bool
	heard  time.Time // when the last bytes came
	ended  atomic.Pointer[error]
	once   sync.Once
	closed chan struct{}

	onceWritten sync.Once
	written     chan struct{} // closed when something is written after the end
}

func (e *earlyClose) Read(p []byte) (int, error) {
	n, err := e.conn.Read(p)
	if e.old {
		return n, err
	}
	now := time.Now()
	var timeout net.Error
	switch e.old = now.After(e.until); {
	case err == nil:
		e.heard = now
	case errors.As(err, &timeout) && timeout.Timeout(): // it has not ended, and gocql reads on
	case !e.heard.IsZero() && !e.old: // else there was no handshake
		e.ended.Store(&err)
		late := time.NewTimer(e.heard.Add(eofDelay).Sub(now))
		defer late.Stop()
		select {
		case <-late.C:
		case <-e.closed:
		case <-e.written:
		}
	}
	return n, err
}

func (e *earlyClose) Write(p []byte) (int, error) {
	if err := e.failed(); err != nil {
		return 0, err
	}
	return e.conn.Write(p)
}

// failed is the error of a write to a connection that has ended.
func (e *earlyClose) failed() error {
	err := e.ended.Load()
	if err == nil {
		return nil
	}
	e.onceWritten.Do(func() { close(e.written) })
	delay := time.NewTimer(writeDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-e.closed:
	}
	return *err
}

// SetWriteDeadline is called by gocql before each write, and before those that are one for several frames.
func (e *earlyClose) SetWriteDeadline(t time.Time) error {
	if err := e.failed(); err != nil {
		return err
	}
	return e.conn.SetWriteDeadline(t)
}

func (e *earlyClose) Close() error {
	e.once.Do(func() { close(e.closed) })
	return e.conn.Close()
}

package session

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A connection of gocql 1.7 that ends between the last answer of its handshake and the moment when the pool takes it up is in
// the pool for good: the pool is told of the end first, when it does not know the connection, and takes it up then
// (connectionpool.go, HandleError and connect). It fails what it is given, and counts as one of NumConns, so that no other takes
// its place. Where something on the way cuts connections for a while, all of a session's may end so.
//
// So gocql reads the end of a fresh connection late, when the pool knows it. Who writes is told at once: the pool hears of that, too.
const (
	freshFor = 10 * time.Second
	eofDelay = 250 * time.Millisecond // between the last bytes and the end
)

// newFreshConn gives a connection that was just made, and counts as fresh for so long.
func newFreshConn(conn net.Conn, fresh time.Duration) net.Conn {
	e := earlyClose{until: time.Now().Add(fresh), closed: make(chan struct{})}
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &freshTCP{TCPConn: tcp, earlyClose: &e}
	}
	return &freshConn{Conn: conn, earlyClose: &e}
}

// freshConn is a connection of any kind.
type freshConn struct {
	net.Conn
	*earlyClose
}

func (c *freshConn) Read(p []byte) (int, error) { return c.read(c.Conn, p) }

func (c *freshConn) Write(p []byte) (int, error) { return c.write(c.Conn, p) }

func (c *freshConn) SetWriteDeadline(t time.Time) error { return c.limit(c.Conn, t) }

func (c *freshConn) Close() error { return c.close(c.Conn) }

// freshTCP still writes several frames with one system call, as [net.Buffers] does for this type alone, without a call of Write.
type freshTCP struct {
	*net.TCPConn
	*earlyClose
}

func (c *freshTCP) Read(p []byte) (int, error) { return c.read(c.TCPConn, p) }

func (c *freshTCP) Write(p []byte) (int, error) { return c.write(c.TCPConn, p) }

func (c *freshTCP) SetWriteDeadline(t time.Time) error { return c.limit(c.TCPConn, t) }

func (c *freshTCP) Close() error { return c.close(c.TCPConn) }

// earlyClose is what a connection knows of its age. It is read from by one goroutine at a time, and used otherwise by any.
type earlyClose struct {
	until  time.Time
	old    bool
	heard  time.Time // when the last bytes came
	ended  atomic.Pointer[error]
	once   sync.Once
	closed chan struct{}
}

func (e *earlyClose) read(conn net.Conn, p []byte) (int, error) {
	n, err := conn.Read(p)
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
		}
	}
	return n, err
}

func (e *earlyClose) write(conn net.Conn, p []byte) (int, error) {
	if err := e.ended.Load(); err != nil {
		return 0, *err
	}
	return conn.Write(p)
}

// limit is called by gocql before each write, and before those that are one for several frames.
func (e *earlyClose) limit(conn net.Conn, t time.Time) error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	return conn.SetWriteDeadline(t)
}

func (e *earlyClose) close(conn net.Conn) error {
	e.once.Do(func() { close(e.closed) })
	return conn.Close()
}

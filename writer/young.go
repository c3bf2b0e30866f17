package writer

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
// So gocql reads the end of a young connection late, when the pool knows it. Who writes is told at once: the pool hears of that, too.
const (
	youngFor  = 10 * time.Second
	lastWords = 250 * time.Millisecond // between the last bytes and the end
)

// newYoung gives a connection that was just made, and is young for so long.
func newYoung(conn net.Conn, young time.Duration) net.Conn {
	y := youth{until: time.Now().Add(young), closed: make(chan struct{})}
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &youngTCP{TCPConn: tcp, youth: &y}
	}
	return &youngConn{Conn: conn, youth: &y}
}

// youngConn is a connection of any kind.
type youngConn struct {
	net.Conn
	*youth
}

func (c *youngConn) Read(p []byte) (int, error) { return c.read(c.Conn, p) }

func (c *youngConn) Write(p []byte) (int, error) { return c.write(c.Conn, p) }

func (c *youngConn) SetWriteDeadline(t time.Time) error { return c.limit(c.Conn, t) }

func (c *youngConn) Close() error { return c.close(c.Conn) }

// youngTCP still writes several frames with one system call, as [net.Buffers] does for this type alone, without a call of Write.
type youngTCP struct {
	*net.TCPConn
	*youth
}

func (c *youngTCP) Read(p []byte) (int, error) { return c.read(c.TCPConn, p) }

func (c *youngTCP) Write(p []byte) (int, error) { return c.write(c.TCPConn, p) }

func (c *youngTCP) SetWriteDeadline(t time.Time) error { return c.limit(c.TCPConn, t) }

func (c *youngTCP) Close() error { return c.close(c.TCPConn) }

// youth is what a connection knows of its age. It is read from by one goroutine at a time, and used otherwise by any.
type youth struct {
	until  time.Time
	old    bool
	heard  time.Time // when the last bytes came
	ended  atomic.Pointer[error]
	once   sync.Once
	closed chan struct{}
}

func (y *youth) read(conn net.Conn, p []byte) (int, error) {
	n, err := conn.Read(p)
	if y.old {
		return n, err
	}
	now := time.Now()
	var timeout net.Error
	switch y.old = now.After(y.until); {
	case err == nil:
		y.heard = now
	case errors.As(err, &timeout) && timeout.Timeout(): // it has not ended, and gocql reads on
	case !y.heard.IsZero() && !y.old: // else there was no handshake
		y.ended.Store(&err)
		late := time.NewTimer(y.heard.Add(lastWords).Sub(now))
		defer late.Stop()
		select {
		case <-late.C:
		case <-y.closed:
		}
	}
	return n, err
}

func (y *youth) write(conn net.Conn, p []byte) (int, error) {
	if err := y.ended.Load(); err != nil {
		return 0, *err
	}
	return conn.Write(p)
}

// limit is called by gocql before each write, and before those that are one for several frames.
func (y *youth) limit(conn net.Conn, t time.Time) error {
	if err := y.ended.Load(); err != nil {
		return *err
	}
	return conn.SetWriteDeadline(t)
}

func (y *youth) close(conn net.Conn) error {
	y.once.Do(func() { close(y.closed) })
	return conn.Close()
}

// Package faulty makes connections that fail on demand, for faults that a healthy cluster cannot be made to show.
package faulty

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"sync/atomic"

	"github.com/gocql/gocql"
)

// Dialer stands between gocql and its connections. It can lose the replies of writes: the server has applied them, and
// the client sees its connection break. The zero value is ready and loses nothing. It is safe for concurrent use, also
// by several sessions.
type Dialer struct {
	skip  atomic.Int64 // writes that keep their replies before those that lose them
	lose  atomic.Int64
	dying atomic.Bool
	sends atomic.Int64 // writes until death
	dead  atomic.Bool
	lost  atomic.Int64
}

// Lost is how many writes were applied whose reply was lost, the one with which the client died included. On a busy
// machine it can be less than was asked for: a server that gives up replies with an error, or later than the client
// waits.
func (d *Dialer) Lost() int { return int(d.lost.Load()) }

// DieAfter kills the client, as far as the cluster can tell, when n more writes have been sent: nothing that comes
// after them is sent, and no answer arrives, the last write's included. It is for good.
func (d *Dialer) DieAfter(n int) {
	d.sends.Store(int64(n))
	d.dead.Store(n == 0)
	d.dying.Store(true)
}

// Dead says whether the client has been killed.
func (d *Dialer) Dead() bool { return d.dead.Load() }

var errDead = errors.New("faulty: the client is dead")

// LoseReplies makes the next n writes (EXECUTE of a statement above consistency ONE and LOCAL_ONE, BATCH) lose their
// replies. Other requests on the same connection are lost with them.
func (d *Dialer) LoseReplies(n int) { d.LoseRepliesAfter(0, n) }

// LoseRepliesAfter is LoseReplies for those that come after the next skip writes.
func (d *Dialer) LoseRepliesAfter(skip, n int) {
	d.skip.Store(int64(skip))
	d.lose.Store(int64(n))
}

// Left is how many of them are still to be lost.
func (d *Dialer) Left() int { return int(max(0, d.lose.Load())) }

// Configure makes the connections of a session fail as the dialer says; its log would be full of them.
func (d *Dialer) Configure(c *gocql.ClusterConfig) {
	through := c.Dialer
	if through == nil {
		through = new(net.Dialer)
	}
	c.Dialer, c.Logger = connector{d, through}, log.New(io.Discard, "", 0)
}

// connector is the dialer of one session.
type connector struct {
	dialer  *Dialer
	through gocql.Dialer
}

func (c connector) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if c.dialer.dead.Load() {
		return nil, errDead
	}
	made, err := c.through.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: made, dialer: c.dialer}, nil
}

type conn struct {
	net.Conn
	dialer *Dialer
	broken atomic.Bool
	fatal  atomic.Bool // its last write was that of the client
}

// Opcodes of native protocol requests, the fifth byte of a frame.
const (
	opExecute = 0x0A
	opBatch   = 0x0D
)

// opResult is that of a reply that is no error.
const opResult = 0x08

// Write is called by gocql with one frame at a time.
func (c *conn) Write(frame []byte) (int, error) {
	if c.dialer.dead.Load() {
		_ = c.Close()
		return 0, errDead
	}
	if c.dialer.dying.Load() && isWrite(frame) && c.dialer.sends.Add(-1) <= 0 {
		c.fatal.Store(true)
		c.dialer.dead.Store(true)
	}
	if isWrite(frame) && c.dialer.lose.Load() > 0 && c.dialer.skip.Add(-1) < 0 &&
		c.dialer.lose.Add(-1) >= 0 {
		c.broken.Store(true)
	}
	return c.Conn.Write(frame)
}

// isWrite leaves out what is executed at the consistencies ONE and LOCAL_ONE: the driver and the library read the
// schema so, and whenever they like.
func isWrite(frame []byte) bool {
	const header = 9
	if len(frame) < header+2 || frame[4] != opExecute {
		return len(frame) > 4 && frame[4] == opBatch
	}
	level := frame[header+2:]
	if n := int(binary.BigEndian.Uint16(frame[header:])); len(level) >= n+2 {
		at := gocql.Consistency(binary.BigEndian.Uint16(level[n:]))
		return at != gocql.One && at != gocql.LocalOne
	}
	return true
}

// Read drops the reply that the server has sent, so that the write is surely applied when the client sees the end.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil && (c.broken.Load() || c.dialer.dead.Load()) {
		_ = c.Close()
		if (c.broken.Load() || c.fatal.Load()) && n > 4 && p[4] == opResult {
			c.dialer.lost.Add(1)
		}
		return 0, io.EOF
	}
	return n, err
}

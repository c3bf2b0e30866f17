package turn

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
)

// replay connects with nodes that carry out a prepared statement once. While it is on, the same answer comes at once
// after that, and nothing is done. A SELECT gets the answer that it got with the same values. So only the client uses
// CPU and allocates.
type replay struct {
	on       atomic.Bool
	mu       sync.Mutex
	reads    map[string]bool   // ids of prepared statements that read
	recorded map[string][]byte // answers
}

// Of the native protocol, version 4.
const (
	header                  = 9
	execute, batch, prepare = 0x0A, 0x0D, 0x09
	result                  = 0x08
	prepared                = 4 // kind of a result
)

type replayDialer struct {
	gocql.Dialer
	*replay
}

// DialContext implements [gocql.Dialer].
func (d replayDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	node, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &replayConn{Conn: node, of: d.replay, asked: map[uint16]string{}}
	c.there.L = &c.mu
	go c.forward()
	return c, nil
}

// replayConn is a connection of the client.
type replayConn struct {
	net.Conn // with the node
	of       *replay
	in       []byte // of the client, until a frame is whole

	mu    sync.Mutex
	there sync.Cond
	out   []byte            // for the client
	asked map[uint16]string // by stream: the key of what the node was asked, or PREPARE and the statement
	err   error
}

// Write takes frames of the client.
func (c *replayConn) Write(b []byte) (int, error) {
	c.in = append(c.in, b...)
	for len(c.in) >= header {
		size := header + int(binary.BigEndian.Uint32(c.in[5:]))
		if len(c.in) < size {
			break
		}
		if err := c.request(c.in[:size]); err != nil {
			return 0, err
		}
		c.in = c.in[:copy(c.in, c.in[size:])]
	}
	return len(b), nil
}

func (c *replayConn) request(f []byte) error {
	key, r := c.of.key(f), c.of
	c.mu.Lock()
	r.mu.Lock()
	answer := r.recorded[string(key)]
	r.mu.Unlock()
	if answer != nil && r.on.Load() {
		at := len(c.out) + 2
		c.out = append(c.out, answer...)
		copy(c.out[at:at+2], f[2:4])
		c.there.Signal()
		c.mu.Unlock()
		return nil
	}
	if f[4] == prepare {
		key = f[header+4:]
	}
	if key != nil {
		c.asked[binary.BigEndian.Uint16(f[2:])] = string(f[4:5]) + string(key)
	}
	c.mu.Unlock()
	_, err := c.Conn.Write(f)
	return err
}

// key is what the answer depends on: a prepared statement, and the values if it reads. Nil: it is not replayed.
func (r *replay) key(f []byte) []byte {
	body := f[header:]
	switch f[4] {
	case batch:
		body = body[4:] // type, number of statements, kind of the first
		return body[:2+binary.BigEndian.Uint16(body)]
	case execute:
		id := body[:2+binary.BigEndian.Uint16(body)]
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.reads[string(id)] {
			return body
		}
		return id
	default:
		return nil
	}
}

// forward takes the answers of the node.
func (c *replayConn) forward() {
	for {
		f := make([]byte, header)
		_, err := io.ReadFull(c.Conn, f)
		if err == nil {
			f = append(f, make([]byte, binary.BigEndian.Uint32(f[5:]))...)
			_, err = io.ReadFull(c.Conn, f[header:])
		}
		c.mu.Lock()
		if c.err = err; err == nil {
			c.of.record(c.asked[binary.BigEndian.Uint16(f[2:])], f)
			delete(c.asked, binary.BigEndian.Uint16(f[2:]))
			c.out = append(c.out, f...)
		}
		c.there.Signal()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (r *replay) record(asked string, f []byte) {
	if asked == "" || f[4] != result {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reads == nil {
		r.reads, r.recorded = map[string]bool{}, map[string][]byte{}
	}
	if asked[0] != prepare {
		r.recorded[asked[1:]] = f
		return
	}
	if body := f[header:]; binary.BigEndian.Uint32(body) == prepared {
		r.reads[string(body[4:6+binary.BigEndian.Uint16(body[4:])])] = bytes.HasPrefix([]byte(asked[1:]), []byte("SELECT"))
	}
}

// Read gives the client what there is for it.
func (c *replayConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.out) == 0 && c.err == nil {
		c.there.Wait()
	}
	n := copy(b, c.out)
	if c.out = c.out[:copy(c.out, c.out[n:])]; n > 0 {
		return n, nil
	}
	return 0, c.err
}

// SetDeadline and the others do nothing: an answer comes at once.
func (*replayConn) SetDeadline(time.Time) error      { return nil }
func (*replayConn) SetReadDeadline(time.Time) error  { return nil }
func (*replayConn) SetWriteDeadline(time.Time) error { return nil }

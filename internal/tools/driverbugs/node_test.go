// Package driverbugs reproduces bugs of Cassandra drivers that the library works around. It needs the standard library
// and the drivers alone, so that a copy of these files can be attached to an upstream issue.
package driverbugs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// The opcodes of the native protocol that a node meets, see its specification.
const (
	opError     = 0x00
	opStartup   = 0x01
	opReady     = 0x02
	opOptions   = 0x05
	opSupported = 0x06
	opQuery     = 0x07
	opResult    = 0x08
	opPrepare   = 0x09
	opExecute   = 0x0A
	opRegister  = 0x0B
	opBatch     = 0x0D
)

const (
	protocol       = 4
	unpreparedCode = 0x2500
	serverCode     = 0x0000
)

// node is a cluster of one node with no table. It knows its own row of system.local, prepares everything, and applies
// nothing.
type node struct {
	listener net.Listener
	accepted atomic.Int32
	// answer is asked before the node answers by itself. It may write to the connection, and says whether it has done all
	// there is to do.
	answer func(c *server, f frame) bool
}

// server is the node's end of a connection, which it counts from 1. It is used by one goroutine.
type server struct {
	net.Conn
	number     int32
	statements map[string]string // by id
}

type frame struct {
	stream    int16
	op        byte
	body      []byte
	id        []byte // that of the statement of an EXECUTE, or of the first one of a BATCH
	statement string
}

func startNode(t *testing.T, answer func(*server, frame) bool) *node {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{listener: listener, answer: answer}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go n.serve(&server{Conn: conn, number: n.accepted.Add(1), statements: map[string]string{}})
		}
	}()
	return n
}

func (n *node) serve(c *server) {
	defer func() { _ = c.Close() }()
	for {
		f, err := c.read()
		if err != nil {
			return
		}
		if n.answer(c, f) {
			continue
		}
		switch f.op {
		case opOptions:
			c.send(f.stream, opSupported, short(0))
		case opStartup, opRegister:
			c.send(f.stream, opReady, nil)
		case opPrepare:
			c.send(f.stream, opResult, c.prepared(f.statement))
		case opQuery, opExecute:
			c.send(f.stream, opResult, result(f.statement))
		default:
			c.send(f.stream, opResult, integer(1)) // void
		}
	}
}

func (c *server) read() (frame, error) {
	header := make([]byte, 9)
	if _, err := io.ReadFull(c, header); err != nil {
		return frame{}, err
	}
	f := frame{stream: int16(binary.BigEndian.Uint16(header[2:])), op: header[4], body: make([]byte, binary.BigEndian.Uint32(header[5:]))}
	if _, err := io.ReadFull(c, f.body); err != nil {
		return frame{}, err
	}
	switch rest := f.body; f.op {
	case opQuery, opPrepare:
		f.statement = string(rest[4 : 4+binary.BigEndian.Uint32(rest)])
	case opBatch:
		if rest = rest[3:]; rest[0] == 0 { // not prepared
			break
		}
		rest = rest[1:]
		fallthrough
	case opExecute:
		f.id = rest[2 : 2+binary.BigEndian.Uint16(rest)]
		f.statement = c.statements[string(f.id)]
	}
	return f, nil
}

func (c *server) send(stream int16, op byte, body []byte) { _, _ = c.Write(encode(stream, op, body)) }

// fail answers with an error of the protocol; more is what errors of its code have after the text.
func (c *server) fail(f frame, code int, more []byte) {
	c.send(f.stream, opError, join(integer(code), text("as the test wants it"), more))
}

// prepared is the answer to PREPARE: every bind marker is a varchar, and a result has no columns.
func (c *server) prepared(statement string) []byte {
	id := text("id of " + statement)
	c.statements[string(id[2:])] = statement
	markers := strings.Count(statement, "?")
	body := join(integer(4), id, integer(1), integer(markers), integer(0), text("k"), text("t"))
	for range markers {
		body = join(body, text("v"), short(typeVarchar))
	}
	return join(body, integer(4), integer(0))
}

const (
	typeBlob    = 0x0003
	typeVarchar = 0x000D
	typeUUID    = 0x000C
	typeInet    = 0x0010
	typeSet     = 0x0022
)

type column struct {
	name  string
	kind  []byte
	value []byte
}

// result is the answer to a statement: one row of system.local, no row of other tables, and void to what is no query.
func result(statement string) []byte {
	id := bytes.Repeat([]byte{1}, 16)
	switch {
	case !strings.HasPrefix(statement, "SELECT"):
		return integer(1)
	case !strings.Contains(statement, "system.local"):
		return rows()
	case strings.HasPrefix(statement, "SELECT schema_version "):
		return rows(column{"schema_version", short(typeUUID), id})
	}
	return rows(
		column{"key", short(typeVarchar), []byte("local")},
		column{"cluster_name", short(typeVarchar), []byte("c")},
		column{"data_center", short(typeVarchar), []byte("dc1")},
		column{"rack", short(typeVarchar), []byte("r1")},
		column{"host_id", short(typeUUID), id},
		column{"schema_version", short(typeUUID), id},
		column{"release_version", short(typeVarchar), []byte("3.11.19")},
		column{"partitioner", short(typeVarchar), []byte("org.apache.cassandra.dht.Murmur3Partitioner")},
		column{"rpc_address", short(typeInet), net.IPv4(127, 0, 0, 1).To4()},
		column{"broadcast_address", short(typeInet), net.IPv4(127, 0, 0, 1).To4()},
		column{"listen_address", short(typeInet), net.IPv4(127, 0, 0, 1).To4()},
		column{"tokens", join(short(typeSet), short(typeVarchar)), join(integer(1), integer(1), []byte("0"))},
	)
}

// rows is a result of one row; of none, if there are no columns.
func rows(columns ...column) []byte {
	body := join(integer(2), integer(1), integer(len(columns)), text("k"), text("t"))
	for _, c := range columns {
		body = join(body, text(c.name), c.kind)
	}
	body = join(body, integer(min(len(columns), 1)))
	for _, c := range columns {
		body = join(body, integer(len(c.value)), c.value)
	}
	return body
}

func encode(stream int16, op byte, body []byte) []byte {
	return join([]byte{protocol | 0x80, 0}, short(int(stream)), []byte{op}, integer(len(body)), body)
}

func integer(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

func short(i int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(i)) }

func text(s string) []byte { return append(short(len(s)), s...) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// dialer is that of a session. It tells of what the driver does with the connections, which it counts from 1, as the
// node does.
type dialer struct {
	node     *node
	dialed   atomic.Int32
	wrote    func(frame []byte) // on the goroutine of who writes
	closed   func(number int32) // when the driver closes a connection
	timedOut func(number int32) // when a read has ended with its limit
}

// DialContext implements the interface Dialer of both drivers.
func (d *dialer) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, d.node.listener.Addr().String())
	if err != nil {
		return nil, err
	}
	return &client{Conn: conn, dialer: d, number: d.dialed.Add(1)}, nil
}

// client is the driver's end of a connection.
type client struct {
	net.Conn
	dialer *dialer
	number int32
}

func (c *client) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && c.dialer.timedOut != nil {
		c.dialer.timedOut(c.number)
	}
	return n, err
}

func (c *client) Write(p []byte) (int, error) {
	if c.dialer.wrote != nil {
		c.dialer.wrote(p)
	}
	return c.Conn.Write(p)
}

func (c *client) Close() error {
	if c.dialer.closed != nil {
		c.dialer.closed(c.number)
	}
	return c.Conn.Close()
}

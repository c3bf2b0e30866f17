package cassandratest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/gocql/gocql"
)

// buffer is the size of the sockets' buffers, in bytes: small, so that a frozen node soon blocks its clients.
const buffer = 4 << 10

// dialer connects a client with the nodes.
type dialer struct {
	cluster *Cluster
	config  *gocql.ClusterConfig // for the limit of a connection to a node that has vanished
}

var _ gocql.Dialer = (*dialer)(nil)

// DialContext implements gocql.Dialer.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d.cluster.opening(ctx)
	n := d.cluster.at(host)
	if n == nil {
		return nil, fmt.Errorf("cassandratest: no node at %s", address)
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.ConnectTimeout)
	defer cancel()
	addr := &net.TCPAddr{IP: n.ip, Port: d.cluster.port}
	switch n.now() {
	case stopped:
		return nil, &net.OpError{Op: "dial", Net: network, Addr: addr, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case vanished:
		select {
		case <-ctx.Done():
		case <-d.cluster.done:
		}
		return nil, &net.OpError{Op: "dial", Net: network, Addr: addr, Err: os.ErrDeadlineExceeded}
	case healthy, silent, frozen:
	}
	if !d.cluster.pipes {
		c, err := new(net.Dialer).DialContext(ctx, network, addr.String())
		if err == nil {
			_ = c.(*net.TCPConn).SetWriteBuffer(buffer)
		}
		return c, err
	}
	client, server := net.Pipe()
	n.serve(server)
	return pipe{client, addr}, nil
}

func (c *Cluster) at(host string) *Node {
	for _, n := range c.nodes {
		if n.ip.String() == host {
			return n
		}
	}
	return nil
}

// pipe is an end of a pipe that says to be connected with a TCP address, as gocql requires, and fails as over TCP.
type pipe struct {
	net.Conn
	remote net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.remote }

func (p pipe) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	return n, p.failure("read", err)
}

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	return n, p.failure("write", err)
}

func (p pipe) failure(op string, err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return &net.OpError{Op: op, Net: "tcp", Addr: p.remote, Err: net.ErrClosed}
	}
	return err
}

package writer

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/gocql/gocql"
)

// handshakeDialer bounds the TLS handshake. gocql does not: a node that takes connections and says nothing, as a paused
// one does, would keep CreateSession from returning, and later keep the node's pool from being filled again.
type handshakeDialer struct {
	next    gocql.Dialer
	timeout time.Duration
}

// withHandshakeLimit returns the dialer for a session with TLS. gocql takes the limit off, or puts its own in its place,
// with the first request after the handshake, but only if it has limits itself.
func withHandshakeLimit(config *gocql.ClusterConfig) gocql.Dialer {
	if config.SslOpts == nil || config.ConnectTimeout <= 0 || config.Timeout <= 0 {
		return config.Dialer
	}
	next := config.Dialer
	if next == nil { // gocql's own
		dialer := &net.Dialer{Timeout: config.ConnectTimeout}
		if config.SocketKeepalive > 0 {
			dialer.KeepAlive = config.SocketKeepalive
		}
		next = dialer
	}
	return handshakeDialer{next: next, timeout: config.ConnectTimeout}
}

// DialContext implements gocql.Dialer.
func (d handshakeDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.next.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(d.timeout)); err != nil {
		return nil, fmt.Errorf("limit the TLS handshake with %s: %w", address, err)
	}
	return conn, nil
}

package session

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/gocql/gocql"
)

// hostDialer makes the connections of a session that [Connect] opens, as gocql's own does, but for two things.
//
// It bounds the TLS handshake. gocql does not: a node that takes connections and says nothing, as a paused one does,
// would keep CreateSession from returning, and later keep the node's pool from being filled again.
//
// It gives connections that may end early, see [newFreshConn].
type hostDialer struct {
	dialer    gocql.Dialer
	tls       *tls.Config // nil for none
	handshake time.Duration
}

// newHostDialer is the dialer for a session of config, or the one that config has, with connections that may end early.
func newHostDialer(config *gocql.ClusterConfig) (gocql.HostDialer, error) {
	fresh := freshFor + config.ConnectTimeout // for the handshake of the protocol
	if config.HostDialer != nil {
		return freshDialer{config.HostDialer, fresh}, nil
	}
	d := hostDialer{dialer: config.Dialer, handshake: config.ConnectTimeout}
	if d.dialer == nil { // gocql's own
		d.dialer = &net.Dialer{Timeout: config.ConnectTimeout, KeepAlive: max(0, config.SocketKeepalive)}
	}
	if config.SslOpts != nil {
		var err error
		if d.tls, err = tlsConfig(config.SslOpts); err != nil {
			return nil, err
		}
	}
	return freshDialer{d, fresh}, nil
}

// DialHost implements gocql.HostDialer.
func (d hostDialer) DialHost(ctx context.Context, host *gocql.HostInfo) (*gocql.DialedHost, error) {
	address := host.ConnectAddressAndPort()
	conn, err := d.dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err //nolint:wrapcheck // gocql looks at its type
	}
	limited := d.tls != nil && d.handshake > 0
	if limited {
		if err = conn.SetDeadline(time.Now().Add(d.handshake)); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("limit the TLS handshake with %s: %w", address, err)
		}
	}
	name := address // the fork of ScyllaDB verifies the address
	if host, ok := any(host).(interface{ HostnameAndPort() string }); ok {
		name = host.HostnameAndPort()
	}
	dialed, err := gocql.WrapTLS(ctx, conn, name, d.tls)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is the one that gocql would give
	}
	if limited {
		if err = conn.SetDeadline(time.Time{}); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("after the TLS handshake with %s: %w", address, err)
		}
	}
	return dialed, nil
}

// freshDialer gives connections that may end early.
type freshDialer struct {
	next  gocql.HostDialer
	fresh time.Duration
}

// DialHost implements gocql.HostDialer.
func (d freshDialer) DialHost(ctx context.Context, host *gocql.HostInfo) (*gocql.DialedHost, error) {
	dialed, err := d.next.DialHost(ctx, host)
	if err != nil {
		return nil, err //nolint:wrapcheck // it stands for the other
	}
	with := *dialed
	with.Conn = newFreshConn(dialed.Conn, d.fresh)
	return &with, nil
}

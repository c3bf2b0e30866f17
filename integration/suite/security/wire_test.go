package security

import (
	"bytes"
	"context"
	"net"
	"sync"
)

// wire dials for gocql: it counts connections, keeps what a client sends, and can lead an address to the node.
type wire struct {
	to string // where all connections go; empty: where they are meant to

	mu    sync.Mutex
	dials int
	conns []net.Conn
	sent  bytes.Buffer
}

// DialContext implements gocql.Dialer.
func (w *wire) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dials++
	w.mu.Unlock()
	if w.to != "" {
		address = w.to
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, conn)
	return &tapped{Conn: conn, wire: w}, nil
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dials
}

// cut breaks all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.conns {
		_ = conn.Close()
	}
	w.conns = nil
}

func (w *wire) carried(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.sent.Bytes(), []byte(text))
}

type tapped struct {
	net.Conn
	wire *wire
}

func (t *tapped) Write(p []byte) (int, error) {
	t.wire.mu.Lock()
	t.wire.sent.Write(p)
	t.wire.mu.Unlock()
	return t.Conn.Write(p)
}

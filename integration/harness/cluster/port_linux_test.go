package cluster

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestHeldPortNamesItsHolder(t *testing.T) {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	port := listener.Addr().(*net.TCPAddr).Port
	err = checkAddress(t.Context(), "127.0.0.1", port)
	if err == nil || !strings.Contains(err.Error(), "pid ") || !strings.Contains(err.Error(), os.Args[0]) {
		t.Errorf("checkAddress of a held port: %v", err)
	}
}

// A node that has ended holds its ports a little longer.
func TestPortsAreFreeAfterTheEnd(t *testing.T) {
	t.Parallel()
	n := localNode{home: t.TempDir(), number: 77} // an address that no node has
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp4", net.JoinHostPort(loopback(n.number), strconv.Itoa(storagePort)))
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	time.AfterFunc(100*time.Millisecond, func() { closed <- listener.Close() })
	n.release(t.Context())
	if err := bind(t.Context(), loopback(n.number), storagePort); err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

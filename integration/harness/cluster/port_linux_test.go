package cluster

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
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

package session

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
)

// ends is a connection of which one end belongs to a node, and what is told of its end.
type ends struct {
	*testing.T
	client, node net.Conn
}

func (e ends) hear(t *testing.T) {
	t.Helper()
	go func() { _, _ = e.node.Write([]byte("x")) }()
	if n, err := e.client.Read(make([]byte, 9)); n != 1 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
}

// took is how long a read or write takes, and how it ends.
func took(do func([]byte) (int, error)) (time.Duration, error) {
	begin := time.Now()
	_, err := do(make([]byte, 9))
	return time.Since(begin), err
}

// The end of a fresh connection is read late, or when something is written, which then fails.
func TestEarlyClose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(e ends){
		"ended": func(e ends) {
			e.hear(e.T)
			<-time.After(100 * time.Millisecond)
			_ = e.node.Close()
			if d, err := took(e.client.Read); d != 150*time.Millisecond || !errors.Is(err, io.EOF) {
				e.Errorf("read %v, %v", d, err)
			}
			if err := e.client.SetWriteDeadline(time.Time{}); !errors.Is(err, io.EOF) {
				e.Errorf("a limit for writing: %v", err)
			}
		},
		"written to meanwhile": func(e ends) {
			e.hear(e.T)
			_ = e.node.Close()
			read := make(chan error, 1)
			go func() {
				_, err := took(e.client.Read)
				read <- err
			}()
			synctest.Wait()
			begin := time.Now()
			written := make(chan error, 1)
			go func() {
				_, err := took(e.client.Write)
				written <- err
			}()
			if err := <-read; !errors.Is(err, io.EOF) || time.Since(begin) != 0 { // before the write fails: see writeDelay
				e.Errorf("read %v after %v", err, time.Since(begin))
			}
			if err := <-written; !errors.Is(err, io.EOF) || time.Since(begin) != writeDelay {
				e.Errorf("write %v after %v", err, time.Since(begin))
			}
		},
		"without a handshake": func(e ends) {
			_ = e.node.Close()
			if d, err := took(e.client.Read); d != 0 || !errors.Is(err, io.EOF) {
				e.Errorf("read %v, %v", d, err)
			}
		},
		"old": func(e ends) {
			e.hear(e.T)
			<-time.After(time.Minute)
			e.hear(e.T)
			_ = e.node.Close()
			if d, err := took(e.client.Read); d != 0 || !errors.Is(err, io.EOF) {
				e.Errorf("read %v, %v", d, err)
			}
		},
		"only out of time": func(e ends) {
			e.hear(e.T)
			if err := e.client.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
				e.Fatal(err)
			}
			if d, err := took(e.client.Read); d != time.Second || !errors.Is(err, os.ErrDeadlineExceeded) {
				e.Errorf("read %v, %v", d, err)
			}
			go func() { _, _ = io.Copy(io.Discard, e.node) }()
			if err := e.client.SetDeadline(time.Time{}); err != nil {
				e.Error(err)
			}
			if _, err := took(e.client.Write); err != nil {
				e.Error(err)
			}
			e.hear(e.T)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, node := net.Pipe()
				fresh := newFreshConn(client, time.Second)
				test(ends{t, fresh, node})
				_, _ = fresh.Close(), node.Close()
			})
		})
	}
}

// With TLS a node that closes a connection says so in bytes, which is its end all the same.
func TestEarlyCloseTLS(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pair := selfSigned(t, "10.0.0.9")
		config := Configure(gocql.NewCluster("10.0.0.9"), "")
		config.SslOpts = &gocql.SslOptions{Config: &tls.Config{RootCAs: poolOf(pair), Certificates: []tls.Certificate{pair}}}
		config.Dialer = &scriptedDialer{node: serveTLS(pair, func(c net.Conn) {
			_, _ = c.Write([]byte("x"))
			_ = c.Close()
		})}
		dialer, err := newHostDialer(config)
		if err != nil {
			t.Fatal(err)
		}
		dialed, err := dialer.DialHost(t.Context(), hostAt("10.0.0.9"))
		if err != nil {
			t.Fatal(err)
		}
		if !dialed.DisableCoalesce {
			t.Error("frames of TLS would be written one by one")
		}
		if _, err := dialed.Conn.Read(make([]byte, 9)); err != nil {
			t.Fatal(err)
		}
		if d, err := took(dialed.Conn.Read); d != eofDelay || !errors.Is(err, io.EOF) {
			t.Errorf("read %v, %v", d, err)
		}
		_ = dialed.Conn.Close()
	})
}

func hostAt(address string) *gocql.HostInfo {
	return drivertest.Host("", address)
}

// Files of TLS that are not there, or hold nothing, are one error before anything is dialled.
func TestConnectRefusesFiles(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string]gocql.SslOptions{
		"no authorities":    {CaPath: filepath.Join(t.TempDir(), "missing.pem")},
		"empty authorities": {CaPath: empty},
		"no certificate":    {CertPath: filepath.Join(t.TempDir(), "missing.pem"), KeyPath: empty},
		"no key":            {CertPath: empty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := Configure(gocql.NewCluster("10.0.0.9"), "")
			config.SslOpts = &options
			config.Dialer = refusing{t}
			if _, err := Connect(config); err == nil {
				t.Error("connected")
			} else {
				t.Log(err)
			}
		})
	}
}

type refusing struct{ *testing.T }

func (r refusing) DialContext(context.Context, string, string) (net.Conn, error) {
	r.Error("dialled")
	return nil, io.EOF
}

// pieces counts what is written one by one.
type pieces struct {
	*freshTCP
	n int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.n++
	return p.freshTCP.Write(b)
}

// gocql sends the frames of several requests with one system call, which the connections of Connect must not take from
// it.
func TestFreshConnWritesAtOnce(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	fresh, ok := newFreshConn(conn, time.Second).(*freshTCP)
	if !ok {
		t.Fatal("not a TCP connection")
	}
	p := &pieces{freshTCP: fresh}
	buffers := net.Buffers{[]byte("a"), []byte("b"), []byte("c")}
	if n, err := buffers.WriteTo(p); n != 3 || err != nil || p.n != 0 {
		t.Errorf("%d bytes, %v, %d by themselves", n, err, p.n)
	}
}

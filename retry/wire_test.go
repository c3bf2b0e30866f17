package retry_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// errorBody is the body of an ERROR frame of protocol 4: code, message, and what the code adds.
func errorBody(code int, more ...any) []byte {
	body := binary.BigEndian.AppendUint32(nil, uint32(code))
	for _, part := range append([]any{"text of the server"}, more...) {
		switch v := part.(type) {
		case int:
			body = binary.BigEndian.AppendUint32(body, uint32(v))
		case gocql.Consistency:
			body = binary.BigEndian.AppendUint16(body, uint16(v))
		case byte:
			body = append(body, v)
		case string:
			body = append(binary.BigEndian.AppendUint16(body, uint16(len(v))), v...)
		case []string:
			body = binary.BigEndian.AppendUint16(body, uint16(len(v)))
			for _, s := range v {
				body = append(binary.BigEndian.AppendUint16(body, uint16(len(s))), s...)
			}
		default:
			panic("errorBody: no encoding")
		}
	}
	return body
}

// decoded is the error that gocql makes of an ERROR frame. The type of most of these errors is not exported, so a
// session is started against a server that answers STARTUP with the frame, and the connect observer is told the error.
func decoded(t *testing.T, body []byte) error {
	t.Helper()
	seen := &connectErrors{}
	cluster := gocql.NewCluster("127.0.0.1")
	cluster.ProtoVersion = 4
	cluster.ConnectTimeout = 10 * time.Second
	cluster.Dialer = refusingDialer(body)
	cluster.ConnectObserver = seen
	cluster.Logger = silent{}
	if session, err := cluster.CreateSession(); err == nil {
		session.Close()
		t.Fatal("the session started in spite of the error frame")
	}
	err := seen.first()
	if err == nil {
		t.Fatal("gocql reported no error to the connect observer")
	}
	return err
}

// refusingDialer connects to a server that answers OPTIONS with an empty SUPPORTED and everything else with an ERROR
// frame of this body.
type refusingDialer []byte

func (d refusingDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer func() { _ = server.Close() }()
		for {
			header := make([]byte, 9)
			if _, err := io.ReadFull(server, header); err != nil {
				return
			}
			request := make([]byte, binary.BigEndian.Uint32(header[5:]))
			if _, err := io.ReadFull(server, request); err != nil {
				return
			}
			const opError, opOptions, opSupported = 0x00, 0x05, 0x06
			op, body := byte(opError), []byte(d)
			if header[4] == opOptions {
				op, body = opSupported, []byte{0, 0}
			}
			answer := []byte{0x84, 0, header[2], header[3], op}
			answer = binary.BigEndian.AppendUint32(answer, uint32(len(body)))
			if _, err := server.Write(append(answer, body...)); err != nil {
				return
			}
		}
	}()
	return client, nil
}

type connectErrors struct {
	mu   sync.Mutex
	errs []error
}

func (c *connectErrors) ObserveConnect(o gocql.ObservedConnect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, o.Err)
}

func (c *connectErrors) first() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.errs) == 0 {
		return nil
	}
	return c.errs[0]
}

type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

package writer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
)

// spelled is what a request puts on the wire: every statement with its bound bytes, in a form that can be compared.
func spelled(r fanout.Attempt) string {
	var b strings.Builder
	for _, m := range r.Mutations {
		writeMutation(&b, m, time.UnixMilli(r.Now))
	}
	return b.String()
}

func writeMutation(b *strings.Builder, m *statement.Mutation, now time.Time) {
	text, args := m.At(now)
	fmt.Fprintf(b, "%s %x", text, m.PartitionKey)
	for _, a := range args {
		if v, ok := a.(*cqltype.Value); ok && v.Data != nil {
			fmt.Fprintf(b, " %s:%x", v.Type.String(), v.Data)
		} else {
			fmt.Fprintf(b, " %T", a) // null and unset differ by type
		}
	}
	b.WriteString("\n")
}

func wires(requests []fanout.Attempt) []string {
	out := make([]string, len(requests))
	for i, r := range requests {
		out[i] = spelled(r)
	}
	slices.Sort(out)
	return out
}

// wantEqualRequests says that two sets of requests are the same to the server.
func wantEqualRequests(t *testing.T, a, b []fanout.Attempt) {
	t.Helper()
	if x, y := wires(a), wires(b); !slices.Equal(x, y) {
		t.Errorf("sent\n%s\nthen\n%s", strings.Join(x, ""), strings.Join(y, ""))
	}
}

// boundBytes are the encoded values of all requests.
func boundBytes(requests []fanout.Attempt) []byte {
	var out bytes.Buffer
	for _, r := range requests {
		for _, m := range r.Mutations {
			for _, a := range m.Args {
				if v, ok := a.(*cqltype.Value); ok {
					out.Write(v.Data)
				}
			}
		}
	}
	return out.Bytes()
}

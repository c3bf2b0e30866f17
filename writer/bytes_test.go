package writer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
)

// spelled is what a request puts on the wire: every statement with its bound bytes, in a form that can be compared.
func spelled(r attempt) string {
	var b strings.Builder
	for _, m := range r.mutations {
		writeMutation(&b, m, time.UnixMilli(r.now))
	}
	return b.String()
}

func writeMutation(b *strings.Builder, m *entity.Mutation, now time.Time) {
	statement, args := m.At(now)
	fmt.Fprintf(b, "%s %x", statement, m.PartitionKey)
	for _, a := range args {
		if v, ok := a.(*entity.Value); ok && v.Bytes() != nil {
			fmt.Fprintf(b, " %s:%x", v.Type(), v.Bytes())
		} else {
			fmt.Fprintf(b, " %T", a) // null and unset differ by type
		}
	}
	b.WriteString("\n")
}

func wires(requests []attempt) []string {
	out := make([]string, len(requests))
	for i, r := range requests {
		out[i] = spelled(r)
	}
	slices.Sort(out)
	return out
}

// wantEqualRequests says that two sets of requests are the same to the server.
func wantEqualRequests(t *testing.T, a, b []attempt) {
	t.Helper()
	if x, y := wires(a), wires(b); !slices.Equal(x, y) {
		t.Errorf("sent\n%s\nthen\n%s", strings.Join(x, ""), strings.Join(y, ""))
	}
}

// boundBytes are the encoded values of all requests.
func boundBytes(requests []attempt) []byte {
	var out bytes.Buffer
	for _, r := range requests {
		for _, m := range r.mutations {
			for _, a := range m.Args {
				if v, ok := a.(*entity.Value); ok {
					out.Write(v.Bytes())
				}
			}
		}
	}
	return out.Bytes()
}

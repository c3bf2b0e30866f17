package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Datacentres are the datacentres of local nodes, one for each node in the order of their addresses. None means that
// all are in dc1. It is a flag, such as dc1:3,dc2:3.
type Datacentres []string

// mostNodes is how many nodes a developer's machine may carry.
const mostNodes = 12

// Set implements [flag.Value].
func (d *Datacentres) Set(text string) error {
	var out Datacentres
	for part := range strings.SplitSeq(text, ",") {
		name, count, _ := strings.Cut(part, ":")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > mostNodes-len(out) || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" || name == "" ||
			slices.Contains(out, name) {
			return fmt.Errorf("%q: want name:nodes,name:nodes, such as dc1:3,dc2:3, and at most %d nodes", text, mostNodes)
		}
		out = append(out, slices.Repeat(Datacentres{name}, n)...)
	}
	*d = out
	return nil
}

// String implements [flag.Value].
func (d *Datacentres) String() string {
	var parts []string
	for rest := *d; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n] == rest[0] {
			n++
		}
		parts, rest = append(parts, rest[0]+":"+strconv.Itoa(n)), rest[n:]
	}
	return strings.Join(parts, ",")
}

// of is the datacentre of node n, counted from 1.
func (d Datacentres) of(n int) string {
	if n <= len(d) {
		return d[n-1]
	}
	return "dc1"
}

var errNotLocal = errors.New("-dc: nodes of several datacentres are local processes: set " + ModeEnv + "=" + string(Local))

// Datacentre returns the nodes of the local cluster that are in a datacentre, see [Nodes].
func Datacentre(tb testing.TB, name string) []*Node {
	tb.Helper()
	return slices.DeleteFunc(Nodes(tb), func(n *Node) bool { return n.datacentre != name })
}

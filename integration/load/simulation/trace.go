package simulation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	ct "github.com/denorm-go/denorm/cassandratest"
)

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// trace is the history of what a finding names, as the nodes saw it: each write, when it came, where, and what was done
// with it.
func (c *crew) trace(finding string) string {
	ids := make(map[string]bool)
	for _, text := range uuids.FindAllString(finding, -1) {
		if id, err := gocql.ParseUUID(text); err == nil {
			ids[string(id[:])] = true
		}
	}
	var b strings.Builder
	for _, r := range c.cluster.Journal() {
		if c.concerns(r, ids) && !reading(r) && r.Kind != ct.Prepare {
			fmt.Fprintf(&b, "    %12v node %d %v", r.At.Sub(c.started), r.Node, r.Kind)
			for _, s := range r.Statements {
				verb, _, _ := strings.Cut(s.Text, " ")
				at, _ := s.Value("[timestamp]")
				fmt.Fprintf(&b, " %s %s@%x", verb, s.Table, at.Bytes)
			}
			fmt.Fprintf(&b, ": %s", strings.Join(r.Steps, ", "))
			if r.Applied > 0 {
				fmt.Fprintf(&b, "; applied at %v", r.AppliedAt.Sub(c.started))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func (c *crew) concerns(r ct.Request, ids map[string]bool) bool {
	return slices.ContainsFunc(r.Statements, func(s ct.Statement) bool {
		return s.Keyspace == c.service.keyspace && slices.ContainsFunc(s.Values, func(v ct.Value) bool { return ids[string(v.Bytes)] })
	})
}

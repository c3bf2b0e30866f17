package security

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// newRole makes a role that may read the shop and write these of its tables.
func newRole(t *testing.T, tables ...string) (user, password string) {
	t.Helper()
	user, password = "r"+strings.ReplaceAll(random(), "-", ""), random()
	statements := []string{
		`CREATE ROLE ` + user + ` WITH PASSWORD = '` + password + `' AND LOGIN = true`,
		`GRANT SELECT ON KEYSPACE shop TO ` + user,
	}
	for _, table := range tables {
		statements = append(statements, `GRANT MODIFY ON TABLE shop.`+table+` TO `+user)
	}
	administer(t, statements...)
	return user, password
}

func changePassword(t *testing.T, user, password string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Second) {
		err := node.administer(t.Context(), `ALTER ROLE `+user+` WITH PASSWORD = '`+password+`'`)
		switch {
		case err == nil:
			return
		case !strings.Contains(err.Error(), "can only be changed every") || time.Now().After(deadline): // Cassandra 6, 5 s after the last time
			t.Fatal(err)
		}
	}
}

func administer(t *testing.T, statements ...string) {
	t.Helper()
	if err := node.administer(t.Context(), statements...); err != nil {
		t.Fatal(err)
	}
}

// refusals counts the requests that the node answered with an error.
type refusals struct{ atomic.Int64 }

// ObserveFrameHeader implements gocql.FrameHeaderObserver.
func (r *refusals) ObserveFrameHeader(_ context.Context, header gocql.ObservedFrameHeader) {
	const errorOpcode = 0
	if header.Opcode == errorOpcode {
		r.Add(1)
	}
}

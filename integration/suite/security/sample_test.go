package security

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/schema"
)

// A role that may not read rows, as one that reviews schemas, is told that none was looked at, and Validate fails for
// nothing else.
func TestValidateWithoutPermission(t *testing.T) {
	t.Parallel()
	user, password := "r"+strings.ReplaceAll(random(), "-", ""), random()
	administer(t, `CREATE ROLE `+user+` WITH PASSWORD = '`+password+`' AND LOGIN = true`)
	s := newService(user, password)
	s.config.Keyspace = ""
	on := testsession.New(t, nil, s.connect(t))
	in := orders.Schema.In(map[string]string{"": "shop"})
	if err := schema.Validate(t.Context(), on, in); err != nil {
		t.Error(err)
	}
	found, err := schema.Differences(t.Context(), on, in)
	if text := (&schema.DifferenceError{Differences: found}).Error(); err != nil || !strings.Contains(text, "no row was looked at for a TTL, as the role has no permission to SELECT") {
		t.Error(err, text)
	}
}

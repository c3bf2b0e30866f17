package catalog_test

import (
	"errors"
	"io"
	"log"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// both are a keyspace of a real cluster and the same one of a [catalog.Schema].
type both struct {
	session  *gocql.Session
	schema   *catalog.Schema
	keyspace string
	version  string // of the real one
}

func newBoth(t *testing.T) *both {
	t.Helper()
	b := &both{schema: catalog.New(), keyspace: cluster.Keyspace(t, 1), version: version(t)}
	b.session = cluster.Session(t, b.keyspace, alone)
	b.define(t, "CREATE KEYSPACE KS WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}")
	return b
}

// version is that of the nodes, which must be of a version that the in-process Cassandra can be compared with.
func version(t *testing.T) string {
	t.Helper()
	v := cluster.Version(t)
	if cluster.Differs(v, "suite/catalog", "") {
		t.Skipf("Cassandra %s is not compared", v)
	}
	return v
}

// alike fails unless the two are alike, or are known not to be in this version.
func (b *both) alike(t *testing.T, alike bool, about, format string, args ...any) {
	t.Helper()
	switch known := cluster.Differs(b.version, t.Name(), about); {
	case alike && known:
		t.Errorf("%s: Cassandra %s is listed as different, and is not", about, b.version)
	case !alike && !known:
		t.Errorf(about+": "+format, args...)
	}
}

// alone is a session with one node, which knows what it has defined: nobody waits after each statement until the others
// know it too.
func alone(config *gocql.ClusterConfig) {
	config.Hosts = config.Hosts[:1]
	config.DisableInitialHostLookup = true
	config.Events.DisableNodeStatusEvents, config.Events.DisableTopologyEvents = true, true
	config.MaxWaitSchemaAgreement = 1
	config.Logger = log.New(io.Discard, "", 0) // it complains that it did not wait long enough
}

// define carries a statement out in the process.
func (b *both) define(t *testing.T, text string) {
	t.Helper()
	if code, message := b.refusal(text); message != "" {
		t.Fatalf("%s: %x %s", text, code, message)
	}
}

// refusal is what the in-process schema answers to a statement, in which KS stands for the keyspace; no message is
// success.
func (b *both) refusal(text string) (code int, message string) {
	stmt, err := ast.Parse(b.text(text))
	if err == nil {
		_, err = b.schema.Define(stmt, b.keyspace)
	}
	var refused *catalog.Error
	var syntax *ast.SyntaxError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &refused):
		return refused.Code, refused.Message
	case errors.As(err, &syntax):
		return gocql.ErrCodeSyntax, err.Error()
	}
	return gocql.ErrCodeInvalid, err.Error()
}

// realRefusal is what the real cluster answers.
func (b *both) realRefusal(t *testing.T, text string) (code int, message string) {
	t.Helper()
	err := b.session.Query(b.text(text)).Exec()
	var refused gocql.RequestError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &refused):
		return refused.Code(), refused.Message()
	}
	t.Fatalf("%s: %v", text, err)
	return 0, ""
}

func (b *both) text(text string) string { return strings.ReplaceAll(text, "KS", b.keyspace) }

// setUp changes the schema on both.
func (b *both) setUp(t *testing.T, statements ...string) {
	t.Helper()
	texts := make([]string, len(statements))
	for i, s := range statements {
		b.define(t, s)
		texts[i] = b.text(s)
	}
	cluster.ChangeSchema(t, b.keyspace, texts...)
}

// raw is the bytes of a value.
type raw struct{ bytes []byte }

func (r *raw) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	r.bytes = nil
	if data != nil {
		r.bytes = append([]byte{}, data...)
	}
	return nil
}

func (r raw) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return r.bytes, nil }

package lint_test

import (
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type bucketedMessage struct {
	UserID string
	MsgID  gocql.UUID
	Text   string
}

// TestBucketOfTheKey: a hash of columns of the partition key splits nothing, so the table is reviewed as if it were not there.
func TestBucketOfTheKey(t *testing.T) {
	t.Parallel()
	for column, want := range map[string]bool{"user_id": true, "msg_id": false} {
		set := tables.Must(tables.New[bucketedMessage]("message",
			tables.Table{Name: "messages", PartKey: []string{"user_id", "bucket"}, SortKey: []string{"msg_id DESC"}},
			tables.Type("msg_id", "timeuuid"), tables.Derive("bucket", tables.Hash(10, column))))
		found := false
		for _, f := range lint.Check(schema.Must(schema.Declare(schema.Sets(set)))) {
			found = found || f.Code == "DN104"
		}
		if found != want {
			t.Errorf("bucket of %s: DN104 is found: %t", column, found)
		}
	}
}

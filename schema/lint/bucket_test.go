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

// TestBucketOfTheKey: a hash divides a partition that grows forever into several that do, and one of columns of the
// partition key does not even do that. A bucket of time ends it.
func TestBucketOfTheKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bucket tables.Bucket
		want   bool
	}{
		"hash of the key": {tables.Hash(10, "user_id"), true},
		"hash":            {tables.Hash(10, "msg_id"), true},
		"day":             {tables.Day("msg_id"), false},
	} {
		set := tables.Must(tables.New[bucketedMessage]("message",
			tables.Table{Name: "messages", PartKey: []string{"user_id", "bucket"}, SortKey: []string{"msg_id DESC"}},
			tables.Type("msg_id", "timeuuid"), tables.Derive("bucket", test.bucket)))
		found := false
		for _, f := range lint.Check(schema.Must(schema.Declare(schema.Sets(set)))) {
			found = found || f.Code == "DN104"
		}
		if found != test.want {
			t.Errorf("%s: DN104 is found: %t", name, found)
		}
	}
}

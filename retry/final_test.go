package retry_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/retry"
)

// codedText is an error of the server with its text.
type codedText struct {
	code int
	text string
}

func (e codedText) Code() int       { return e.code }
func (e codedText) Message() string { return e.text }
func (e codedText) Error() string   { return e.text }

// Final are answers about the value, the limits and the permissions. What is missing may only be late, and what is not
// known may pass.
func TestFinal(t *testing.T) {
	t.Parallel()
	for want, errs := range map[bool][]codedText{
		true: {
			{gocql.ErrCodeUnauthorized, "User shop has no MODIFY permission on <table shop.orders> or any of its parents"},
			{gocql.ErrCodeInvalid, "Cannot index value of size 70000 for index bio_idx on shop.members(bio) (maximum allowed " +
				"size=65535)"},
			{gocql.ErrCodeInvalid, "Guardrail items_per_collection violated: Detected collection tags with 101 items, this " +
				"exceeds the failure threshold of 100."},
			{gocql.ErrCodeInvalid, "Batch too large"},
			{gocql.ErrCodeInvalid, "Key length of 70000 is longer than maximum of 65535"},
			{gocql.ErrCodeInvalid, "Column value does not satisfy value constraint for column 'bio'. It has a length of 16 " +
				"and it should be < 10"},
		},
		false: {
			{gocql.ErrCodeInvalid, "Guardrail replica_disk_usage violated: Write request failed because disk usage exceeds " +
				"failure threshold."},
			{gocql.ErrCodeInvalid, "Guardrail maximum_timestamp violated: The modification timestamp 2 is after the maximum " +
				"allowable timestamp"},
			{gocql.ErrCodeInvalid, "table orders does not exist"},
			{gocql.ErrCodeInvalid, "Undefined column name note in table shop.orders"},
			{gocql.ErrCodeInvalid, ""},
			{gocql.ErrCodeSyntax, "line 1:0 no viable alternative"},
			{gocql.ErrCodeServer, "Batch too large"},
		},
	} {
		for _, err := range errs {
			if v := retry.Classify(err, retry.Partition); v.Final != want {
				t.Errorf("%v: final %v", err, v.Final)
			}
		}
	}
}

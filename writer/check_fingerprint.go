package writer

import (
	"context"

	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// fingerprint compares what the set declares of a table with what the processes declare that write it, which its comment
// says.
func (c *checker) fingerprint(keyspace string, t tables.TableDescription) error {
	var comment string
	if _, err := c.w.retrier.Do(c.ctx, retry.Partition, func(ctx context.Context, _ int) error {
		err := c.session.Query(`SELECT comment FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?`, keyspace, t.Name).
			WithContext(ctx).Consistency(gocql.One).RetryPolicy(nil).Scan(&comment)
		return hosts.Cause(ctx, err)
	}, nil); err != nil {
		return err
	}
	own, live := fingerprint.Split(comment)
	for _, f := range fingerprint.Check(t.Fingerprint, live, c.w.clock.now()) {
		d := Difference{Keyspace: keyspace, Table: t.Name, Column: f.Column, Reason: f.Reason, Note: f.Note}
		if f.Write != "" {
			d.Fix = fingerprint.Statement(keyspace+"."+t.Name, own, f.Write)
			f.Do = "put " + f.Write + " behind its comment, which has characters that cannot be printed"
		}
		if d.Fix == "" {
			d.Reason += "; " + f.Do
		}
		c.differences = append(c.differences, d)
	}
	return nil
}

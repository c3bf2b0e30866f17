package writer_test

import (
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/writer"
)

// One session for writes and reads is rejected, in whichever order it is given; two readers, or two writers, may share one.
func TestOneSessionForBoth(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		session := func() *gocql.Session {
			s, err := writer.Connect(writer.Configure(c.Config(), "dc1"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			return s
		}
		write := func(s *gocql.Session, reads ...writer.NewOption) error {
			_, err := writer.New(s, reads...)
			return err
		}
		read := func(s *gocql.Session) error {
			_, err := reader.New(s)
			return err
		}
		a, b := session(), session()
		for i, err := range []error{write(a, writer.Reads(b)), read(b), write(a), write(a, writer.Reads(b))} {
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
		for i, err := range []error{read(a), write(b), write(session(), writer.Reads(a)), write(a, writer.Reads(a))} {
			if err == nil || !strings.Contains(err.Error(), "session") {
				t.Errorf("%d: one session writes and reads: %v", i, err)
			}
		}
	})
}

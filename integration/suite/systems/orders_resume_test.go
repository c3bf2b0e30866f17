package systems

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/shop"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// resumeEnv makes this test binary a process that resumes the error on its standard input, on the hosts named in it.
const resumeEnv = "DENORM_TEST_RESUME"

func resumeInThisProcess() int {
	err := func() error {
		stored, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		failed := new(writer.Error)
		if err := failed.UnmarshalBinary(stored); err != nil {
			return err
		}
		// Another process, and a session without keyspace: the stored write knows its own, and this one says that it is
		// right.
		s, err := session.Open(gocql.NewCluster(strings.Split(os.Getenv(resumeEnv), ",")...),
			session.Keyspaces(map[string]string{"": failed.Tables[0].Keyspace}))
		if err != nil {
			return err
		}
		defer s.Close()
		w, err := writer.New(s, writer.Resumes(orders.Orders))
		if err != nil {
			return err
		}
		_, err = w.Resume(context.Background(), failed)
		return err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func resumeInAnotherProcess(t *testing.T, failed *writer.Error) {
	t.Helper()
	stored, err := failed.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	other := exec.CommandContext(ctx, os.Args[0])
	other.Env = append(os.Environ(), resumeEnv+"="+strings.Join(cluster.Hosts(t), ","))
	other.Stdin = bytes.NewReader(stored)
	if out, err := other.CombinedOutput(); err != nil {
		t.Fatalf("the other process: %v\n%s", err, out)
	}
}

// One table is missing while an order is created and while it is paid. Another process finishes the write, and the
// tables cannot be told from those of an undisturbed one.
func TestResumeInAnotherProcess(t *testing.T) {
	t.Parallel()
	s := suite.OpenOrders(t, nodes.Cassandra)
	w := s.Writer.With(writer.Retry(retry.Policy{MaxAttempts: 2}))
	missing := schema.Schema{Tables: []schema.Table{*orders.Schema.Table(schema.ID{Name: "orders_by_user"})}}
	table := missing.Statements()[0]
	for name, w := range map[string]*writer.Writer{
		"fan-out":      w.With(writer.Concurrent()),
		"logged batch": w.With(writer.Logged()),
	} {
		t.Run(name, func(t *testing.T) {
			o := shop.NewOrder()
			s.ChangeSchema(t, s.Keyspace, "DROP TABLE orders_by_user")
			failed := fail(t, w, orders.Orders.Insert(o))
			if w != nil && failed.Mode == writer.FanOut {
				want := map[string]writer.Outcome{
					"orders_by_id": writer.Applied, "orders_by_user": writer.NotApplied, "orders_by_status": writer.Applied,
				}
				for _, r := range failed.Tables {
					if r.Outcome != want[r.Table] {
						t.Errorf("%s is %v, want %v", r.Table, r.Outcome, want[r.Table])
					}
				}
				if !errors.Is(failed, writer.ErrPartial) || errors.Is(failed, writer.ErrUnknown) {
					t.Errorf("%v: want ErrPartial and nothing unknown", failed)
				}
			} else if !failed.NotApplied() {
				t.Errorf("%v: a batch with a missing table is not applied at all", failed)
			}
			s.ChangeSchema(t, s.Keyspace, table)
			resumeInAnotherProcess(t, failed)
			o.UpdatedAt = failed.Timestamp
			s.WantEverywhere(t, o)

			paid := o
			paid.Status = orders.Paid
			s.ChangeSchema(t, s.Keyspace, "DROP TABLE orders_by_user")
			failed = fail(t, w, orders.Orders.Update(o, paid))
			s.ChangeSchema(t, s.Keyspace, table)
			resumeInAnotherProcess(t, failed)
			resumeInAnotherProcess(t, failed) // twice is as good as once
			paid.UpdatedAt = failed.Timestamp
			s.WantEverywhere(t, paid)
		})
	}
}

// fail carries out a write that must fail.
func fail(t *testing.T, w *writer.Writer, changes ...tables.Change) *writer.Error {
	t.Helper()
	var failed *writer.Error
	if _, err := w.Write(t.Context(), "test", changes...); !errors.As(err, &failed) {
		t.Fatalf("error %v, want a *writer.Error", err)
	}
	return failed
}

package soak_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gocql/gocql"

	ct "github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A write that failed is stored as a file. Two processes may have it at the same time; it stays until nothing is left
// to be done, and what was told of each delivery is in their journals.
func TestStoredWrites(t *testing.T) {
	ct.Test(t, 3, func(t *testing.T, c *ct.Cluster) {
		c.Create(`CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}`)
		c.Create(schema.Must(schema.Declare(schema.Sets(soak.Accounts))).In(map[string]string{"": "shop"}).Statements()...)
		config := c.Config()
		config.Keyspace = "shop"
		s, err := session.Open(config, session.LocalDC("dc1"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		w, err := writer.New(s, writer.Retry(retry.Policy{MaxAttempts: 1}))
		if err != nil {
			t.Fatal(err)
		}
		box, h := history.Queue(t.TempDir()), history.New[soak.Account](nil)
		a := soak.Account{AccountID: gocql.MustRandomUUID(), Email: soak.Address(1), Status: "new", Changes: []int64{1}}
		down := c.When(ct.Table("accounts_by_status")).Do(ct.Fail(ct.Unavailable(gocql.LocalQuorum, 2, 1)))
		n := h.Begin("test", tables.Insert, a)
		_, err = w.Write(t.Context(), "create", soak.Accounts.Insert(a))
		h.End(n, 0, err)
		var failed *writer.Error
		if !errors.As(err, &failed) {
			t.Fatalf("%v, want an error", err)
		}
		if err := box.Put(history.Place{History: "1.1", N: n}, failed); err != nil {
			t.Fatal(err)
		}
		var journal bytes.Buffer
		noted := history.NewDeliveries(&journal)
		take := func() history.Message {
			m, ok, err := box.Take()
			if err != nil || !ok {
				t.Fatalf("nothing is in the queue: %v", err)
			}
			return m
		}
		one, other := take(), take()
		if done, err := soak.Deliver(t.Context(), w, box, one, noted, false); done || err != nil {
			t.Errorf("while a table is down: %v, %v", done, err)
		}
		down.End()
		for _, step := range []struct {
			m     history.Message
			twice bool
		}{{take(), true}, {other, false}, {one, false}} {
			if done, err := soak.Deliver(t.Context(), w, box, step.m, noted, step.twice); !done || err != nil {
				t.Errorf("delivered again: %v, %v", done, err)
			}
		}
		if m, ok, err := box.Take(); ok || err != nil {
			t.Errorf("%v is left, %v", m.Of, err)
		}
		if err := h.Deliver(&journal, "1.1", 0); err != nil {
			t.Fatal(err)
		}
		if got := h.Writes()[0]; got.Outcome != writer.Applied || got.Contradiction != "" {
			t.Errorf("%+v", got)
		}
	})
}

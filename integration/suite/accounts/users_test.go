package accounts_test

import (
	"errors"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/accounts"
	"github.com/denorm-go/denorm/integration/harness/faulty"
	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/writer"
)

// Of many who want one address at once one gets it, and the others are told who did.
func TestCreatedOnce(t *testing.T) {
	t.Parallel()
	p := reading.Open(t, 3, accounts.Schema.Statements()...)
	const email = "ann@example.org"
	var wg sync.WaitGroup
	var created atomic.Int32
	for i := range 20 {
		wg.Go(func() {
			switch err := accounts.Create(t.Context(), p.Writer, email, string(rune('A'+i))); {
			case err == nil:
				created.Add(1)
			case errors.Is(err, writer.ErrConflict):
				if u, ok := writer.Current[accounts.User](err); !ok || u.Email != email || u.Name == "" {
					t.Errorf("the user who is there: %+v, %t", u, ok)
				}
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := created.Load(); n != 1 {
		t.Errorf("created %d times, want once", n)
	}
	if u, err := accounts.Get(t.Context(), p.Writer, email); err != nil || u.Email != email {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := accounts.Get(t.Context(), p.Writer, "bob@example.org"); !errors.Is(err, writer.ErrNotFound) {
		t.Errorf("nobody's address: %v", err)
	}
	if err := accounts.Create(t.Context(), p.Writer, "", "A"); !errors.Is(err, writer.ErrInvalid) {
		t.Errorf("no address: %v", err)
	}
}

// The answer to the own insert is lost: it counts as what it was.
func TestOwnLostReply(t *testing.T) {
	t.Parallel()
	p := reading.Open(t, 3, accounts.Schema.Statements()...)
	var dialer faulty.Dialer
	client := p.Client(t, func(c *gocql.ClusterConfig) {
		c.Dialer, c.Logger = &dialer, log.New(io.Discard, "", 0) // it says that its connections break
	})
	w, err := writer.New(client, writer.Timeout(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if err := accounts.Create(t.Context(), w, "warm@example.org", "W"); err != nil {
		t.Fatal(err)
	}
	dialer.LoseReplies(1)
	if err := accounts.Create(t.Context(), w, "ann@example.org", "Ann"); err != nil {
		t.Errorf("the answer was lost: %v", err)
	}
	if u, err := accounts.Get(t.Context(), p.Writer, "ann@example.org"); err != nil || u.Name != "Ann" {
		t.Errorf("%+v, %v", u, err)
	}
	if err := accounts.Create(t.Context(), w, "ann@example.org", "Bob"); !errors.Is(err, writer.ErrConflict) {
		t.Errorf("created again: %v", err)
	}
}

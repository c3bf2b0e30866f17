package suite

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/accounts"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/writer"
)

type accountTests struct{ *Place }

// Of many who want one address at once one gets it, and the others are told who did.
func (p accountTests) CreatedOnce(t *testing.T) {
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
func (p accountTests) OwnLostReply(t *testing.T) {
	var dialer faulty.Dialer
	w := NewWriter(t, p.Faulty(t, &dialer), writer.Timeout(20*time.Second))
	if err := accounts.Create(t.Context(), w, "warm@example.org", "W"); err != nil {
		t.Fatal(err)
	}
	dialer.LoseReplies(1)
	if err := accounts.Create(t.Context(), w, "eve@example.org", "Ann"); err != nil {
		t.Errorf("the answer was lost: %v", err)
	}
	if u, err := accounts.Get(t.Context(), p.Writer, "eve@example.org"); err != nil || u.Name != "Ann" {
		t.Errorf("%+v, %v", u, err)
	}
	if err := accounts.Create(t.Context(), w, "eve@example.org", "Bob"); !errors.Is(err, writer.ErrConflict) {
		t.Errorf("created again: %v", err)
	}
}

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
				u, ok := writer.Current[accounts.User](err)
				wrong(t, !ok || u.Email != email || u.Name == "", "the user who is there: %+v, %t", u, ok)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := created.Load()
	wrong(t, n != 1, "created %d times, want once", n)
	u, err := accounts.Get(t.Context(), p.Writer, email)
	wrong(t, err != nil || u.Email != email, "%+v, %v", u, err)
	wantError(t, "nobody's address", errorOf(accounts.Get(t.Context(), p.Writer, "bob@example.org")), writer.ErrNotFound)
	wantError(t, "no address", accounts.Create(t.Context(), p.Writer, "", "A"), writer.ErrInvalid)
}

// The answer to the own insert is lost: it counts as what it was.
func (p accountTests) OwnLostReply(t *testing.T) {
	var dialer faulty.Dialer
	w := NewWriter(t, p.Faulty(t, &dialer), writer.Timeout(20*time.Second))
	must(t, accounts.Create(t.Context(), w, "warm@example.org", "W"))
	dialer.LoseReplies(1)
	wantError(t, "the answer was lost", accounts.Create(t.Context(), w, "eve@example.org", "Ann"), nil)
	u, err := accounts.Get(t.Context(), p.Writer, "eve@example.org")
	wrong(t, err != nil || u.Name != "Ann", "%+v, %v", u, err)
	wantError(t, "created again", accounts.Create(t.Context(), w, "eve@example.org", "Bob"), writer.ErrConflict)
}

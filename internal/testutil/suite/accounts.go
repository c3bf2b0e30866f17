package suite

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/denorm-go/denorm/examples/accounts"
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
			err := accounts.Create(t.Context(), p.Writer, email, string(rune('A'+i)))
			if err == nil {
				created.Add(1)
				return
			}
			u := conflict[accounts.User](t, "created again", err)
			wrong(t, u.Email != email || u.Name == "", "the user who is there: %+v", u)
		})
	}
	wg.Wait()
	n := created.Load()
	wrong(t, n != 1, "created %d times, want once", n)
	u := value(accounts.Get(t.Context(), p.Writer, email))(t)
	wrong(t, u.Email != email, "%+v", u)
	wantError(t, "nobody's address", errorOf(accounts.Get(t.Context(), p.Writer, "bob@example.org")), writer.ErrNotFound)
	wantError(t, "no address", accounts.Create(t.Context(), p.Writer, "", "A"), writer.ErrInvalid)
}

// The answer to the own insert is lost: it counts as what it was.
func (p accountTests) OwnLostReply(t *testing.T) {
	w, dialer := p.lossy(t)
	must(t, accounts.Create(t.Context(), w, "warm@example.org", "W"))
	dialer.LoseReplies(1)
	wantError(t, "the answer was lost", accounts.Create(t.Context(), w, "eve@example.org", "Ann"), nil)
	u := value(accounts.Get(t.Context(), p.Writer, "eve@example.org"))(t)
	wrong(t, u.Name != "Ann", "%+v", u)
	wantError(t, "created again", accounts.Create(t.Context(), w, "eve@example.org", "Bob"), writer.ErrConflict)
}

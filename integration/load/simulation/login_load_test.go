package simulation

import (
	"fmt"
	"testing"
	"time"

	"github.com/denorm-go/denorm/writer"
)

// A process whose clock is ahead takes a login for expired that is not yet, and does not make it again.
func TestLoginIsLostByAClockAhead(t *testing.T) {
	t.Parallel()
	for made, end := range map[bool]time.Duration{true: skew / 2, false: -skew} {
		l := &loginLoad{crew: &crew{world: new(world)}}
		v := &loginWrite{Login: Login{EndsAt: time.Now().Add(end)}, made: made}
		if failed := l.told(v, fmt.Errorf("expired: %w", writer.ErrInvalid)); failed != nil {
			t.Errorf("made again: %t: left to be done: %v", made, failed)
		}
		if v.lost != made || len(l.troubles) > 0 == made {
			t.Errorf("made again: %t: lost: %t, troubles: %v", made, v.lost, l.troubles)
		}
	}
}

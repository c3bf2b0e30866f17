package suite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/usermessages"
	"github.com/denorm-go/denorm/reader"
)

type userMessageTests struct{ *Place }

// The newest ten, then page after page by saved token, also through messages of one moment; and a stretch of time.
func (p userMessageTests) NewestAndBetween(t *testing.T) {
	user, now := gocql.MustRandomUUID(), time.Now().UTC().Truncate(time.Second)
	var want []string
	for i := range 25 {
		m := usermessages.Message{
			UserID: user, MessageTime: now.Add(-time.Duration(i/4) * time.Minute), MessageID: gocql.UUID{byte(i), 6: 0x40, 8: 0x80}, Content: fmt.Sprint(i),
			ExpiresAt: now.Add(usermessages.Retention),
		}
		Write(t, p.Writer, "send", usermessages.Messages.Insert(m))
		want = append(want, m.Content)
	}
	content := func(m usermessages.Message) string { return m.Content }
	messages, n := pages(t, func(token reader.Token) ([]usermessages.Message, reader.Token, error) {
		return usermessages.Newest(t.Context(), p.Reader, user, 10, token)
	})
	got := each(messages, content)
	wrong(t, !slices.Equal(got, want) || n != 3, "%v in %d pages, want %v in 3", got, n, want)
	got = each(all(t, usermessages.Between(t.Context(), p.Reader, user, now.Add(-2*time.Minute), now)), content)
	wrong(t, !slices.Equal(got, want[4:12]), "between: %v, want %v", got, want[4:12])
}

func (p userMessageTests) BadInput(t *testing.T) {
	m := usermessages.Message{UserID: gocql.MustRandomUUID(), MessageID: gocql.MustRandomUUID()}
	wantInvalid(t, p.Writer, "no time", usermessages.Messages.Insert(m))
	wantError(t, "fewer than none", errorOfRead(usermessages.Newest(t.Context(), p.Reader, m.UserID, -1, "")), reader.ErrInvalid)
	wantError(t, "nobody", errorOfRead(usermessages.Newest(t.Context(), p.Reader, gocql.UUID{}, 1, "")), reader.ErrInvalid)
}

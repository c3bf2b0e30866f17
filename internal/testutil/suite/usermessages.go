package suite

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/usermessages"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/writer"
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
		if _, err := p.Writer.Write(t.Context(), "send", usermessages.Messages.Insert(m)); err != nil {
			t.Fatal(err)
		}
		want = append(want, m.Content)
	}
	var got []string
	var token reader.Token
	for page := 0; ; page++ {
		messages, next, err := usermessages.Newest(t.Context(), p.Reader, user, 10, token)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			got = append(got, m.Content)
		}
		saved := string(next) // as a client would send it back
		if token = reader.Token(saved); token == "" {
			if page != 2 {
				t.Errorf("the end after page %d", page)
			}
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got = nil
	for m, err := range usermessages.Between(t.Context(), p.Reader, user, now.Add(-2*time.Minute), now) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.Content)
	}
	if !slices.Equal(got, want[4:12]) {
		t.Errorf("between: %v, want %v", got, want[4:12])
	}
}

func (p userMessageTests) BadInput(t *testing.T) {
	m := usermessages.Message{UserID: gocql.MustRandomUUID(), MessageID: gocql.MustRandomUUID()}
	if _, err := p.Writer.Write(t.Context(), "send", usermessages.Messages.Insert(m)); !errors.Is(err, writer.ErrInvalid) {
		t.Errorf("no time: %v, want ErrInvalid", err)
	}
	if _, _, err := usermessages.Newest(t.Context(), p.Reader, m.UserID, -1, ""); !errors.Is(err, reader.ErrInvalid) {
		t.Errorf("fewer than none: %v, want ErrInvalid", err)
	}
	if _, _, err := usermessages.Newest(t.Context(), p.Reader, gocql.UUID{}, 1, ""); !errors.Is(err, reader.ErrInvalid) {
		t.Errorf("nobody: %v, want ErrInvalid", err)
	}
}

package suite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/conversations"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/writer"
)

type conversationTests struct{ *Place }

// Messages that were written with the large buckets, and messages of that time written afterwards, are found alongside those in the
// small ones, in order, and can be edited and deleted.
func (p conversationTests) SmallerBucketsLeaveOldMessagesReadable(t *testing.T) {
	conversation, began := gocql.MustRandomUUID(), conversations.SmallerSince.AddDate(0, 0, -30)
	var all []conversations.Message
	for i := range 60 {
		m := conversations.Message{
			ConversationID: conversation, MessageTime: began.AddDate(0, 0, i).Add(-time.Duration(i%3) * time.Millisecond), MessageID: gocql.MustRandomUUID(),
			Content: fmt.Sprint(i),
		}
		all = append(all, m)
		set := conversations.Messages
		if m.MessageTime.Before(conversations.SmallerSince) && i%2 == 0 {
			set = conversations.Original // before the change was deployed
		}
		Write(t, p.Writer, "send", set.Insert(m))
	}
	edited := all[4]
	edited.Content = "edited"
	Write(t, p.Writer, "edit", conversations.Messages.Update(all[4], edited))
	Write(t, p.Writer, "delete", conversations.Messages.Delete(all[6]))
	var want []string
	for i, m := range all {
		if i == 4 {
			m = edited
		}
		if i != 6 && !m.MessageTime.Before(began) {
			want = append(want, m.Content)
		}
	}
	slices.Reverse(want)
	found, _ := pages(t, func(token reader.Token) ([]conversations.Message, reader.Token, error) {
		return conversations.Before(t.Context(), p.Reader, conversation, began, began.AddDate(0, 0, 61), 7, token)
	})
	got := each(found, func(m conversations.Message) string { return m.Content })
	wrong(t, !slices.Equal(got, want), "%d messages %v, want %d %v", len(got), got, len(want), want)
}

func (p conversationTests) BadInput(t *testing.T) {
	m := conversations.Message{ConversationID: gocql.MustRandomUUID(), MessageTime: time.Now(), MessageID: gocql.MustRandomUUID()}
	Write(t, p.Writer, "send", conversations.Messages.Insert(m))
	later := m
	later.MessageTime = m.MessageTime.Add(48 * time.Hour)
	wantError(t, "another time of a message, and so another bucket", errorOf(p.Writer.Write(t.Context(), "send", conversations.Messages.Update(m, later))), writer.ErrInvalid, "column message_time")
	_, _, err := conversations.Before(t.Context(), p.Reader, m.ConversationID, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Now().AddDate(50, 0, 0), 10, "")
	wantError(t, "two centuries", err, reader.ErrInvalid, "more than 10000 partitions")
}

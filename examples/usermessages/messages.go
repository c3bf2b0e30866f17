// Package usermessages is an example: the messages of a user in one partition, the newest first, that end after a year.
package usermessages

import (
	"context"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Retention is how long messages are kept.
const Retention = 365 * 24 * time.Hour

// Message is one message to a user.
type Message struct {
	UserID      gocql.UUID
	MessageTime time.Time
	MessageID   gocql.UUID
	Content     string
	ExpiresAt   time.Time
}

// Messages are kept by user. That is one partition for as long as they live: right where a user has some thousands a
// year, and wrong for more; see package conversations.
var Messages = tables.Must(tables.New[Message]("message",
	tables.Table{Name: "user_messages", PartKey: []string{"user_id"}, SortKey: []string{"message_time DESC", "message_id"}},
	tables.ExpiresAt("expires_at"),
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Messages),
	schema.With("user_messages", schema.Options{Compaction: schema.TimeWindow(15 * 24 * time.Hour)})))

// Newest gives the newest messages of a user, and a token for those before them, however deep.
func Newest(ctx context.Context, r *reader.Reader, user gocql.UUID, count int, token reader.Token) ([]Message, reader.Token, error) {
	return reader.List(ctx, r, "newestMessages", reader.From(Messages, "user_messages").Eq("user_id", user).Limit(count).After(token))
}

// Between gives the messages of a user from a time on and before another one, the newest first.
func Between(ctx context.Context, r *reader.Reader, user gocql.UUID, from, to time.Time) iter.Seq2[Message, error] {
	q := reader.From(Messages, "user_messages").Eq("user_id", user).GtOrEq("message_time", from).Lt("message_time", to)
	return reader.Read(ctx, r, "messagesBetween", q).All()
}

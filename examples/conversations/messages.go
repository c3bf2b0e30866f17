// Package conversations is an example: messages of conversations in buckets of time whose size has changed.
package conversations

import (
	"context"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Message is one message of a conversation.
type Message struct {
	ConversationID gocql.UUID
	MessageTime    time.Time
	MessageID      gocql.UUID
	Content        string
}

// SmallerSince is when conversations had become so busy that ten days were too much for one partition. A message of an
// earlier time is where it always was, whenever it is written.
var SmallerSince = time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)

var (
	tenDays = tables.Every(10*24*time.Hour, "message_time")
	oneDay  = tables.Every(24*time.Hour, "message_time")
	table   = tables.Table{
		Name: "messages", PartKey: []string{"conversation_id", "bucket"}, SortKey: []string{"message_time DESC", "message_id"},
	}
)

// Original is the declaration that the service began with.
var Original = tables.Must(tables.New[Message]("message", table, tables.Derive("bucket", tenDays)))

// Messages is the declaration of today.
var Messages = tables.Must(tables.New[Message]("message", table,
	tables.Derive("bucket", tenDays, tables.Since{Time: SmallerSince, Bucket: oneDay}),
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Messages)))

// Before gives the newest messages of a conversation before a time, but not before its beginning, and a token for those
// before them.
func Before(
	ctx context.Context, r *reader.Reader, conversation gocql.UUID, began, before time.Time, count int, token reader.Token,
) ([]Message, reader.Token, error) {
	q := reader.From(Messages, "messages").Eq("conversation_id", conversation).
		GtOrEq("message_time", began).Lt("message_time", before).Limit(count).After(token)
	return reader.List(ctx, r, "messagesBefore", q)
}

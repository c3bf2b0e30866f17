package ports_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// The chat keeps messages of a channel in buckets of ten days, and again by their author. Members are listed by
// channel and by user. Another service puts links to files into the list of attachments. Invitations end.

var chatTables = []string{
	"CREATE TABLE channels (channel_id uuid PRIMARY KEY, workspace_id uuid, name text, topic text)",
	`CREATE TABLE channels_by_workspace (workspace_id uuid, channel_id uuid, name text, topic text,
		PRIMARY KEY (workspace_id, channel_id))`,
	`CREATE TABLE messages (channel_id uuid, bucket int, message_id timeuuid, author_id uuid, content text,
		attachments list<text>, reactions set<text>, PRIMARY KEY ((channel_id, bucket), message_id))
		WITH CLUSTERING ORDER BY (message_id DESC)`,
	`CREATE TABLE messages_by_author (author_id uuid, message_id timeuuid, channel_id uuid, bucket int, content text,
		PRIMARY KEY (author_id, message_id)) WITH CLUSTERING ORDER BY (message_id DESC)`,
	`CREATE TABLE members_by_channel (channel_id uuid, user_id uuid, role text, nick text,
		PRIMARY KEY (channel_id, user_id))`,
	`CREATE TABLE channels_by_user (user_id uuid, channel_id uuid, role text, nick text,
		PRIMARY KEY (user_id, channel_id))`,
	"CREATE TABLE invitations (code text PRIMARY KEY, channel_id uuid, inviter uuid, expires_at timestamp)",
	`CREATE TABLE invitations_by_channel (channel_id uuid, code text, inviter uuid, expires_at timestamp,
		PRIMARY KEY (channel_id, code))`,
}

// chatColumns are the stamps that an adoption needs.
func chatColumns() (out []string) {
	for _, table := range []string{
		"channels", "channels_by_workspace", "messages", "messages_by_author", "members_by_channel", "channels_by_user",
		"invitations", "invitations_by_channel",
	} {
		out = append(out, "ALTER TABLE "+table+" ADD updated_at bigint")
	}
	return out
}

type (
	channel struct {
		ChannelID, WorkspaceID gocql.UUID
		Name, Topic            string
		UpdatedAt              int64
	}
	message struct {
		ChannelID   gocql.UUID
		Bucket      int32
		MessageID   gocql.UUID
		AuthorID    gocql.UUID
		Content     string
		Attachments []string
		Reactions   []string
		UpdatedAt   int64
	}
	member struct {
		ChannelID, UserID gocql.UUID
		Role, Nick        string
		UpdatedAt         int64
	}
	invitation struct {
		Code               string
		ChannelID, Inviter gocql.UUID
		ExpiresAt          time.Time
		UpdatedAt          int64
	}
)

// bucketOf is the bucket of a message: tens of days since the chat began, which is no bucket of package tables.
func bucketOf(id gocql.UUID) int32 {
	return int32(id.Time().Sub(time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)) / (10 * 24 * time.Hour))
}

var (
	stamp    = tables.Stamp("updated_at")
	channels = tables.Must(tables.New[channel]("channel",
		tables.Table{Name: "channels", PartKey: []string{"channel_id"}},
		tables.Table{Name: "channels_by_workspace", PartKey: []string{"workspace_id"}, SortKey: []string{"channel_id"}},
		stamp))
	messages = tables.Must(tables.New[message]("message",
		tables.Table{Name: "messages", PartKey: []string{"channel_id", "bucket"}, SortKey: []string{"message_id DESC"}},
		tables.Table{
			Name: "messages_by_author", PartKey: []string{"author_id"}, SortKey: []string{"message_id DESC"},
			Columns: []string{"channel_id", "bucket", "content", "updated_at"},
		},
		tables.ID("message_id"), tables.ReadOnly("attachments"), stamp,
		tables.Type("message_id", "timeuuid"), tables.Type("reactions", "set<text>")))
	members = tables.Must(tables.New[member]("member",
		tables.Table{Name: "members_by_channel", PartKey: []string{"channel_id"}, SortKey: []string{"user_id"}},
		tables.Table{Name: "channels_by_user", PartKey: []string{"user_id"}, SortKey: []string{"channel_id"}},
		stamp))
	invitations = tables.Must(tables.New[invitation]("invitation",
		tables.Table{Name: "invitations", PartKey: []string{"code"}},
		tables.Table{Name: "invitations_by_channel", PartKey: []string{"channel_id"}, SortKey: []string{"code"}},
		tables.ExpiresAt("expires_at"), stamp))
)

// chat is what the service does, by the library.
type chat struct{ *writer.Writer }

func (c chat) write(ctx context.Context, op string, changes ...tables.Change) error {
	_, err := c.Write(ctx, op, changes...)
	return err
}

// create makes a channel, whose first member made it.
func (c chat) create(ctx context.Context, ch channel, owner gocql.UUID) error {
	first := member{ChannelID: ch.ChannelID, UserID: owner, Role: "owner"}
	return c.write(ctx, "create", channels.Insert(ch), members.Insert(first))
}

func (c chat) topic(ctx context.Context, id gocql.UUID, topic string) error {
	_, err := writer.Modify(ctx, c.Writer, "topic", channels, channel{ChannelID: id}, func(ch channel) (channel, error) {
		ch.Topic = topic
		return ch, nil
	})
	return err
}

func (c chat) post(ctx context.Context, m message) error {
	m.Bucket = bucketOf(m.MessageID)
	return c.write(ctx, "post", messages.Insert(m))
}

func (c chat) edit(ctx context.Context, m message, content string) error {
	_, err := writer.Modify(ctx, c.Writer, "edit", messages, m, func(m message) (message, error) {
		m.Content = content
		return m, nil
	})
	return err
}

func (c chat) react(ctx context.Context, m message, reaction string) error {
	m.Reactions = []string{reaction}
	return c.write(ctx, "react", messages.Patch(m, tables.Elements("reactions")))
}

func (c chat) unreact(ctx context.Context, m message, reaction string) error {
	return c.write(ctx, "unreact", messages.Patch(m, tables.Without("reactions", reaction)))
}

func (c chat) retract(ctx context.Context, m message) error {
	return remove(ctx, c.Writer, messages, m)
}

func (c chat) join(ctx context.Context, m member) error {
	return c.write(ctx, "join", members.Insert(m))
}

func (c chat) promote(ctx context.Context, m member, role string) error {
	_, err := writer.Modify(ctx, c.Writer, "promote", members, m, func(m member) (member, error) {
		m.Role = role
		return m, nil
	})
	return err
}

func (c chat) leave(ctx context.Context, m member) error { return remove(ctx, c.Writer, members, m) }

func (c chat) invite(ctx context.Context, i invitation) error {
	return c.write(ctx, "invite", invitations.Insert(i))
}

// accept takes an invitation: who was invited is a member, and the invitation is used.
func (c chat) accept(ctx context.Context, code string, user gocql.UUID) error {
	i, err := writer.Load(ctx, c.Writer, "load", invitations, invitation{Code: code})
	if err != nil {
		return err
	}
	guest := member{ChannelID: i.ChannelID, UserID: user, Role: "guest"}
	return c.write(ctx, "accept", invitations.Delete(i), members.Insert(guest))
}

func (c chat) prolong(ctx context.Context, code string, until time.Time) error {
	key := invitation{Code: code}
	_, err := writer.Modify(ctx, c.Writer, "prolong", invitations, key, func(i invitation) (invitation, error) {
		i.ExpiresAt = until
		return i, nil
	})
	return err
}

// --- what shows it

// saidByHand writes a message as the chat did.
func (p *port) saidByHand(m message) {
	p.Helper()
	p.by(`INSERT INTO messages (channel_id, bucket, message_id, author_id, content, attachments, reactions)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		m.ChannelID, m.Bucket, m.MessageID, m.AuthorID, m.Content, m.Attachments, m.Reactions)
	p.by("INSERT INTO messages_by_author (author_id, message_id, channel_id, bucket, content) VALUES (?, ?, ?, ?, ?)",
		m.AuthorID, m.MessageID, m.ChannelID, m.Bucket, m.Content)
}

func (p *port) joinedByHand(m member) {
	p.Helper()
	for _, table := range []string{"members_by_channel", "channels_by_user"} {
		p.by("INSERT INTO "+table+" (channel_id, user_id, role, nick) VALUES (?, ?, ?, ?)",
			m.ChannelID, m.UserID, m.Role, m.Nick)
	}
}

func (p *port) invitedByHand(i invitation) {
	p.Helper()
	for _, table := range []string{"invitations", "invitations_by_channel"} {
		p.by("INSERT INTO "+table+" (code, channel_id, inviter, expires_at) VALUES (?, ?, ?, ?) USING TTL ?",
			i.Code, i.ChannelID, i.Inviter, i.ExpiresAt, int(time.Until(i.ExpiresAt).Seconds()))
	}
}

func aMessage(channel, author gocql.UUID, content string) message {
	id := gocql.TimeUUID()
	return message{ChannelID: channel, Bucket: bucketOf(id), MessageID: id, AuthorID: author, Content: content}
}

// Channels, messages, members and invitations by hand are adopted. Each operation of the chat then reaches all tables;
// attachments, which another service goes on writing, stay as they are, and are read.
func TestChat(t *testing.T) {
	everywhere(t, chatTables, func(p *port) {
		ctx := p.Context()
		ch := channel{ChannelID: gocql.MustRandomUUID(), WorkspaceID: gocql.MustRandomUUID(), Name: "general", Topic: "all"}
		p.by("INSERT INTO channels (channel_id, workspace_id, name, topic) VALUES (?, ?, ?, ?)",
			ch.ChannelID, ch.WorkspaceID, ch.Name, ch.Topic)
		ann, bob, eve := gocql.MustRandomUUID(), gocql.MustRandomUUID(), gocql.MustRandomUUID()
		owner := member{ChannelID: ch.ChannelID, UserID: ann, Role: "owner", Nick: "a"}
		p.joinedByHand(owner)
		// She has left.
		p.by("INSERT INTO channels_by_user (user_id, channel_id, role) VALUES (?, ?, 'guest')", eve, ch.ChannelID)
		old, lost := aMessage(ch.ChannelID, ann, "old"), aMessage(ch.ChannelID, ann, "lost")
		old.Attachments, old.Reactions = []string{"a.png", "b.png", "a.png"}, []string{"+1", "tada"}
		p.saidByHand(old)
		p.saidByHand(lost)
		p.by("UPDATE messages_by_author SET content = 'older' WHERE author_id = ? AND message_id = ?", ann, lost.MessageID)
		in := func(minutes time.Duration) time.Time {
			return time.Now().Add(minutes * time.Minute).Truncate(time.Second)
		}
		p.invitedByHand(invitation{Code: "abc", ChannelID: ch.ChannelID, Inviter: ann, ExpiresAt: in(60)})
		p.alter(chatColumns()...)
		p.valid(channels, messages, members, invitations)
		if found := p.adopt(channels, messages, members, invitations); found != 3 {
			p.Errorf("%d differences were found", found)
		}
		until := lives{"abc": 60}
		check := func(nChannels, nMessages, nMembers int) {
			p.Helper()
			p.agree(nChannels, "channel_id, workspace_id, name, topic, updated_at", "channels", "channels_by_workspace")
			p.agree(nMessages, "channel_id, bucket, message_id, author_id, content, updated_at",
				"messages", "messages_by_author")
			p.agree(nMembers, "channel_id, user_id, role, nick, updated_at", "members_by_channel", "channels_by_user")
			p.agree(len(until), "code, channel_id, inviter, expires_at, updated_at", "invitations", "invitations_by_channel")
			p.ends(until, "code", "inviter", "invitations", "invitations_by_channel")
			p.ends(until, "code", "expires_at", "invitations", "invitations_by_channel")
		}
		said := func(m message, attachments, reactions []string) {
			p.Helper()
			q := reader.From(messages, "messages").Eq("channel_id", m.ChannelID).Eq("bucket", m.Bucket)
			rows, _, err := reader.List(ctx, p.Reader, "message", q.Eq("message_id", m.MessageID))
			p.must(err)
			if len(rows) != 1 || !slices.Equal(rows[0].Attachments, attachments) ||
				!slices.Equal(rows[0].Reactions, reactions) {
				p.Errorf("%+v, want %q and %q", rows, attachments, reactions)
			}
		}
		check(1, 2, 1)
		said(old, old.Attachments, old.Reactions)

		s := chat{p.Writer}
		second := channel{ChannelID: gocql.MustRandomUUID(), WorkspaceID: ch.WorkspaceID, Name: "random", Topic: "rest"}
		p.must(s.create(ctx, second, bob))
		p.must(s.topic(ctx, ch.ChannelID, "everything"))
		p.must(s.join(ctx, member{ChannelID: ch.ChannelID, UserID: bob, Role: "guest"}))
		p.must(s.promote(ctx, owner, "admin"))
		check(2, 2, 3)
		m := aMessage(second.ChannelID, bob, "hello")
		p.must(s.post(ctx, m))
		attached := aMessage(second.ChannelID, bob, "look")
		attached.Attachments = []string{"d.png"}
		if err := s.post(ctx, attached); !errors.Is(err, writer.ErrInvalid) {
			p.Errorf("a message with attachments: %v", err)
		}
		p.by(`UPDATE messages SET attachments = attachments + ['c.png'] WHERE channel_id = ? AND bucket = ? AND
			message_id = ?`, old.ChannelID, old.Bucket, old.MessageID)
		p.must(s.edit(ctx, old, "new"))
		p.must(s.edit(ctx, m, "hello, all"))
		p.must(s.react(ctx, m, "wave"))
		p.must(s.react(ctx, old, "eyes"))
		p.must(s.unreact(ctx, old, "tada"))
		check(2, 3, 3)
		said(old, append(old.Attachments, "c.png"), []string{"+1", "eyes"})
		said(m, nil, []string{"wave"})
		p.must(s.retract(ctx, lost))
		check(2, 2, 3)

		p.must(s.invite(ctx, invitation{Code: "def", ChannelID: ch.ChannelID, Inviter: bob, ExpiresAt: in(30)}))
		p.must(s.prolong(ctx, "abc", in(120)))
		until["abc"], until["def"] = 120, 30
		check(2, 2, 3)
		p.must(s.accept(ctx, "abc", eve))
		p.must(s.leave(ctx, member{ChannelID: ch.ChannelID, UserID: bob}))
		delete(until, "abc")
		check(2, 2, 3)
		p.has("channels", "topic", "everything", "rest")
		p.has("messages", "content", "hello, all", "new")
		p.has("members_by_channel", "role", "admin", "guest", "owner")
		p.verify(channels, messages, members, invitations)
	})
}

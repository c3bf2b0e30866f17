package reader_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// note is one of an author, of whom the base table has all in a partition.
type note struct{ Author, ID, Topic, Text string }

type versionedNote struct {
	note

	Version gocql.UUID
}

func notes[T any](options ...tables.Option) *tables.Set[T] {
	return tables.Must(tables.New[T]("note", append(options,
		tables.Table{Name: "notes", PartKey: []string{"author"}, SortKey: []string{"id"}},
		tables.Table{Name: "notes_by_topic", PartKey: []string{"topic"}, SortKey: []string{"author", "id"}})...))
}

// liveNotes are the tables of notes as somebody else has made them: with static columns.
var liveNotes = []string{
	"CREATE TABLE shop.notes (author text, id text, topic text, text text, motto text static, PRIMARY KEY (author, id))",
	"CREATE TABLE shop.notes_by_topic (topic text, author text, id text, text text, title text static, PRIMARY KEY " +
		"(topic, author, id))",
}

// sample is a line of a log, under one of two hash buckets.
type sample struct {
	Sensor string
	At     time.Time
	N      int32
}

var samples = tables.Must(tables.New[sample]("sample",
	tables.Table{Name: "samples", PartKey: []string{"sensor", "bucket"}, SortKey: []string{"at"}},
	tables.Derive("bucket", tables.Hash(2, "at"))))

// byHand makes tables and rows with CQL.
func byHand(t *testing.T, c *cassandratest.Cluster, created []string, rows ...string) (*session.Session,
	*reader.Reader,
) {
	t.Helper()
	c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	c.Create(created...)
	config := c.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, row := range rows {
		if err := s.Writes().Query(row).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := reader.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// pages reads a query a few rows at a time, and must end.
func pages[T any](t *testing.T, r *reader.Reader, q reader.Query[T], limit int) (out []T) {
	t.Helper()
	token := reader.Token("")
	for range 100 {
		rows, next, err := reader.List(t.Context(), r, "list", q.Limit(limit).After(token))
		if err != nil {
			t.Fatalf("after %d rows: %v", len(out), err)
		}
		if out = append(out, rows...); next == "" {
			return out
		}
		token = next
	}
	t.Fatal("the pages do not end")
	return nil
}

// For a partition without rows Cassandra returns one if a static column has a value there, with null clustering
// columns. The set does not know of the static column, which anybody may have added to the live table, and the row is
// none of its rows.
func TestStaticContentIsNoRow(t *testing.T) {
	t.Parallel()
	set := notes[note]()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s, r := byHand(t, c, liveNotes,
			"INSERT INTO notes_by_topic (topic, title) VALUES ('go', 'Go')",
			"INSERT INTO notes_by_topic (topic, title, author, id, text) VALUES ('c', 'C', 'ann', '1', 'x')",
			"INSERT INTO notes_by_topic (topic, author, id, text) VALUES ('c', 'ann', '2', 'y')")
		if err := schema.Validate(t.Context(), s, schema.Must(schema.Declare(schema.Sets(set)))); err != nil {
			t.Fatal("a live table with a static column is not taken:", err)
		}
		empty, full := reader.From(set, "notes_by_topic").Eq("topic", "go"), reader.From(set, "notes_by_topic").
			Eq("topic", "c")
		for name, q := range map[string]reader.Query[note]{
			"all": empty, "a page": empty.Limit(1), "backwards": empty.OrderBy("author DESC").Limit(1),
			"confirmed": empty.Confirm(func(row note) { t.Errorf("%+v is said to be a ghost", row) }),
			"a range":   empty.Gt("author", "a"), "a row": empty.Eq("author", "ann").Eq("id", "1"),
		} {
			if rows, token, err := reader.List(t.Context(), r, "list", q); len(rows) > 0 || token != "" || err != nil {
				t.Errorf("%s: %+v, token %q, %v: want nothing of a partition without rows", name, rows, token, err)
			}
		}
		for limit := range 4 {
			if rows := pages(t, r, full, limit); len(rows) != 2 || rows[0].Text != "x" || rows[1].Text != "y" {
				t.Errorf("%+v: want both rows", rows)
			}
		}
	})
}

// The same in one of several partitions that are merged, where its key would also be compared with those of rows.
func TestStaticContentOfMergedPartitions(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, r := byHand(t, c, []string{
			"CREATE TABLE shop.samples (sensor text, bucket int, at timestamp, n int, unit text static, PRIMARY KEY ((sensor, " +
				"bucket), at))",
		}, "INSERT INTO samples (sensor, bucket, unit) VALUES ('a', 0, 'C')",
			"INSERT INTO samples (sensor, bucket, unit, at, n) VALUES ('a', 1, 'C', 1000, 1)",
			"INSERT INTO samples (sensor, bucket, at, n) VALUES ('a', 1, 2000, 2)",
			"INSERT INTO samples (sensor, bucket, unit) VALUES ('b', 0, 'C')",
			"INSERT INTO samples (sensor, bucket, unit) VALUES ('b', 1, 'C')")
		for limit := range 4 {
			if rows := pages(t, r, reader.From(samples, "samples").Eq("sensor", "a"), limit); len(rows) != 2 || rows[0].N != 1 ||
				rows[1].N != 2 {
				t.Errorf("limit %d: %+v: want both rows", limit, rows)
			}
			if rows := pages(t, r, reader.From(samples, "samples").Eq("sensor", "b"), limit); len(rows) > 0 {
				t.Errorf("limit %d: %+v: want none", limit, rows)
			}
		}
	})
}

// A base row is looked up by its whole key, for which Cassandra returns no static content alone: an entity without a
// row has none, however much the partition has in static columns.
func TestStaticContentIsNoBaseRow(t *testing.T) {
	t.Parallel()
	one := note{Author: "ann", ID: "1", Topic: "go", Text: "z"}
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		set := notes[note]()
		cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
			_, _ = ghostsOf(t, c, liveNotes, set, one, func(n note) note { return n })
		})
	})
	t.Run("Versioned", func(t *testing.T) {
		t.Parallel()
		set := notes[versionedNote](tables.Versioned("version"))
		cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
			created := append(slices.Clone(liveNotes),
				"ALTER TABLE shop.notes ADD (version timeuuid, pending blob, done timeuuid, recent map<tinyint, timeuuid>)",
				"ALTER TABLE shop.notes_by_topic ADD version timeuuid")
			w, row := ghostsOf(t, c, created, set, versionedNote{note: one}, func(n versionedNote) note { return n.note })
			if _, err := w.Write(t.Context(), "delete", set.Delete(row)); err != nil {
				t.Fatal(err)
			}
			if row, err := writer.Load(t.Context(), w, "load", set, row); !errors.Is(err, writer.ErrNotFound) {
				t.Errorf("%+v, %v: want ErrNotFound of the deleted entity", row, err)
			}
			// The answer to a condition that does not hold may have the static content of the partition alone.
			absent := row
			absent.ID, absent.Version = "9", gocql.TimeUUID()
			if _, err := w.Write(t.Context(), "update", set.Update(absent, absent)); !errors.Is(err, writer.ErrConflict) ||
				!strings.Contains(err.Error(), "the entity does not exist") {
				t.Errorf("%v: want a conflict without an entity", err)
			}
		})
	})
}

// ghostsOf has two ghosts, of which the first gets its base row, which it gives.
func ghostsOf[T any](t *testing.T, c *cassandratest.Cluster, created []string, set *tables.Set[T], one T,
	of func(T) note,
) (*writer.Writer, T) {
	t.Helper()
	s, r := byHand(t, c, created,
		"INSERT INTO notes (author, motto) VALUES ('ann', 'less is more')",
		"INSERT INTO notes_by_topic (topic, author, id, text) VALUES ('go', 'ann', '1', 'x')",
		"INSERT INTO notes_by_topic (topic, author, id, text) VALUES ('go', 'ann', '2', 'y')")
	w, err := writer.New(s, writer.WithClock(writer.NewClock(time.Now)))
	if err != nil {
		t.Fatal(err)
	}
	confirmed := func() (rows []T, ghosts []string) {
		t.Helper()
		q := reader.From(set, "notes_by_topic").Eq("topic", "go").Confirm(func(row T) { ghosts = append(ghosts, of(row).ID) })
		rows, _, err := reader.List(t.Context(), r, "list", q)
		if err != nil {
			t.Fatal(err)
		}
		return rows, ghosts
	}
	if rows, ghosts := confirmed(); len(rows) > 0 || !slices.Equal(ghosts, []string{"1", "2"}) {
		t.Errorf("%+v, ghosts %v: want both to be ghosts", rows, ghosts)
	}
	if rows, _, err := reader.List(t.Context(), r, "list", reader.From(set, "notes").Eq("author", "ann")); len(rows) > 0 ||
		err != nil {
		t.Errorf("%+v, %v: want no base row", rows, err)
	}
	if row, err := writer.Load(t.Context(), w, "load", set, one); !errors.Is(err, writer.ErrNotFound) {
		t.Errorf("%+v, %v: want ErrNotFound", row, err)
	}
	if _, err := w.Write(t.Context(), "create", set.Insert(one)); err != nil {
		t.Fatal(err)
	}
	row, err := writer.Load(t.Context(), w, "load", set, one)
	if err != nil || of(row) != of(one) {
		t.Errorf("%+v, %v", row, err)
	}
	if rows, ghosts := confirmed(); len(rows) != 1 || of(rows[0]) != of(one) || !slices.Equal(ghosts, []string{"2"}) {
		t.Errorf("%+v, ghosts %v: want the row of the entity", rows, ghosts)
	}
	return w, row
}

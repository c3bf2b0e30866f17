package tables_test

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

func TestExpiry(t *testing.T) {
	t.Parallel()
	start := time.UnixMicro(now)
	tests := []struct {
		name string
		ends time.Time
		now  time.Time
		want string // TTL, or "delete"
	}{
		{"a second", start.Add(time.Second), start, "0x00000001"},
		{"rounded up", start.Add(1001 * time.Millisecond), start, "0x00000002"},
		{"a millisecond", start.Add(time.Millisecond), start, "0x00000001"},
		{"below a millisecond", start.Add(time.Millisecond - 1), start, "delete"},
		{"a later attempt", start.Add(time.Hour), start.Add(time.Minute), "0x00000dd4"},
		{"last millisecond", start.Add(time.Hour), start.Add(time.Hour - time.Millisecond), "0x00000001"},
		{"just expired", start.Add(time.Hour), start.Add(time.Hour), "delete"},
		{"long expired", start.Add(time.Hour), start.Add(100 * time.Hour), "delete"},
		{"before the write", start.Add(-time.Hour), start, "delete"},
		{"epoch", time.Unix(0, 0), start, "delete"},
		{"before 1970", time.Unix(-1e9, 0), start, "delete"},
		{"20 years", start.Add(20 * 365 * 24 * time.Hour), start, "0x25980600"},
		{"20 years by a slow clock", start.Add(20 * 365 * 24 * time.Hour), start.Add(-time.Hour), "0x25980600"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := jobs(t).Insert(with(aJob(), func(j *job) { j.EndsAt = &tc.ends })).Internal().Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Mutations) != 3 {
				t.Fatalf("%d mutations", len(r.Mutations))
			}
			for _, m := range r.Mutations {
				bound := dump(entity.Rendered{Mutations: []statement.Mutation{m}})
				if at, ok := m.ExpiresAt(); !ok || tc.name != "epoch" && !at.Equal(tc.ends.Truncate(time.Millisecond)) {
					t.Errorf("%s: expires %s, %t, want %s", m, at, ok, tc.ends)
				}
				stmt, args := m.At(tc.now)
				got := "delete"
				if strings.HasPrefix(stmt, "INSERT ") {
					if !strings.HasSuffix(stmt, "USING TTL ? AND TIMESTAMP ?") {
						t.Fatalf("%s: %s", m, stmt)
					}
					got = shown(args[len(args)-2])
				}
				if got != tc.want {
					t.Errorf("%s: %s, want %s", m, got, tc.want)
				}
				// TTL 0 would mean forever; the row goes at the timestamp of the write, below which nothing of it lives.
				stamp := args[len(args)-1]
				if got == "delete" {
					stamp = args[0]
					if !strings.HasPrefix(stmt, "DELETE FROM ") || !strings.Contains(stmt, " USING TIMESTAMP ? WHERE ") {
						t.Errorf("%s: %s", m, stmt)
					}
				}
				if shown(stamp) != "0x00060a24181e4000" {
					t.Errorf("%s: timestamp %s", m, shown(stamp))
				}
				if again := dump(entity.Rendered{Mutations: []statement.Mutation{m}}); again != bound {
					t.Errorf("At changed the mutation:\n%s\nbefore\n%s", again, bound)
				}
			}
		})
	}

	t.Run("more than 20 years", func(t *testing.T) {
		t.Parallel()
		ends := start.Add(20*365*24*time.Hour + time.Millisecond)
		_, err := jobs(t).Insert(with(aJob(), func(j *job) { j.EndsAt = &ends })).Internal().Render(now, nil)
		invalidAs(t, err, tables.InvalidError{
			Entity: "job", Column: "ends_at", Reason: "expires more than 20 years from now, which is Cassandra's limit",
		})
	})
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		for _, ends := range []*time.Time{nil, {}} {
			r, err := jobs(t).Insert(with(aJob(), func(j *job) { j.EndsAt = ends })).Internal().Render(now, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Mutations {
				if _, ok := m.ExpiresAt(); ok || strings.Contains(m.Statement, "TTL") {
					t.Errorf("%s expires", m)
				}
				if stmt, args := m.At(start); stmt != m.Statement || &args[0] != &m.Args[0] {
					t.Errorf("%s: At gives another statement", m)
				}
			}
		}
	})
}

func TestSize(t *testing.T) {
	t.Parallel()
	size := func(note string) int {
		r, err := jobs(t).Insert(with(aJob(), func(j *job) { j.Note = &note })).Internal().Render(now, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Mutations[0].Size()
	}
	if small, large := size(""), size(strings.Repeat("x", 1000)); large-small != 1000 || small < 100 {
		t.Errorf("sizes %d and %d", small, large)
	}
}

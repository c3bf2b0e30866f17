package writer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// grade decodes nothing, and says so with the value, as the errors of such types do.
type grade string

func (g grade) MarshalCQL(gocql.TypeInfo) ([]byte, error) {
	return nil, fmt.Errorf("no such grade: %q", string(g))
}

func (*grade) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	return fmt.Errorf("no such grade: %q", data)
}

// What a type of the service says of a value that it cannot decode or encode is in no error, and the value is not read again.
func TestErrorsOfOwnTypesShowNoValues(t *testing.T) {
	t.Parallel()
	type student struct {
		ID    string
		Grade grade
		N     int32
	}
	const secret = "Kreuzspinne4711"
	options := []tables.Option{tables.Table{Name: "students", PartKey: []string{"id"}}, tables.Type("grade", "text")}
	plain, compared := tables.Must(tables.New[student]("student", options...)), tables.Must(tables.New[student]("student", append(options, tables.Compare("n"))...))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, plain)
		w, s := open(t, c)
		if err := s.Query("INSERT INTO students (id, grade, n) VALUES ('a', ?, 1)", secret).Exec(); err != nil {
			t.Fatal(err)
		}
		r, err := reader.New(testsession.New(t, nil, s))
		if err != nil {
			t.Fatal(err)
		}
		key := student{ID: "a"}
		same := func(s student) (student, error) { return s, nil }
		_, _, read := reader.List(t.Context(), r, "list", reader.From(plain, "students").Eq("id", "a"))
		_, load := writer.Load(t.Context(), w, "load", plain, key)
		_, modify := writer.Modify(t.Context(), w, "modify", plain, key, same)
		_, conditional := writer.Load(t.Context(), w, "load", compared, key)
		_, write := w.Write(t.Context(), "write", plain.Insert(student{ID: "a", Grade: secret}))
		for name, err := range map[string]error{"read": read, "Load": load, "Modify": modify, "Load of a conditional set": conditional, "Write": write} {
			if err == nil || strings.Contains(fmt.Sprintf("%+v %v", err, err), secret) || !strings.Contains(err.Error(), "column grade") {
				t.Errorf("%s: %v", name, err)
			}
			var failed *writer.Error
			if errors.As(err, &failed) && len(failed.Tables) > 0 && failed.Tables[0].Attempts > 1 {
				t.Errorf("%s: %d attempts", name, failed.Tables[0].Attempts)
			}
		}
	})
}

// A transaction of several rows that is not applied is a conflict, also if the server shows columns that this process does not declare, of
// types for which gocql makes no Go value. It would panic in a goroutine of the library, and end the process.
func TestConflictOfRowsWithUndecodableColumns(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"map<blob, text>", "map<frozen<list<int>>, text>", "frozen<tuple<int, map<blob, text>>>"} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, nights)
				c.Create("ALTER TABLE shop.nights ADD later " + column)
				s := start(t, c)
				h := &hotel{service: s}
				one, two := night{Room: "1", Night: 1, Guest: "ann"}, night{Room: "1", Night: 2, Guest: "bob"}
				if _, err := s.w.Write(t.Context(), "book", nights.Insert(one)); err != nil {
					t.Fatal(err)
				}
				taken := one
				taken.Guest = "bob"
				_, err := s.w.Write(t.Context(), "book", nights.Insert(two), nights.Insert(taken))
				if !errors.Is(err, writer.ErrConflict) || writer.OutcomeOf(err) != writer.Conflict || !strings.Contains(err.Error(), "change 2 of the 2") {
					t.Errorf("%v: %v", writer.OutcomeOf(err), err)
				}
				if got := h.guests(t); got != "1ann" {
					t.Errorf("after a conflict: %s", got)
				}
				_, err = s.w.Write(t.Context(), "book", append(book(nights, "eve", one), nights.Insert(two))...)
				if got := h.guests(t); err != nil || got != "1eve 2bob" {
					t.Errorf("%s: %v", got, err)
				}
			})
		})
	}
}

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

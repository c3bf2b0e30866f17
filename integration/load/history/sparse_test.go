package history_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// ticket is in the table by agent while it has one. That table lacks the text.
type ticket struct {
	ID        string
	Agent     *string
	Text      string
	Tags      []string
	UpdatedAt int64
}

var tickets = tables.Must(tables.New[ticket]("ticket",
	tables.Table{Name: "tickets", PartKey: []string{"id"}},
	tables.Table{Name: "tickets_by_agent", PartKey: []string{"agent"}, SortKey: []string{"id"}, Columns: []string{"updated_at"}},
	tables.OneOf("agent", "ann", "bob"),
	tables.Stamp("updated_at"),
	tables.Type("tags", "set<text>"),
))

func ticketContents(t *testing.T, base, byAgent []map[string]any) *history.Contents[ticket] {
	t.Helper()
	contents, err := history.Describe(tickets)
	if err != nil {
		t.Fatal(err)
	}
	for n, rows := range [][]map[string]any{base, byAgent} {
		table := &contents.Tables[n]
		for _, fields := range rows {
			row := history.Row{Values: make(map[string][]byte), Times: make(map[string]int64)}
			for _, c := range table.Columns {
				value, ok := fields[c.Name]
				if !ok {
					continue
				}
				var err error
				if row.Values[c.Name], err = gocql.Marshal(c.Type.Info(), value); err != nil {
					t.Fatal(err)
				}
				if !c.Key && c.Name != "tags" {
					row.Times[c.Name] = fields["updated_at"].(int64)
				}
			}
			table.Rows = append(table.Rows, row)
		}
	}
	return contents
}

// A table that lacks columns is compared in those it has, and an entity without a value of the key is not expected in
// it.
func TestSparseTable(t *testing.T) {
	t.Parallel()
	ann := "ann"
	write := func(id string, agent *string, at int64, tags ...string) history.Write[ticket] {
		return history.Write[ticket]{
			Kind: tables.Insert, Row: ticket{ID: id, Agent: agent, Text: "help", Tags: tags}, Timestamp: at, Outcome: writer.Applied,
		}
	}
	writes := []history.Write[ticket]{write("free", nil, 1), write("taken", &ann, 2, "urgent")}
	free := map[string]any{"id": "free", "text": "help", "updated_at": int64(1)}
	taken := map[string]any{"id": "taken", "agent": "ann", "text": "help", "tags": []string{"urgent"}, "updated_at": int64(2)}
	byAgent := map[string]any{"id": "taken", "agent": "ann", "updated_at": int64(2)}
	for name, c := range map[string]struct {
		base, byAgent []map[string]any
		want          history.Kind
	}{
		"sound": {[]map[string]any{free, taken}, []map[string]any{byAgent}, ""},
		"no row of the one that was taken": {
			[]map[string]any{free, taken}, nil, history.Missing,
		},
		"a row of the one that is free": {
			[]map[string]any{free, taken},
			[]map[string]any{byAgent, {"id": "free", "agent": "ann", "updated_at": int64(1)}},
			history.Phantom, // no write of it has an agent
		},
		"a tag that nobody wrote": {
			[]map[string]any{free, {"id": "taken", "agent": "ann", "text": "help", "tags": []string{"dull"}, "updated_at": int64(2)}},
			[]map[string]any{byAgent},
			history.Phantom,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := history.Check(ticketContents(t, c.base, c.byAgent), writes)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			if c.want != "" {
				want = 1
			}
			if len(report.Findings) != want || report.Count(c.want) != want {
				t.Errorf("want %d findings of %v, got %v", want, c.want, report)
			}
		})
	}
}

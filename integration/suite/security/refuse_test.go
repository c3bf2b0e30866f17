package security

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type member struct {
	ID    gocql.UUID
	Email string
	Bio   string
	Tags  []string
}

func membersIn(suffix string) *tables.Set[member] {
	return tables.Must(tables.New[member]("member",
		tables.Table{Name: "members_" + suffix, PartKey: []string{"id"}},
		tables.Table{Name: "members_by_email_" + suffix, PartKey: []string{"email"}, SortKey: []string{"id"}},
		tables.Type("tags", "set<text>"), tables.SingleWriter("email")))
}

func numbered(n int) (texts []string) {
	for i := range n {
		texts = append(texts, strconv.Itoa(i))
	}
	return texts
}

// One table refuses a row for good. Its error says so, before and after it was stored, and Resume finishes the write
// once the cause is gone.
func TestTablesThatRefuseForGood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  []string // for the keyspace, TABLE is the query table
		after   []string // removes the cause; none if a running node cannot be made to
		options []writer.Option
		row     member
		since6  bool
	}{
		"index": {
			before: []string{"CREATE INDEX bio_idx ON TABLE (bio)"}, after: []string{"DROP INDEX shop.bio_idx"},
			row: member{Bio: strings.Repeat("x", 70_000)},
		},
		"sai": {
			before: []string{"CREATE INDEX bio_sai ON TABLE (bio) USING 'sai'"}, after: []string{"DROP INDEX shop.bio_sai"},
			row: member{Bio: strings.Repeat("x", 20_000)},
		},
		"guardrail":  {row: member{Tags: numbered(maxItems + 1)}},
		"permission": {after: []string{"GRANT MODIFY ON TABLE TO ROLE"}},
		"batch":      {options: []writer.Option{writer.Logged(), writer.BatchLimit(1 << 20)}, row: member{Bio: strings.Repeat("x", 100_000)}},
		"constraint": {
			before: []string{"ALTER TABLE TABLE ALTER bio CHECK LENGTH() < 10"}, after: []string{"ALTER TABLE TABLE ALTER bio DROP CHECK"},
			row: member{Bio: "longer than that"}, since6: true,
		},
	} {
		if version := node.extra.Version(); cluster.Differs(version, t.Name(), name) || c.since6 && !strings.HasPrefix(version, "6") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := membersIn(name)
			query := "shop.members_by_email_" + name
			administer(t, schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
			writable := []string{"members_" + name}
			if name != "permission" {
				writable = append(writable, "members_by_email_"+name)
			}
			user, password := newRole(t, writable...)
			fill := strings.NewReplacer("TABLE TABLE", "TABLE "+query, "ON TABLE", "ON "+query, "ROLE", user)
			execute := func(statements []string) {
				for _, statement := range statements {
					administer(t, fill.Replace(statement))
				}
			}
			execute(c.before)
			s := newService(user, password)
			w := s.writer(t).With(c.options...)
			row := c.row
			row.ID, row.Email = gocql.MustRandomUUID(), "a@example.org"
			_, err := w.Write(t.Context(), "signUp", set.Insert(row))
			stored := new(writer.Error)
			for range 2 {
				var failed *writer.Error
				if !errors.As(err, &failed) {
					t.Fatal(err)
				}
				t.Log(err)
				if !errors.Is(err, writer.ErrRefused) || failed.Resumable() {
					t.Errorf("resumable %v: %v", failed.Resumable(), err)
				}
				data, invalid := failed.MarshalBinary()
				stored = new(writer.Error)
				if invalid != nil || stored.UnmarshalBinary(data) != nil || stored.Resumable() || !errors.Is(stored, writer.ErrRefused) {
					t.Errorf("%v; stored: resumable %v: %v", invalid, stored.Resumable(), stored)
				}
				if _, err = w.Resume(t.Context(), stored); err == nil {
					t.Fatal("resumed")
				}
			}
			if c.after == nil {
				return
			}
			execute(c.after)
			if _, err := w.Resume(t.Context(), stored); err != nil {
				t.Errorf("the cause is gone: %v", err)
			}
		})
	}
}

type holder struct {
	ID      gocql.UUID
	Email   string
	City    string
	Version gocql.UUID
}

// The node rejects timestamps of more than a minute ahead. Nothing of a change of a Versioned set is sent with one.
func TestVersionedIsNotAheadOfTheClock(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[holder]("holder",
		tables.Table{Name: "holders", PartKey: []string{"id"}},
		tables.Table{Name: "holders_by_city", PartKey: []string{"city"}, SortKey: []string{"id"}},
		tables.Table{Name: "holders_by_email", PartKey: []string{"email"}, Unique: true},
		tables.Versioned("version")))
	administer(t, schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
	user, password := newRole(t, "holders", "holders_by_city", "holders_by_email")
	w := newService(user, password).writer(t)
	row := holder{ID: gocql.MustRandomUUID(), Email: "a@example.org", City: "rome"}
	write := func(change tables.Change) {
		t.Helper()
		result, err := w.Write(t.Context(), "change", change)
		if row.Version = result.Version; err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // also over what a delete leaves
		write(set.Insert(row))
		moved := row
		moved.City, moved.Email = "oslo", "b@example.org"
		write(set.Update(row, moved))
		moved.Version = row.Version
		var err error
		if row, err = writer.Modify(t.Context(), w, "change", set, moved, func(h holder) (holder, error) { h.City = "bern"; return h, nil }); err != nil {
			t.Fatal(err)
		}
		write(set.Delete(row))
		row.Version = gocql.UUID{}
	}
	if err := w.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// A service learns which guardrails of a node reject what the library sends, if its role may read them.
func TestGuardrailsAreNamed(t *testing.T) {
	t.Parallel()
	const name = "minimum_timestamp_fail_threshold"
	set := tables.Must(tables.New[holder]("holder", tables.Table{Name: "guarded_holders", PartKey: []string{"id"}}))
	administer(t, schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
	user, password := newRole(t, "guarded_holders")
	service := newService(user, password)
	s := testsession.New(t, service.connect(t), service.connect(t))
	for granted, want := range []bool{false, !cluster.Differs(node.extra.Version(), t.Name(), name)} {
		if granted == 1 {
			administer(t, "GRANT SELECT ON system_views.settings TO "+user)
		}
		found, err := schema.Differences(t.Context(), s, schema.Sets(set))
		if err != nil {
			t.Fatal(err)
		}
		named := slices.ContainsFunc(found, func(d schema.Difference) bool { return d.Note && strings.Contains(d.Reason, name+": 3650d") })
		if named != want {
			t.Errorf("%d: found %v, named: %v", granted, found, named)
		}
	}
}

package tables_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

func accountSet(tb testing.TB) *tables.Set[account] {
	tb.Helper()
	return tables.Must(tables.New[account]("account", accounts, accountsByLevel, accountsByEmail, versioned))
}

var (
	accountID = gocql.UUID{1, 6: 0x40, 8: 0x80}
	at        = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	before    = gocql.TimeUUIDWith(gocql.UUIDFromTime(at.Add(-time.Second)).Timestamp(), 7, []byte("before"))
	version   = gocql.TimeUUIDWith(gocql.UUIDFromTime(at).Timestamp(), 7, []byte("after!"))
)

func newAccount(edit func(*account)) account {
	email := "a@example.org"
	a := account{ID: accountID, Email: &email, Level: 3, Version: before}
	if edit != nil {
		edit(&a)
	}
	return a
}

// write puts a statement and what is bound to it into words.
func words(b *strings.Builder, title string, s statement.Bound) {
	fmt.Fprintf(b, "%s\n  %s\n ", title, s.Text)
	for _, a := range s.Args {
		switch v := a.(type) {
		case nil:
			b.WriteString(" null")
		case *cqltype.Value:
			if v.Data == nil {
				b.WriteString(" null")
			} else {
				fmt.Fprintf(b, " %x", v.Data)
			}
		default:
			b.WriteString(" unset")
		}
	}
	b.WriteString("\n")
}

// What is sent for each change of a set with conditions, to the byte.
func TestConditionalRendering(t *testing.T) {
	t.Parallel()
	set := accountSet(t)
	compared := tables.Must(tables.New[account]("account", accounts, tables.Compare("level", "email"),
		tables.LocalSerial()))
	gone := newAccount(func(a *account) { a.Email = nil })
	up := newAccount(func(a *account) { a.Level = 4 })
	var b strings.Builder
	for _, tc := range []struct {
		name   string
		change tables.Change
	}{
		{"insert", set.Insert(newAccount(nil))},
		{"update that moves", set.Update(newAccount(nil), up)},
		{"update that gives the e-mail up", set.Update(newAccount(nil), gone)},
		{"update that takes one", set.Update(gone, newAccount(nil))},
		{"delete", set.Delete(newAccount(nil))},
		{"compare: insert", compared.Insert(gone)},
		{"compare: update", compared.Update(gone, up)},
		{"compare: delete", compared.Delete(gone)},
	} {
		fmt.Fprintf(&b, "# %s\n\n", tc.name)
		c, err := tc.change.Internal().RenderConditional(at.UnixMicro(), version, nil)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if c.Condition.By == layout.Compared {
			words(&b, "condition", c.Condition.Compare())
			b.WriteString("\n")
			continue
		}
		for i, s := range c.Condition.Base().Swap(c.Condition.Swap()) {
			words(&b, fmt.Sprintf("condition %d", i+1), s)
		}
		for i := range c.Mutations {
			m := &c.Mutations[i]
			words(&b, fmt.Sprintf("%s at %d", m.Kind, m.Timestamp-at.UnixMicro()),
				statement.Bound{Text: m.Statement, Args: m.Args})
		}
		for _, k := range c.Claims {
			words(&b, "claim: take", k.Take(version))
			words(&b, "claim: replace", k.Replace(version, before))
		}
		for _, k := range c.Releases {
			words(&b, "release", k.Free(before))
		}
		for i, s := range finishing(c.Condition) {
			words(&b, fmt.Sprintf("finish %d", i+1), s)
		}
		b.WriteString("\n")
	}
	golden.Check(t, "conditions.golden", b.String())
}

// What a client that died has left is rendered from the keys in pending as the client itself would have.
func TestSpreadIsWhatTheWriterSends(t *testing.T) {
	t.Parallel()
	set := accountSet(t)
	up := newAccount(func(a *account) { a.Level = 4 })
	for name, change := range map[string]tables.Change{
		"insert": set.Insert(up), "move": set.Update(newAccount(nil), up), "delete": set.Delete(up),
		"no move": set.Update(up, up),
	} {
		c, err := change.Internal().RenderConditional(at.UnixMicro(), version, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := entity.Row{}
		if after := c.Condition.After(); after != nil {
			row = *after
		}
		spread, err := c.Condition.Base().QueryTableMutations(row, c.Condition.Version, c.Condition.Keys)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := mutations(spread), mutations(c.Mutations); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// finishing is what is sent once the query tables have a change.
func finishing(c *entity.Condition) []statement.Bound {
	b := c.Base()
	if c.After() != nil {
		return []statement.Bound{b.Finish(c.Version)}
	}
	return []statement.Bound{b.Forget(c.Version), b.Drop(entity.Pending{Version: c.Version, Keys: c.Keys})}
}

func mutations(list []statement.Mutation) string {
	var b strings.Builder
	for i := range list {
		words(&b, fmt.Sprintf("%s at %d", list[i].Kind, list[i].Timestamp), statement.Bound{
			Text: list[i].Statement,
			Args: list[i].Args,
		})
	}
	return b.String()
}

// Keys in pending that cannot be read stop the roll-forward: to go on would leave rows behind.
func TestDamagedKeysAreRefused(t *testing.T) {
	t.Parallel()
	c, err := accountSet(t).Delete(newAccount(nil)).Internal().RenderConditional(at.UnixMicro(), version, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := c.Condition.Keys
	for n := 1; n < len(whole); n++ {
		_, err := c.Condition.Base().QueryTableMutations(entity.Row{}, version, whole[:n])
		whole := n == 1 || n == 1+2+len("email")+2+len("a@example.org") // of no column, and of one
		if (err == nil) != whole {
			t.Errorf("the first %d bytes of %d: %v", n, len(c.Condition.Keys), err)
		}
	}
	later := append([]byte{2}, whole[1:]...)
	if _, err := c.Condition.Base().QueryTableMutations(entity.Row{}, version, later); err == nil {
		t.Error("keys of a later version pass")
	}
}

func TestConditionalChangesAreRefused(t *testing.T) {
	t.Parallel()
	set := accountSet(t)
	fresh := newAccount(func(a *account) { a.Version = gocql.UUID{} })
	random := newAccount(func(a *account) { a.Version = gocql.UUID{6: 0x40, 8: 0x80} })
	other := newAccount(func(a *account) { a.ID[0]++ })
	empty := newAccount(func(a *account) { a.Email = new(string) })
	for name, change := range map[string]tables.Change{
		"update from a row without version": set.Update(fresh, fresh), "delete of one": set.Delete(fresh),
		"a version that is no time": set.Update(random, random), "another base key": set.Update(newAccount(nil), other),
		"nothing compared changes": tables.Must(tables.New[account]("account", accounts, tables.Compare("level"))).
			Update(newAccount(nil), newAccount(nil)),
		"upsert": set.Upsert(fresh), "an empty key": set.Insert(empty),
	} {
		_, err := change.Internal().RenderConditional(at.UnixMicro(), version, nil)
		var invalid *tables.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Logf("%s: %v", name, err)
	}
	if _, err := set.Insert(fresh).Internal().Render(1, nil); err == nil {
		t.Error("Render passes a change with a condition: its base row would be written without")
	}
}

// Nothing that a change with a condition is made of shows a value when it is printed.
func TestConditionsShowNoValues(t *testing.T) {
	t.Parallel()
	before := newAccount(nil)
	secret := "secret@example.org"
	after := newAccount(func(a *account) { a.Email = &secret })
	c, err := accountSet(t).Update(before, after).Internal().RenderConditional(at.UnixMicro(), version, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := *c.Condition.After()
	row.Pending = &entity.Pending{Version: version, Keys: c.Condition.Keys}
	for _, v := range []any{
		c, &c, c.Condition, c.Claims, c.Claims[0], c.Condition.Base(), row, &row,
		c.Condition.Base().Swap(c.Condition.Swap()),
	} {
		for _, verb := range []string{"%v", "%+v", "%s", "%q", "%#v", "%x"} {
			text := fmt.Sprintf(verb, v)
			if strings.Contains(text, "example.org") || strings.Contains(text, "6578616d706c65") ||
				strings.Contains(text, "101 120 97 109") {
				t.Errorf("%T printed with %s: %s", v, verb, text)
			}
		}
	}
}

// A Unique table whose key is in one partition with others is distinguished by the whole of it.
func TestClaimsByTheWholeKey(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[account]("account", accounts, versioned,
		tables.Table{
			Name: "accounts_by_level_and_email", PartKey: []string{"level"}, SortKey: []string{"email"},
			Unique: true,
		}))
	other := "b@example.org"
	c, err := set.Update(newAccount(nil), newAccount(func(a *account) { a.Email = &other })).Internal().
		RenderConditional(at.UnixMicro(), version, nil)
	if err != nil || len(c.Claims) != 1 || len(c.Releases) != 1 {
		t.Errorf("%d claims, %d releases, %v", len(c.Claims), len(c.Releases), err)
	}
	if c, err := set.Update(newAccount(nil), newAccount(nil)).Internal().RenderConditional(at.UnixMicro(), version,
		nil); err != nil || len(c.Claims)+len(c.Releases) != 0 {
		t.Errorf("the same key: %d claims, %d releases, %v", len(c.Claims), len(c.Releases), err)
	}
}

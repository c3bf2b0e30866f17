package tables_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

func TestVerbs(t *testing.T) {
	t.Parallel()
	s, before := orders(t), order()
	after := with(before, func(o *Order) { o.Status = Paid })
	tests := []struct {
		change        tables.Change
		kind          tables.Kind
		text          string
		before, after any
	}{
		{s.Insert(after), tables.Insert, "insert order", nil, after},
		{s.Update(before, after), tables.Update, "update order", before, after},
		{s.Upsert(after), tables.Upsert, "upsert order", nil, after},
		{s.Delete(before), tables.Delete, "delete order", before, nil},
	}
	for _, tc := range tests {
		c := tc.change
		if c.Kind() != tc.kind || c.Entity() != "order" || c.Before() != tc.before || c.After() != tc.after ||
			c.String() != tc.text {
			t.Errorf("%s: kind %s, entity %q", tc.text, c.Kind(), c.Entity())
		}
		if !c.Internal().Valid() || c.Internal().Set.Atomic {
			t.Errorf("%s: valid %t, atomic %t", tc.text, c.Internal().Valid(), c.Internal().Set.Atomic)
		}
	}
	if !orders(t, tables.Atomic()).Insert(before).Internal().Set.Atomic {
		t.Error("Atomic is not told")
	}
	if (tables.Change{}).Internal().Valid() {
		t.Error("a change of no set passes")
	}
	if got := fmt.Sprint(tables.Kind(9), statement.MutationKind(9), statement.Put,
		statement.Remove); got != "Kind(9) MutationKind(9) put remove" {
		t.Error(got)
	}
}

// TestVerbFreezesRow: the row is a value, so what the service does to its own copy does not reach the write.
func TestVerbFreezesRow(t *testing.T) {
	t.Parallel()
	o := order()
	c := orders(t).Insert(o)
	o.Status = Paid
	if c.After().(Order).Status != Open {
		t.Error("the change follows the variable it was made from")
	}
}

// callCase is a change that must not be written.
type callCase struct {
	name   string
	change tables.Change
	want   tables.InvalidError
}

const (
	immutable = "a key column is immutable unless the set says how it may change: OneOf (a list of values), " +
		"SingleWriter (one writer at a time) or Versioned (any value)"
	identity   = "the base key identifies the entity and cannot change: Delete the one and Insert the other"
	noDomain   = "the value is not one of those declared by OneOf"
	secretText = "s3cr3t"
)

func refusedChanges(t *testing.T) []callCase {
	t.Helper()
	s, swept, o := orders(t), orders(t, tables.SweepInserts()), order()
	other := gocql.UUID([]byte(secretText + secretText + secretText)[:16])
	j := aJob()
	j.Tenant, j.Worker = secretText, ptr(secretText)
	type note struct {
		ID      string
		At      *time.Time
		Text    string
		Blob    []byte
		Number  *big.Int
		Own     *secret
		Code    string
		Started *time.Time
	}
	notes := tables.Must(tables.New[note]("note", tables.Table{Name: "notes", PartKey: []string{"id"}},
		tables.Table{Name: "notes_by_at", PartKey: []string{"at"}, SortKey: []string{"id"}},
		tables.Type("own", "text"), tables.Type("code", "int"), tables.Type("number", "varint")))
	n := note{ID: secretText, At: ptr(time.UnixMilli(5)), Code: "1"}
	col := func(entity, column, reason string) tables.InvalidError {
		return tables.InvalidError{Entity: entity, Column: column, Reason: reason}
	}
	return []callCase{
		{
			"other base key", s.Update(o, with(o, func(o *Order) { o.OrderID = gocql.TimeUUID() })),
			col("order", "order_id", identity),
		},
		{"immutable key", s.Update(o, with(o, func(o *Order) { o.UserID = other })), col("order", "user_id", immutable)},
		{"immutable key gets a value", notes.Update(with(n, func(n *note) { n.At = nil }), n), col("note", "at", immutable)},
		{
			"immutable key loses its value", notes.Update(n, with(n, func(n *note) { n.At = nil })),
			col("note", "at", immutable),
		},
		{"not in the domain", s.Insert(with(o, func(o *Order) { o.Status = secretText })), col("order", "status", noDomain)},
		{
			"after not in the domain", s.Update(o, with(o, func(o *Order) { o.Status = secretText })),
			col("order", "status", noDomain),
		},
		{
			"before not in the domain", s.Update(with(o, func(o *Order) { o.Status = secretText }), o),
			col("order", "status", "before-image: "+noDomain),
		},
		{
			"deleted not in the domain", s.Delete(with(o, func(o *Order) { o.Status = secretText })),
			col("order", "status", "before-image: "+noDomain),
		},
		{
			"empty key", s.Insert(with(o, func(o *Order) { o.Status = "" })),
			col("order", "status", "a key column must not be empty"),
		},
		{
			"zero key", s.Insert(with(o, func(o *Order) { o.UserID = gocql.UUID{} })),
			col("order", "user_id", "a key column must not be the zero UUID"),
		},
		{
			"zero key of before", s.Delete(with(o, func(o *Order) { o.UserID = gocql.UUID{} })),
			col("order", "user_id", "before-image: a key column must not be the zero UUID: pass the row as it was read, not "+
				"one made of its id alone"),
		},
		{
			"zero base key", s.Insert(with(o, func(o *Order) { o.OrderID = gocql.UUID{} })), // a timeuuid
			col("order", "order_id", "a key column must not be the zero UUID"),
		},
		{
			"version of the key", s.Insert(with(o, func(o *Order) { o.OrderID = other })),
			col("order", "order_id", "a timeuuid is a version 1 UUID, this one is version 7"),
		},
		{"blind upsert", s.Upsert(o), col("order", "status",
			"a blind Upsert leaves the row under its former key behind: declare SweepInserts(), or Update from a before-image")},
		{
			"upsert not in the domain", swept.Upsert(with(o, func(o *Order) { o.Status = secretText })),
			col("order", "status", noDomain),
		},
		{
			"upsert of a SingleWriter", jobs(t, tables.SweepInserts()).Upsert(j),
			col("job", "worker", "a SingleWriter column moves by its before-image, which an Upsert does not have"),
		},
		{
			"too late", jobs(t).Insert(with(j, func(j *job) { j.EndsAt = ptr(time.UnixMicro(now).AddDate(21, 0, 0)) })),
			col("job", "ends_at", "expires more than 20 years from now, which is Cassandra's limit"),
		},
		{
			"UTF-8", notes.Insert(with(n, func(n *note) { n.Text = secretText + "\xff" })),
			col("note", "text", "text is not valid UTF-8"),
		},
		{
			"encoding", notes.Insert(with(n, func(n *note) { n.Code = secretText })),
			col("note", "code", "a value of Go type string cannot be encoded as CQL type int: the type is right, this value "+
				"is not"),
		},
		{
			"marshaler", notes.Insert(with(n, func(n *note) { n.Own = ptr(secret("fail")) })),
			col("note", "own", "a value of Go type *tables_test.secret cannot be encoded as CQL type text: the type is right, "+
				"this value is not"),
		},
		{
			"long partition key", jobs(t).Insert(with(j, func(j *job) { j.Tenant = strings.Repeat(secretText, 10922) })),
			tables.InvalidError{
				Entity: "job", Table: "jobs_by_state", Reason: "a partition key holds at most 65535 bytes, this one 65542",
			},
		},
	}
}

func TestRefuseChanges(t *testing.T) {
	t.Parallel()
	for _, tc := range refusedChanges(t) {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := tc.change.Internal().Render(now, nil)
			invalidAs(t, err, tc.want)
			if len(r.Mutations) != 0 {
				t.Errorf("%d mutations beside the error", len(r.Mutations))
			}
			noLeak(t, "error", err)
			noLeak(t, "change", tc.change)
		})
	}
}

func TestInvalidErrorText(t *testing.T) {
	t.Parallel()
	err := &tables.InvalidError{Entity: "order", Table: "orders", Column: "status", Reason: "no"}
	if got := err.Error(); got != "entity order: table orders: column status: no" {
		t.Error(got)
	}
	wrapped := fmt.Errorf("createOrder: %w", err)
	var invalid *tables.InvalidError
	if !errors.As(wrapped, &invalid) || invalid != err {
		t.Error("not found by errors.As")
	}
}

// noLeak prints v in every way and looks for the secret in every form. Rows hold names, addresses, amounts; errors and
// changes end in logs.
func noLeak(t *testing.T, what string, v any) {
	t.Helper()
	var text, structured bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&structured, nil)).Info("x", "v", v)
	outputs := map[string]string{"slog text": text.String(), "slog JSON": structured.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		outputs[verb] = fmt.Sprintf(verb, v)
		outputs[verb+" of a slice"] = fmt.Sprintf(verb, []any{v})
	}
	for how, out := range outputs {
		for _, form := range secretForms() {
			if strings.Contains(out, form) {
				t.Errorf("%s printed with %s shows a value: %s", what, how, out)
			}
		}
	}
}

func secretForms() []string {
	b := []byte(secretText)
	encoded := base64.StdEncoding.EncodeToString(append([]byte{0, 0, 0}, b...))
	return []string{
		secretText, hex.EncodeToString(b), encoded[4:], base64.StdEncoding.EncodeToString(b),
		strings.Trim(fmt.Sprintf("%d", b), "[]"), strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", b), "[]byte{"),
			"}"),
	}
}

func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	type row struct {
		ID     string
		Owner  *string
		Raw    []byte
		Total  *inf.Dec
		Labels map[string]string
		EndsAt time.Time
	}
	s := tables.Must(tables.New[row]("thing", tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.Table{Name: "things_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
		tables.SingleWriter("owner"), tables.ExpiresAt("ends_at")))
	r := row{
		ID: secretText, Owner: ptr(secretText), Raw: []byte(secretText), Labels: map[string]string{secretText: secretText},
		EndsAt: time.UnixMicro(now).Add(time.Hour),
	}
	c := s.Update(r, with(r, func(r *row) { r.Owner, r.Raw = ptr(secretText+"2"), nil }))
	rendered, err := c.Internal().Render(now, nil)
	if err != nil {
		t.Fatal(err)
	}
	noLeak(t, "change", c)
	noLeak(t, "changes", []tables.Change{c})
	noLeak(t, "pointer to a change", &c)
	noLeak(t, "change in a struct", struct{ C tables.Change }{c})
	for _, m := range rendered.Mutations {
		_, args := m.At(time.UnixMicro(now))
		for _, a := range append(args, m.Args...) {
			noLeak(t, "value", a)
			if v, ok := a.(*cqltype.Value); ok {
				noLeak(t, "value", *v)
			}
		}
	}
	// Mutations are not for loggers, which would have to encode them to show them.
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{rendered, &rendered, rendered.Mutations, rendered.Mutations[0], &rendered.Mutations[0]} {
			out := fmt.Sprintf(verb, v)
			for _, form := range secretForms() {
				if strings.Contains(out, form) {
					t.Errorf("%T printed with %s shows a value: %s", v, verb, out)
				}
			}
		}
	}
	if got := fmt.Sprint(rendered); got != "3 mutations" {
		t.Error(got)
	}
	if got, err := json.Marshal(rendered.Mutations[0].Args); err != nil || strings.Contains(string(got), secretText) {
		t.Errorf("%s, %v", got, err)
	}
}

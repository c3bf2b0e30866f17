package writer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/wire"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// forged is a mutation as package entity stores it, without edits of elements.
type forged struct {
	Kind            statement.MutationKind
	Keyspace, Table string
	Timestamp       int64
	ExpiresAt       int64
	Keys, Part      int
	Columns         []forgedColumn
}

type forgedColumn struct {
	Name  string
	State uint8
	Type  string
	Data  []byte
}

func (m forged) stored() []byte {
	type column struct {
		forgedColumn
		Edit statement.EditKind
	}
	columns := make([]column, len(m.Columns))
	for i, c := range m.Columns {
		columns[i].forgedColumn = c
	}
	return wire.Append(nil, struct {
		Kind                 statement.MutationKind
		Keyspace, Table      string
		Timestamp, ExpiresAt int64
		Keys, Part           int
		Columns              []column
	}{m.Kind, m.Keyspace, m.Table, m.Timestamp, m.ExpiresAt, m.Keys, m.Part, columns})
}

// put is a row of orders_by_id with one column alongside its key.
func put(at int64, edit func(*forged)) forged {
	m := forged{
		Kind: statement.Put, Keyspace: "shop", Table: "orders_by_id", Timestamp: at, Keys: 1, Part: 1,
		Columns: []forgedColumn{
			{"order_id", 2, "timeuuid", entity.Version(1, 1).Bytes()}, {"status", 2, "text", []byte("open")},
		},
	}
	edit(&m)
	return m
}

func forge(at int64, m forged) (*Error, error) {
	e := new(Error)
	return e, e.UnmarshalBinary(sealed(wireError{
		Op: "op", Timestamp: at, Mode: Single,
		Paths: []wirePath{{Outcome: Unknown, Mutations: [][]byte{m.stored()}}},
	}))
}

// Whoever can write to the queue can have written only what the writer could: in its keyspaces, in the tables of the
// sets that it names, and not in a time to come. What is rejected keeps what is known of it.
func TestStoredErrorOfOthersIsRefused(t *testing.T) {
	t.Parallel()
	now := time.Now()
	orders := Resumes(orderSet(t), itemSet(t))
	tenant := shared(session.Keyspaces(map[string]string{"": "tenant_a"}))
	const none = "the stored write of table orders_by_id has no keyspace"
	const status = "not as the set declares table shop.orders_by_id: column status"
	byStatus := func(m *forged) {
		m.Table, m.Keys, m.Columns = "orders_by_status", 2, []forgedColumn{m.Columns[1], m.Columns[0]}
	}
	former := func(m *forged) { m.Columns[1].Data = []byte("former") }
	plain := mustSet[Order](t, "order", tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Type("order_id", "timeuuid"))
	tasks := Resumes(taskSet(t, tables.ExpiresAt("ends")))
	ends := now.Add(time.Hour).UnixMilli()
	task := func(expiry int64) func(*forged) {
		return func(m *forged) {
			m.Table, m.ExpiresAt, m.Columns = "tasks", expiry, []forgedColumn{
				{"task_id", 2, "uuid", m.Columns[0].Data},
				{"ends", 2, "timestamp", binary.BigEndian.AppendUint64(nil, uint64(ends))},
			}
		}
	}
	stamp := func(at int64) func(*forged) {
		return func(m *forged) {
			data := binary.BigEndian.AppendUint64(nil, uint64(at))
			m.Columns = append(m.Columns, forgedColumn{"updated_at", 2, "bigint", data})
		}
	}
	for name, test := range map[string]struct {
		options []NewOption
		at      time.Time
		edit    func(*forged)
		want    string // empty if it is resumed
	}{
		"the session's keyspace": {nil, now, func(*forged) {}, ""},
		"another keyspace": {
			nil, now, func(m *forged) { m.Keyspace = "tenant_b" },
			`keyspace "tenant_b": resume it with the writer of that tenant`,
		},
		"no keyspace": {nil, now, func(m *forged) { m.Keyspace = "" }, none},
		"no keyspace, with sets": {[]NewOption{shared(session.StrictKeyspaces()), orders}, now, func(m *forged) {
			m.Keyspace = ""
		}, none},
		"a mapped keyspace": {[]NewOption{tenant}, now, func(m *forged) { m.Keyspace = "tenant_a" }, ""},
		"what it is mapped from": {
			[]NewOption{tenant},
			now, func(*forged) {},
			`keyspace "shop": resume it with the writer of that tenant`,
		},
		"system": {
			[]NewOption{shared(session.Keyspaces(map[string]string{"x": "system_auth"}))},
			now,
			func(m *forged) { m.Keyspace = "system_auth" }, "Cassandra's own",
		},
		"a time to come":       {nil, now.AddDate(100, 0, 0), func(*forged) {}, "ahead of this clock"},
		"a clock a bit ahead":  {nil, now.Add(5 * time.Second), func(*forged) {}, ""},
		"a named set":          {[]NewOption{orders}, now, func(*forged) {}, ""},
		"a named set's tenant": {[]NewOption{orders, tenant}, now, func(m *forged) { m.Keyspace = "tenant_a" }, ""},
		"a set, not its tenant": {
			[]NewOption{orders, tenant},
			now, func(*forged) {}, `is of keyspace "shop", and this writer has table orders_by_id in keyspace "tenant_a": use the writer of that keyspace`,
		},
		"a set, no tenant": {
			[]NewOption{orders, shared(session.StrictKeyspaces())},
			now, func(*forged) {}, `is of keyspace "shop", and this writer has table orders_by_id in no keyspace: use the writer of that keyspace`,
		},
		"another table": {[]NewOption{orders}, now, func(m *forged) {
			m.Table = "roles"
		}, "which no set in the option Resumes has"},
		"another column": {
			[]NewOption{orders},
			now, func(m *forged) { m.Columns[1].Name = "is_superuser" },
			"it has no column is_superuser",
		},
		"another key": {
			[]NewOption{orders},
			now, func(m *forged) { m.Columns = m.Columns[1:] },
			"table shop.orders_by_id: its primary key is ((order_id)), and that of the stored write is ((status))",
		},
		"part of a key": {[]NewOption{orders}, now, func(m *forged) {
			m.Kind, m.Table, m.Columns = statement.Remove, "orders_by_status", m.Columns[1:]
		}, "its primary key is ((status), order_id), and that of the stored write is ((status))"},
		"the key in order": {[]NewOption{orders}, now, byStatus, ""},
		"the key in another order": {[]NewOption{orders}, now, func(m *forged) {
			byStatus(m)
			m.Columns[0], m.Columns[1] = m.Columns[1], m.Columns[0]
		}, "its primary key is ((status), order_id), and that of the stored write is ((order_id), status)"},
		"another partition key": {[]NewOption{orders}, now, func(m *forged) {
			byStatus(m)
			m.Part = 2
		}, "and that of the stored write is ((status, order_id))"},
		"a longer key": {[]NewOption{orders}, now, func(m *forged) {
			m.Keys = 2
		}, "and that of the stored write is ((order_id), status)"},
		"another type": {
			[]NewOption{orders},
			now, func(m *forged) { m.Columns[1].Type = "blob" },
			status + " is declared as text, and the stored value is of blob",
		},
		"another type of a null": {
			[]NewOption{orders},
			now, func(m *forged) { m.Columns[1] = forgedColumn{"status", 1, "int", nil} },
			status + " is declared as text, and the stored value is of int",
		},
		"a value outside OneOf": {[]NewOption{orders}, now, former, status +
			": the value is not one of those declared by OneOf"},
		"of another set's": {[]NewOption{Resumes(orderSet(t), plain)}, now, former, ""},
		"a former value removed": {[]NewOption{orders}, now, func(m *forged) {
			former(m)
			byStatus(m)
			m.Kind = statement.Remove
		}, ""},
		"an expiry of none": {[]NewOption{orders}, now, func(m *forged) {
			m.ExpiresAt = ends
		}, "expires, and the set has no ExpiresAt"},
		"an expiry": {[]NewOption{tasks}, now, task(ends), ""},
		"another expiry": {
			[]NewOption{tasks},
			now, task(ends - 1),
			"column ends: the stored write expires at another time than the column says",
		},
		"an expiry left out": {
			[]NewOption{tasks},
			now, task(0),
			"column ends: the stored write expires at another time than the column says",
		},
		"its stamp": {[]NewOption{orders}, now, stamp(now.UnixMicro()), ""},
		"a stamp that no later write could follow": {
			[]NewOption{orders},
			now, stamp(1<<62 + 1<<60),
			"column updated_at: the stamp is not the timestamp of the stored write",
		},
		"a stamp of null": {
			[]NewOption{orders},
			now, func(m *forged) { m.Columns = append(m.Columns, forgedColumn{"updated_at", 1, "bigint", nil}) },
			"column updated_at: the stamp is not the timestamp of the stored write",
		},
		"past a condition": {[]NewOption{orders}, now, func(m *forged) {
			m.Table = "items"
		}, "lightweight transactions alone"},
	} {
		x := &fakeExecutor{}
		at := test.at.UnixMicro()
		e, err := forge(at, put(at, test.edit))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, err = fakeWriter(x, test.options...).Resume(t.Context(), e)
		switch {
		case test.want == "" && err != nil, test.want == "" && len(x.sent()) != 1:
			t.Errorf("%s: %v, sent %d", name, err, len(x.sent()))
		case test.want == "":
		case err == nil || !strings.Contains(err.Error(), test.want), len(x.sent()) > 0:
			t.Errorf("%s: %v, sent %d, want %s", name, err, len(x.sent()), test.want)
		case !errors.Is(err, ErrInvalid) || !errors.Is(err, ErrUnknown) || asError(t, err).NotApplied():
			t.Errorf("%s: what is known of it is lost: %v", name, err)
		}
	}
}

// A consumer that is itself wrong keeps what it cannot resume: the error stays Resumable, also when it is stored again,
// and another writer finishes the write. What no writer may send is not kept, nor what is too old.
func TestStoredErrorOutlivesAWrongConsumer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		options []NewOption
		at      time.Time
		edit    func(*forged)
		kept    bool
	}{
		"another keyspace": {
			[]NewOption{shared(session.Keyspaces(map[string]string{"": "tenant_a"}))},
			now,
			func(*forged) {}, true,
		},
		"other sets":         {[]NewOption{Resumes(itemSet(t))}, now, func(*forged) {}, true},
		"an invalid option":  {[]NewOption{Timeout(0)}, now, func(*forged) {}, true},
		"a slow clock":       {[]NewOption{WithClock(fixed(now.Add(-time.Hour)))}, now, func(*forged) {}, true},
		"a time far to come": {nil, now.AddDate(100, 0, 0), func(*forged) {}, false},
		"too old":            {[]NewOption{Timeout(0)}, now.AddDate(0, 0, -6), func(*forged) {}, false},
		"no keyspace":        {nil, now, func(m *forged) { m.Keyspace = "" }, false},
		"system": {
			[]NewOption{shared(session.Keyspaces(map[string]string{"x": "system_auth"}))},
			now,
			func(m *forged) { m.Keyspace = "system_auth" }, false,
		},
	} {
		e, err := forge(test.at.UnixMicro(), put(test.at.UnixMicro(), test.edit))
		if err != nil {
			t.Fatal(err)
		}
		x := &fakeExecutor{}
		_, err = fakeWriter(x, test.options...).Resume(t.Context(), e)
		left := asError(t, err)
		if left.Resumable() != test.kept || !errors.Is(err, ErrInvalid) || OutcomeOf(err) != Unknown || len(x.sent()) > 0 ||
			strings.Contains(err.Error(), "keep the error") != test.kept {
			t.Errorf("%s: Resumable %t, %v, sent %d", name, left.Resumable(), err, len(x.sent()))
		}
		if !test.kept {
			continue
		}
		for how, again := range map[string]*Error{"as it is": left, "stored": transport(t, left)} {
			x := &fakeExecutor{}
			if _, err := fakeWriter(x, Resumes(orderSet(t))).Resume(t.Context(), again); err != nil || len(x.sent()) != 1 {
				t.Errorf("%s, %s, by another writer: %v, sent %d", name, how, err, len(x.sent()))
			}
			lost := &fakeExecutor{answer: fail("", errSyntax)}
			if _, err := fakeWriter(lost).Resume(t.Context(), again); errors.Is(err, ErrInvalid) ||
				!asError(t, err).Resumable() {
				t.Errorf("%s, %s, by another writer that fails: %v", name, how, err)
			}
			blind := newWriter(&fakeExecutor{}, "shop", func(context.Context, string, string) (liveTable, error) {
				return liveTable{}, errSyntax
			})
			if _, err := blind.Resume(t.Context(), again); errors.Is(err, ErrInvalid) || !errors.Is(err, errSyntax) ||
				!asError(t, err).Resumable() {
				t.Errorf("%s, %s, by another writer that cannot read the schema: %v", name, how, err)
			}
		}
	}
}

// Parts of a write are all at its timestamp, except for removes just below it.
func TestStoredErrorIsOfOneTimestamp(t *testing.T) {
	t.Parallel()
	const at = 1_700_000_000_000_000
	removed := func(m *forged) { m.Kind, m.Columns = statement.Remove, m.Columns[:1] }
	for name, test := range map[string]struct {
		at   int64
		edit func(*forged)
		ok   bool
	}{
		"equal": {at, func(*forged) {}, true}, "a remove below": {at - 1, removed, true},
		"a put below":            {at - 1, func(*forged) {}, false},
		"a remove further below": {at - 2, removed, false}, "a put above": {at + 1, func(*forged) {}, false},
		"a remove above": {at + 1, removed, false},
	} {
		if _, err := forge(at, put(test.at, test.edit)); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Everything that the sets themselves write is resumed by a writer that names them.
func TestResumesTakesWhatItsSetsWrite(t *testing.T) {
	t.Parallel()
	open, paid := move()
	before := newItem()
	after, counted := before, before
	after.Shelf = "b"
	counted.Count++
	task := newTask("bob")
	task.Ends = ptr(time.Now().Add(time.Hour))
	expiring := taskSet(t, tables.ExpiresAt("ends"))
	lost := []scripted{{err: errLost}, {err: errLost}, {err: errLost}}
	for name, test := range map[string]struct {
		set    tables.Described
		change tables.Change
	}{
		"insert": {orderSet(t), orderSet(t).Insert(open)}, "move": {orderSet(t), orderSet(t).Update(open, paid)},
		"delete": {orderSet(t), orderSet(t).Delete(open)}, "expiry": {expiring, expiring.Insert(task)},
		"patch":            {taskSet(t), taskSet(t).Patch(task, tables.Column("ends"))},
		"versioned":        {itemSet(t), itemSet(t).Update(before, after)},
		"versioned delete": {itemSet(t), itemSet(t).Delete(before)},
		"versioned insert": {itemSet(t), itemSet(t).Insert(before)},
		"compare":          {seatSet(t), seatSet(t).Update(before, counted)},
		"mark":             {markedSet(t), markedSet(t).Update(before, counted)},
	} {
		w, _, x := conditional(lost)
		x.answer = fail("", errSimple, errSimple, errSimple, errSimple, errSimple, errSimple, errSimple, errSimple, errSimple)
		_, err := w.Write(t.Context(), "op", test.change)
		var failed *Error
		if !errors.As(err, &failed) {
			t.Fatalf("%s: %v", name, err)
		}
		stored := transport(t, failed)
		other, _, sent := conditional(nil, Resumes(taskSet(t), noteSet(t)))
		if name != "patch" && name != "expiry" {
			if _, err := other.Resume(t.Context(), stored); !errors.Is(err, ErrInvalid) || len(sent.sent()) > 0 {
				t.Errorf("%s: by a writer of other sets: %v", name, err)
			}
		}
		own, _, _ := conditional(nil, Resumes(taskSet(t), test.set))
		if _, err := own.Resume(t.Context(), stored); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a process of before a column and a field were added has stored is resumed by one that names the set of today,
// and not the other way.
func TestResumesTakesWhatFormerSetsWrote(t *testing.T) {
	t.Parallel()
	type place struct {
		City string `cql:"city"`
	}
	type placeToday struct {
		City string `cql:"city"`
		Zip  *int   `cql:"zip"`
	}
	type shop struct {
		ID    string
		Place place
	}
	type shopToday struct {
		ID    string
		Place placeToday
		Note  *string
	}
	table := tables.Table{Name: "shops", PartKey: []string{"id"}}
	former := mustSet[shop](t, "shop", table, tables.UserType[place]("place"))
	today := mustSet[shopToday](t, "shop", table, tables.UserType[placeToday]("place"))
	older := transport(t, failed(t, fakeWriter(&fakeExecutor{answer: fail("", errSimple)}, once()),
		former.Insert(shop{"a", place{"oslo"}})))
	if _, err := fakeWriter(&fakeExecutor{}, Resumes(today)).Resume(t.Context(), older); err != nil {
		t.Error(err)
	}
	newer := transport(t, failed(t, fakeWriter(&fakeExecutor{answer: fail("", errSimple)}, once()),
		today.Insert(shopToday{ID: "a"})))
	x := &fakeExecutor{}
	if _, err := fakeWriter(x, Resumes(former)).Resume(t.Context(), newer); !errors.Is(err, ErrInvalid) ||
		len(x.sent()) > 0 {
		t.Errorf("%v, %d sent", err, len(x.sent()))
	}
}

// A stored row is where its values say, under one of the functions of the set: elsewhere no read or delete would find
// it, and no other entity would get its unique keys.
func TestStoredRowIsWhereItBelongs(t *testing.T) {
	t.Parallel()
	type account struct {
		ID, Email string
		At        time.Time
		Version   gocql.UUID
	}
	row := account{ID: "a", Email: "m", At: time.Now()}
	plain := func(table tables.Table, options ...tables.Option) *tables.Set[account] {
		return mustSet[account](t, "account", append([]tables.Option{table}, options...)...)
	}
	byBucket := tables.Table{Name: "accounts", PartKey: []string{"bucket", "id"}}
	versioned := func(options ...tables.Option) *tables.Set[account] {
		emails := tables.Table{Name: "emails", PartKey: []string{"email"}, Unique: true}
		return plain(byBucket, append([]tables.Option{emails, tables.Versioned("version")}, options...)...)
	}
	monthly := plain(tables.Table{
		Name: "bills", PartKey: []string{"id"}, SortKey: []string{"at"},
		Rotate: tables.Month("at"),
	})
	own, other := tables.Derive("bucket", tables.Hash(10, "id")), tables.Derive("bucket", tables.Hash(1000, "id"))
	both := tables.Derive("bucket", tables.Day("at"), tables.Since{Time: time.Unix(0, 0), Bucket: tables.Hour("at")})
	day, hour := tables.Derive("bucket", tables.Day("at")), tables.Derive("bucket", tables.Hour("at"))
	month := func(add int) []byte {
		return []byte("bills_" + row.At.UTC().AddDate(0, add, 15-row.At.UTC().Day()).Format("2006_01"))
	}
	for name, test := range map[string]struct {
		by, of *tables.Set[account]
		edit   func([]byte) []byte
		ok     bool
	}{
		"a bucket":                   {by: plain(byBucket, own), of: plain(byBucket, own), ok: true},
		"a former bucket":            {by: plain(byBucket, day), of: plain(byBucket, both), ok: true},
		"another bucket":             {by: plain(byBucket, other), of: plain(byBucket, own)},
		"a bucket of time":           {by: plain(byBucket, day), of: plain(byBucket, day), ok: true},
		"another bucket of time":     {by: plain(byBucket, hour), of: plain(byBucket, day)},
		"a bucket of a condition":    {by: versioned(own), of: versioned(own), ok: true},
		"another one of a condition": {by: versioned(other), of: versioned(own)},
		"a table of the time":        {by: monthly, of: monthly, ok: true},
		"a table of another time": {by: monthly, of: monthly, edit: func(m []byte) []byte {
			return bytes.ReplaceAll(m, month(0), month(1))
		}},
	} {
		stored := storedOf(t, test.by.Insert(row))
		if test.edit != nil {
			stored.Paths[0].Mutations[0] = test.edit(stored.Paths[0].Mutations[0])
		}
		forged := new(Error)
		if err := forged.UnmarshalBinary(sealed(stored)); err != nil {
			t.Fatal(name, err)
		}
		w, _, x := conditional(nil, Resumes(test.of))
		if _, err := w.Resume(t.Context(), forged); errors.Is(err, ErrInvalid) == test.ok || !test.ok && len(x.sent()) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a stored error says of itself is of whoever wrote it: it makes no line of its own in a log, and does nothing to
// a terminal.
func TestStoredTextsAreOneLine(t *testing.T) {
	t.Parallel()
	const text = "op\n12:00 INFO admin logged in\r\x1b[2J\u202e\u2028\xff"
	open, paid := move()
	before := newItem()
	after := before
	after.Shelf = "b"
	for name, test := range map[string]struct {
		change tables.Change
		forge  func(*wireError)
	}{
		"name of the write":  {orderSet(t).Update(open, paid), func(w *wireError) { w.Op = text }},
		"cause":              {orderSet(t).Update(open, paid), func(w *wireError) { w.Paths[0].Err = text }},
		"cause of condition": {itemSet(t).Update(before, after), func(w *wireError) { w.Decision.Err = text }},
		"table of a key":     {itemSet(t).Update(before, after), func(w *wireError) { w.Decision.Taken = text }},
	} {
		stored := storedOf(t, test.change)
		test.forge(&stored)
		forged := new(Error)
		if err := forged.UnmarshalBinary(sealed(stored)); err != nil {
			t.Fatal(err)
		}
		texts := []string{forged.Op, forged.Error()}
		for _, cause := range forged.Unwrap() {
			texts = append(texts, cause.Error())
		}
		w, _, x := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
		x.answer = fail("", errSimple, errSimple, errSimple)
		if _, err := w.Resume(t.Context(), forged); err != nil {
			texts = append(texts, err.Error())
		}
		for _, shown := range texts {
			if strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(shown, "\xff") {
				t.Errorf("%s: %q", name, shown)
			}
		}
		if !strings.Contains(strings.Join(texts, " "), `op\n12:00 INFO admin logged in\r\x1b[2J\u202e\u2028\xff`) {
			t.Errorf("%s: the text is lost: %q", name, texts)
		}
	}
}

// The tables of an entity with conditions are looked up for each table of the write.
func TestStoredEntityHasFewTables(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Shelf = "b"
	stored := storedOf(t, itemSet(t).Update(before, after))
	for n, refused := range map[int]bool{maxTables: false, maxTables + 1: true} {
		stored.Decision.Tables = make([]string, n)
		if err := new(Error).UnmarshalBinary(sealed(stored)); (err != nil) != refused {
			t.Errorf("%d tables: %v", n, err)
		}
	}
}

// storedOf is what is stored of a write of which no answer came.
func storedOf(t *testing.T, change tables.Change) wireError {
	t.Helper()
	w, _, x := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	x.answer = fail("", errSimple, errSimple, errSimple)
	_, err := w.Write(t.Context(), "op", change)
	data, err := asError(t, err).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stored wireError
	if _, err := wire.Decode(data[len(magic):len(data)-crc32.Size], &stored, maxParts); err != nil {
		t.Fatal(err)
	}
	return stored
}

// A tracer keeps the op of each write, so whoever writes to the queue must not choose what it keeps: the op of a stored
// error is short, and an error that is rejected has none of its own.
func TestOpOfStoredErrorIsBounded(t *testing.T) {
	t.Parallel()
	open, paid := move()
	stored := storedOf(t, orderSet(t).Update(open, paid))
	for n, refused := range map[int]bool{maxOp: false, maxOp + 1: true} {
		stored.Op = strings.Repeat("x", n)
		if err := new(Error).UnmarshalBinary(sealed(stored)); (err != nil) != refused {
			t.Errorf("op of %d bytes: %v", n, err)
		}
	}
	_, err := fakeWriter(&fakeExecutor{answer: fail("", errSimple)}, once()).
		Write(t.Context(), strings.Repeat("x", maxOp+1), orderSet(t).Insert(open))
	failed := transport(t, asError(t, err))
	if failed.Op != strings.Repeat("x", maxOp) {
		t.Errorf("op %q", failed.Op)
	}
	for want, w := range map[string]*Writer{
		failed.Op: fakeWriter(&fakeExecutor{}),
		"Resume":  fakeWriter(&fakeExecutor{}, Resumes(itemSet(t))),
	} {
		r := &recorder{}
		_, _ = w.With(traced(r)).Resume(t.Context(), failed)
		if len(r.ends) != 1 || r.ends[0].Op != want || r.lines[0] != "start "+want+" of 0, resume true" {
			t.Errorf("told %q", r.lines)
		}
	}
}

// bench is a row of a hall with seats in it.
type bench struct {
	Hall  string
	Seat  int32
	Count int32
}

func benchSet(tb testing.TB) *tables.Set[bench] {
	tb.Helper()
	return mustSet[bench](tb, "bench",
		tables.Table{Name: "benches", PartKey: []string{"hall"}, SortKey: []string{"seat"}}, tables.Compare("count"))
}

// Stored conditions that no writer could have put into one transaction are rejected: they would not hold together.
func TestStoredConditionsHoldTogether(t *testing.T) {
	t.Parallel()
	at := time.Now().UnixMicro()
	stored := func(c tables.Change, at int64) []byte {
		r, err := c.Internal().RenderConditional(at, entity.Version(at, 1), func(string) string { return "shop" })
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	first := stored(benchSet(t).Insert(bench{Hall: "a", Seat: 1}), at)
	second := stored(benchSet(t).Insert(bench{Hall: "a", Seat: 2}), at)
	for name, test := range map[string]struct {
		more [][]byte
		ok   bool
	}{
		"one":                {nil, true},
		"two of a partition": {[][]byte{second}, true},
		"another partition":  {[][]byte{stored(benchSet(t).Insert(bench{Hall: "b", Seat: 2}), at)}, false},
		"another entity":     {[][]byte{stored(seatSet(t).Insert(newItem()), at)}, false},
		"a versioned one":    {[][]byte{stored(itemSet(t).Insert(newItem()), at)}, false},
		"another timestamp":  {[][]byte{stored(benchSet(t).Insert(bench{Hall: "a", Seat: 2}), at-1)}, false},
		"not a condition":    {[][]byte{{1}}, false},
	} {
		w := wireError{
			Op: "op", Timestamp: at, Mode: Conditional,
			Decision: wireDecision{Conditions: append([][]byte{first}, test.more...)},
		}
		e := new(Error)
		if err := e.UnmarshalBinary(sealed(w)); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		} else if err == nil && len(e.decision.Parts) != 1+len(test.more) {
			t.Errorf("%s: %d conditions", name, len(e.decision.Parts))
		}
	}
}

// Each of the conditions is compared with the sets that are resumed.
func TestStoredConditionsAreOfTheSets(t *testing.T) {
	t.Parallel()
	w, _, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	set := benchSet(t)
	_, err := w.Write(t.Context(), "op", set.Insert(bench{Hall: "a", Seat: 1}), set.Insert(bench{Hall: "a", Seat: 2}))
	failed := transport(t, asError(t, err))
	own, x, _ := conditional(nil, Resumes(set))
	if _, err := own.Resume(t.Context(), failed); err != nil || x.asked() != "INSERT" {
		t.Errorf("%v, sent %s", err, x.asked())
	}
	// A column that only the second has is in none of the sets.
	other, err := mustSet[struct {
		Hall  string
		Seat  int32
		Count int32
		Owner string
	}](t, "bench", tables.Table{Name: "benches", PartKey: []string{"hall"}, SortKey: []string{"seat"}},
		tables.Compare("count")).
		Insert(struct {
			Hall  string
			Seat  int32
			Count int32
			Owner string
		}{"a", 2, 0, "x"}).Internal().RenderConditional(failed.Timestamp, failed.decision.First().Version,
		func(string) string { return "shop" })
	if err != nil {
		t.Fatal(err)
	}
	failed.decision.Parts[1] = &other
	own, x, _ = conditional(nil, Resumes(set))
	if _, err := own.Resume(t.Context(), failed); err == nil || x.asked() != "" {
		t.Errorf("a column of no set: %v, sent %s", err, x.asked())
	}
}

// The marks of several rows follow from what is changed, whoever computes them: another number would make a repeat a
// conflict.
func TestDigestOfConditions(t *testing.T) {
	t.Parallel()
	var all []*entity.Conditional
	for seat := range int32(2) {
		r, err := benchSet(t).Insert(bench{Hall: "a", Seat: seat}).Internal().RenderConditional(1, entity.Version(1, 1),
			func(string) string { return "shop" })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &r)
	}
	const want uint64 = 0xaefe839ec13fc0c9
	if got := entity.Digest(all); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	all[0], all[1] = all[1], all[0]
	if got := entity.Digest(all); got != want {
		t.Errorf("in another order %#x, want %#x", got, want)
	}
}

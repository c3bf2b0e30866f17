package reconcile_test

import (
	"errors"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// versionedItem is an item of a set with Versioned.
type versionedItem struct {
	ID, Owner gocql.UUID
	Status    string
	A, B      *int64
	UpdatedAt int64 // 0
	Version   gocql.UUID
}

var versionedItems = tables.Must(tables.New[versionedItem]("item",
	tables.Table{Name: "items", PartKey: []string{"id"}},
	tables.Table{Name: "items_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
	tables.Table{Name: "items_by_status", PartKey: []string{"status"}, SortKey: []string{"id"}},
	tables.Versioned("version")))

func (o item) versioned() versionedItem {
	return versionedItem{ID: o.ID, Owner: o.Owner, Status: o.Status, A: o.A, B: o.B, Version: o.Version}
}

func (r rule) described() tables.Described {
	if r.versioned {
		return versionedItems
	}
	return r.set
}

func (r rule) insert(o item) tables.Change {
	if r.versioned {
		return versionedItems.Insert(o.versioned())
	}
	return r.set.Insert(o)
}

func (r rule) update(before, after item) tables.Change {
	if r.versioned {
		return versionedItems.Update(before.versioned(), after.versioned())
	}
	return r.set.Update(before, after)
}

func (r rule) remove(o item) tables.Change {
	if r.versioned {
		return versionedItems.Delete(o.versioned())
	}
	return r.set.Delete(o)
}

// toldVersion notes when a write was made, and what the next one starts from. It says whether another writer came
// first.
func (x *random) toldVersion(l *logged, res writer.Result, err error) (conflict bool) {
	var failed *writer.Error
	next := l.row
	if next.Version = res.Version; err != nil || l.Kind() == tables.Delete {
		next.Version = gocql.UUID{}
	}
	l.at = res.Timestamp
	if errors.As(err, &failed) {
		l.at = failed.Timestamp
	}
	conflict = errors.Is(err, writer.ErrConflict)
	if c, ok := writer.Current[versionedItem](err); ok {
		next = item{ID: c.ID, Owner: c.Owner, Status: c.Status, A: c.A, B: c.B, Version: c.Version}
	}
	if err != nil && !conflict {
		return false // the next one finds out
	}
	l.row.Version = next.Version
	x.items[slices.IndexFunc(x.items, func(i *item) bool { return i.ID == l.row.ID })] = &next
	return conflict
}

// plantVersioned loses a table, has writers die after their transactions, and puts rows that versions do not explain.
func (x *random) plantVersioned() {
	x.Create("TRUNCATE shop." + owners)
	for range 4 {
		differs, missing, orphan, ghost := x.version(), x.version(), x.version(), x.version()
		lost := x.When(cassandratest.Where(isWrite), cassandratest.Table(owners, states)).Do(cassandratest.Drop)
		after := differs
		after.A = x.value()
		x.writeVersion(x.update(differs, after), after)
		after = missing // and where it was is a ghost
		after.Status = "moved"
		x.writeVersion(x.update(missing, after), after)
		x.writeVersion(x.remove(orphan), orphan)
		lost.End()
		x.plantArchived(ghost, time.Now().Add(-time.Hour).UnixMicro())
		x.plantArchived(orphan, time.Now().Add(-time.Hour).UnixMicro())
	}
}

// version creates an item.
func (x *random) version() item {
	l := x.created()
	res, err := x.w.Write(x.t.Context(), "plant", l.Change)
	if x.told(l, res, err) != nil {
		x.t.Error(err)
	}
	return l.row
}

// writeVersion makes a write that reaches the base table alone.
func (x *random) writeVersion(c tables.Change, row item) {
	l := &logged{Change: c, row: row}
	x.log = append(x.log, l)
	res, err := x.w.With(writer.Timeout(3*time.Second)).Write(x.t.Context(), "plant", c)
	if x.told(l, res, err) == nil {
		x.t.Errorf("%v: no table was lost", c)
	}
}

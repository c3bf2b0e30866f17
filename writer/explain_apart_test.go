package writer

import (
	"slices"
	"testing"

	"github.com/denorm-go/denorm/tables"
)

// Tables that could share requests but for one thing in their declaration are named with it, and no others: not those that share one, and not
// those of which only a query could tell.
func TestExplainApart(t *testing.T) {
	t.Parallel()
	type reading struct {
		Room, Sensor, ID string
		Bucket, Shard    int32
		Wide             int64
	}
	r := reading{Room: "r", Sensor: "s", ID: "2"}
	table := func(name, keyspace string, sortKey []string, partKey ...string) tables.Table {
		return tables.Table{Name: name, Keyspace: keyspace, PartKey: partKey, SortKey: sortKey}
	}
	id, sensor := []string{"id"}, []string{"sensor", "id"}
	for name, test := range map[string]struct {
		declared []tables.Option
		want     []string
	}{
		"another keyspace": {
			[]tables.Option{table("a", "shop", id, "room"), table("b", "depot", sensor, "room")},
			[]string{"a and b have partitions of their own: their partition keys are the same, their keyspaces are not (shop and depot)"},
		},
		"another order": {
			[]tables.Option{table("a", "shop", id, "room", "sensor"), table("b", "shop", id, "sensor", "room")},
			[]string{"a and b have partitions of their own: their partition keys have the same columns in another order, (room, sensor) and (sensor, room)"},
		},
		"another bucket": {
			[]tables.Option{
				table("a", "shop", id, "room", "bucket"), table("b", "shop", id, "room", "shard"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("shard", tables.Hash(8, "id")),
			},
			[]string{"a and b have partitions of their own: their partition keys differ in the bucket function alone, hash(4, id) as int and hash(8, id) as int"},
		},
		"another type of bucket": {
			[]tables.Option{
				table("a", "shop", id, "room", "bucket"), table("b", "shop", id, "room", "wide"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("wide", tables.Hash(4, "id")),
			},
			[]string{"a and b have partitions of their own: their partition keys differ in the bucket function alone, hash(4, id) as int and hash(4, id) as bigint"},
		},
		"a bucket of something else": {
			[]tables.Option{
				table("a", "shop", sensor, "room", "bucket"), table("b", "shop", sensor, "room", "shard"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("shard", tables.Hash(4, "sensor")),
			}, nil,
		},
		"a bucket under another name": {
			[]tables.Option{
				table("a", "shop", id, "room", "bucket"), table("b", "shop", id, "room", "shard"), table("c", "shop", []string{"room"}, "id"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("shard", tables.Hash(4, "id")),
			}, nil,
		},
		"two things": {
			[]tables.Option{table("a", "shop", id, "room", "sensor"), table("b", "depot", id, "sensor", "room")}, nil,
		},
		"other columns": {
			[]tables.Option{table("a", "shop", id, "room"), table("b", "shop", []string{"room", "id"}, "sensor"), table("c", "shop", id, "room", "sensor")}, nil,
		},
		"one request": {
			[]tables.Option{table("a", "shop", id, "room"), table("b", "shop", sensor, "room")}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{}
			w, change := fakeWriter(x), mustSet[reading](t, "reading", test.declared...).Insert(r)
			plan, err := w.Explain("write", change)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(plan.Apart, test.want) {
				t.Errorf("%q, want %q", plan.Apart, test.want)
			}
			if _, err := w.Write(t.Context(), "write", change); err != nil {
				t.Fatal(err)
			}
			if alone := len(x.sent()) == 1; alone != (name == "one request") {
				t.Errorf("%d requests", len(x.sent()))
			}
		})
	}
}

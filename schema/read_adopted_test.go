package schema

import (
	"context"
	"testing"
)

// DESCRIBE of a live table, declared as it is, is no different from what Read tells of the table, although that does
// not tell of these options.
func TestDescribedOptionsThatReadLeavesOut(t *testing.T) {
	t.Parallel()
	rows := fakeReader{
		"keyspaces": {{"keyspace_name": "k", "replication": map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}}},
		"columns":   {{"table_name": "t", "column_name": "id", "kind": "partition_key", "position": 0, "clustering_order": "none", "type": "uuid"}},
		"tables": {{
			"table_name": "t", "extensions": map[string][]byte{"origin": {1, 2}}, "dclocal_read_repair_chance": 0.1, "read_repair_chance": 0.2,
			"speculative_retry": "99PERCENTILE", "auto_repair": map[string]string{"full_enabled": "true"}, "fast_path": "keyspace",
		}},
		"types": nil, "indexes": nil, "views": nil,
	}
	live, err := read(context.Background(), withoutModes{rows}, []string{"k"})
	if err != nil {
		t.Fatal(err)
	}
	declared, err := Declare(CQL(`CREATE TABLE k.t (id uuid PRIMARY KEY) WITH extensions = {'origin': 0x0102} AND dclocal_read_repair_chance = 0.1
    AND read_repair_chance = 0.2 AND speculative_retry = '99PERCENTILE' AND auto_repair = {'full_enabled': 'true'} AND fast_path = 'keyspace'`))
	if err != nil {
		t.Fatal(err)
	}
	if found := Compare(declared, live); len(found) > 0 {
		t.Error(found)
	}
}

// withoutModes has nothing to tell of transactional_mode.
type withoutModes struct{ fakeReader }

func (w withoutModes) rows(ctx context.Context, statement string, values ...any) ([]map[string]any, error) {
	if statement == "DESCRIBE KEYSPACE k" {
		return nil, nil
	}
	return w.fakeReader.rows(ctx, statement, values...)
}

// The targets of a custom index of several columns are in one text.
func TestLiveIndexOfSeveralColumns(t *testing.T) {
	t.Parallel()
	rows := liveRows()
	rows["indexes"][0]["options"] = map[string]string{"class_name": "x.Y", "target": `total,values("B,c")`}
	live, err := read(context.Background(), rows, []string{"shop"})
	if err != nil {
		t.Fatal(err)
	}
	if i := live.Indexes[0]; i.Target != `total, values("B,c")` || i.Column() != "" {
		t.Errorf("%+v", i)
	}
}

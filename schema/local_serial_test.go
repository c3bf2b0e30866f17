package schema

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type seat struct {
	SeatID  string
	Holder  string
	Version gocql.UUID
}

// Conditions that hold within one datacentre need one: without session.LocalDC they are an error where the keyspace has
// two, and with it a note.
func TestLocalSerialInSeveralDatacentres(t *testing.T) {
	t.Parallel()
	declare := func(options ...tables.Option) *Schema {
		options = append(options, tables.Table{Keyspace: "shop", Name: "seats", PartKey: []string{"seat_id"}}, tables.Versioned("version"))
		return Must(Declare(Sets(tables.Must(tables.New[seat]("seat", options...)))))
	}
	const network, simple = "org.apache.cassandra.locator.NetworkTopologyStrategy", "org.apache.cassandra.locator.SimpleStrategy"
	two := map[string]string{"class": network, "dc2": "3", "dc1": "3"}
	local := declare(tables.LocalSerial())
	for name, test := range map[string]struct {
		set         *Schema
		replication map[string]string
		local       string
		want        string
		breaks      bool
	}{
		"no LocalDC":           {local, two, "", "LocalSerial without session.LocalDC, and replicas in dc1, dc2", true},
		"LocalDC":              {local, two, "dc1", "LocalSerial, and replicas in dc1, dc2: if two datacentres write one entity, updates are lost", false},
		"one datacentre":       {local, map[string]string{"class": network, "dc1": "3", "dc2": "0"}, "", "", false},
		"datacentres unknown":  {local, map[string]string{"class": simple, "replication_factor": "3"}, "", "", false},
		"keyspace is not read": {local, nil, "", "", false},
		"SERIAL":               {declare(), two, "", "", false},
	} {
		c := &comparison{declared: test.set, live: &Schema{Keyspaces: []Keyspace{{Name: "shop", Replication: test.replication}}}}
		c.localSerial(test.local)
		if (len(c.found) == 1) != (test.want != "") || (len(Breaking(c.found)) == 1) != test.breaks {
			t.Fatalf("%s: %v", name, c.found)
		}
		if test.want != "" && !strings.HasPrefix(c.found[0].String(), "shop.seats: "+test.want) {
			t.Errorf("%s: %v", name, c.found[0])
		}
	}
}

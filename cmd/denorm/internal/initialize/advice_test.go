package initialize_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cmd/denorm/internal/initialize"
)

// What is advised of tables and statements can be followed, and loses nothing.
func TestAdvice(t *testing.T) {
	t.Parallel()
	const devices = `CREATE TABLE k.devices (tenant_id uuid, device_id uuid, model text, firmware text, serial text, PRIMARY KEY (tenant_id, device_id));
		CREATE TABLE k.devices_by_model (model text, device_id uuid, tenant_id uuid, firmware text, PRIMARY KEY (model, device_id));`
	const members = `CREATE TABLE k.members (group_id bigint, user_id bigint, role text, PRIMARY KEY (group_id, user_id));
		CREATE TABLE k.groups_by_member (user_id bigint, group_id bigint, role text, PRIMARY KEY (user_id, group_id));`
	for _, test := range []struct {
		what, cql     string
		has, hasNever []string
	}{
		{
			"a lookup table beside an ID", devices + "CREATE TABLE k.devices_by_serial (serial text PRIMARY KEY, tenant_id uuid, device_id uuid);",
			[]string{"entity device (a guess)", `tables.ID("device_id")`, "k.devices_by_serial (:2): its key lacks device_id,"},
			[]string{"drop it", "k.devices_by_model ("},
		},
		{
			"a lookup table of each tenant", devices + "CREATE TABLE k.devices_by_serial (serial text, tenant_id uuid, device_id uuid, PRIMARY KEY (tenant_id, serial));",
			[]string{`tables.ID("device_id")`, "k.devices_by_serial (:2): its key lacks device_id,"},
			nil,
		},
		{
			"a lookup table of no set", devices + `CREATE TABLE k.drivers (driver_id uuid PRIMARY KEY, name text, phone text);
			CREATE TABLE k.drivers_by_phone (phone text PRIMARY KEY, driver_id uuid, name text);`,
			[]string{"k.drivers_by_phone, column name (:3): a Unique table holds its key and driver_id alone, so it goes stale: read it from k.drivers\n"},
			[]string{"drop it", "`k.drivers_by_phone`, column"},
		},
		{
			"statements of the session's keyspace", members + "\n" + "UPDATE members SET role = ? WHERE group_id = ? AND user_id = ?;",
			[]string{"`k.members` by `Members`: :3\n"},
			nil,
		},
	} {
		plan := initialize.New(review(t, "", test.cql), nil)
		text, err := plan.Text()
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
		}
		for _, want := range test.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", test.what, want, text)
			}
		}
		for _, never := range test.hasNever {
			if strings.Contains(text, never) {
				t.Errorf("%s: %s in\n%s", test.what, never, text)
			}
		}
	}
}

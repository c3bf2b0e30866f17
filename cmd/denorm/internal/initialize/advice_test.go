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
	const alerts = `CREATE TABLE k.alerts (day date, at timeuuid, device_id uuid, PRIMARY KEY (day, at));
		CREATE TABLE k.alerts_by_device (device_id uuid, at timeuuid, day date, PRIMARY KEY (device_id, at));
		INSERT INTO k.alerts (day, at, device_id) VALUES (?, now(), ?);`
	const pages = `CREATE TABLE k.pages (page_id uuid PRIMARY KEY, owner uuid, marks map<text, int>, tags set<text>, links list<text>);
		CREATE TABLE k.pages_by_owner (owner uuid, page_id uuid, PRIMARY KEY (owner, page_id));`
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
		{
			"an id of two calls", alerts + "INSERT INTO k.alerts_by_device (device_id, at, day) VALUES (?, now(), ?);",
			[]string{"0 entities", "k.alerts_by_device (:2): statements fill at by a function here and in k.alerts, so no two rows match: bind one value, and the table can join\n"},
			[]string{`tables.ID("at")`},
		},
		{
			"an id of two calls in a batch", `CREATE TABLE k.alerts (alert_id uuid PRIMARY KEY, device_id uuid);
			CREATE TABLE k.alerts_by_device (device_id uuid, alert_id uuid, PRIMARY KEY (device_id, alert_id));
			BEGIN BATCH INSERT INTO k.alerts (alert_id, device_id) VALUES (uuid(), ?); INSERT INTO k.alerts_by_device (device_id, alert_id) VALUES (?, uuid()); APPLY BATCH;`,
			[]string{"0 entities", "statements fill alert_id by a function here and in k.alerts"},
			nil,
		},
		{"an id of one call", alerts + "INSERT INTO k.alerts_by_device (device_id, at, day) VALUES (?, ?, ?);", []string{`tables.ID("at")`}, nil},
		{
			"a column of another type", strings.Replace(pages, "page_id uuid, PRIMARY", "page_id uuid, tags frozen<set<text>>, PRIMARY", 1),
			[]string{"-- k.pages_by_owner, column tags: in the base table it has another type, so no write fills it here: read it from there.\n\n"},
			[]string{"No statement fixes it: .", "name it there"},
		},
		{
			"a key that is called id", `CREATE TABLE k.cars (id uuid PRIMARY KEY, owner text);
			CREATE TABLE k.cars_by_owner (owner text, id uuid, PRIMARY KEY (owner, id));`,
			[]string{"the key of cars (id)"},
			[]string{"the key of cars (car_id)"},
		},
		{
			"more than one fish", `CREATE TABLE k.fishes (fish_id uuid PRIMARY KEY, pond text);
			CREATE TABLE k.fishes_by_pond (pond text, fish_id uuid, PRIMARY KEY (pond, fish_id));`,
			[]string{"entity fish (a guess)", "`Fishes`"},
			[]string{"Fishs"},
		},
		{
			"keys of many values", `CREATE TABLE k.logins (login_id uuid PRIMARY KEY, author_id bigint, tag_id text, "at" int, paid boolean, size tinyint);
			CREATE TABLE k.logins_by_all (author_id bigint, tag_id text, "at" int, paid boolean, size tinyint, login_id uuid, PRIMARY KEY (author_id, tag_id, "at", paid, size, login_id));`,
			[]string{`tables.OneOf("paid", ...)`, `tables.OneOf("size", ...)`},
			[]string{`tables.OneOf("author_id"`, `tables.OneOf("tag_id"`, `tables.OneOf("at"`},
		},
		{
			"names in capitals", `CREATE TABLE k."Users" ("UserId" uuid PRIMARY KEY, "Type" text);
			CREATE TABLE k."UsersByType" ("Type" text, "UserId" uuid, PRIMARY KEY ("Type", "UserId"));`,
			[]string{`k."Users" (:1): its name needs quotes`, `k."UsersByType" (:2): its name needs quotes`},
			[]string{"no other table"},
		},
		{
			"single elements", pages + `
			UPDATE k.pages SET marks[?] = ? WHERE page_id = ?;
			UPDATE k.pages SET tags = tags + ? WHERE page_id = ?;
			DELETE marks[?] FROM k.pages WHERE page_id = ?;
			UPDATE k.pages SET marks = ? WHERE page_id = ?;
			UPDATE k.pages SET links[?] = ? WHERE page_id = ?;
			UPDATE k.pages SET tags = tags + ?, owner = ? WHERE page_id = ?;
			UPDATE k.pages SET marks[?] = ? WHERE page_id = ? IF EXISTS;`,
			[]string{
				"- [ ] `k.pages` by `Pages`: :6, :8, :9\n", "- [ ] `k.pages` keeps statements that set only what is not declared, or ReadOnly: :7\n",
				"- [ ] `k.pages` by `Pages.Patch`, which writes single elements, if no key column can change: :3, :4, :5\n",
			},
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

package guess_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// Tables of one name before _by_ are of one entity, with the table of that name alone, in one keyspace; declared ones
// are left out.
func TestNames(t *testing.T) {
	t.Parallel()
	s := &schema.Schema{Entities: []schema.Entity{{Name: "user", Tables: []schema.ID{{Name: "users_by_email"}}}}}
	for _, name := range []string{"orders_by_user", "logs", "orders", "users_by_email", "orders_by_id", "boxes_by_id", "boxes_by_shelf", "news_by_day"} {
		s.Tables = append(s.Tables, schema.Table{ID: schema.ID{Name: name}})
	}
	s.Tables = append(s.Tables, schema.Table{ID: schema.ID{Keyspace: "other", Name: "orders_by_day"}})
	const want = `order [orders_by_user orders orders_by_id] 1
box [boxes_by_id boxes_by_shelf] 0
new [news_by_day] -1
order [other.orders_by_day] -1
`
	if got := entities(s); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func entities(s *schema.Schema) (text string) {
	for _, e := range guess.Entities(s) {
		text += fmt.Sprintf("%s %v %d\n", e.Name, e.Tables, e.Base)
	}
	return text
}

// Each table has its reason, in any order: tables of a cluster come in the order of their names.
func TestReasons(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse("", `CREATE TABLE stays_by_guest (guest_id uuid, day date, stay_id uuid, PRIMARY KEY (guest_id, day, stay_id));
		CREATE TABLE stays_by_house (house_id uuid, day date, stay_id uuid, guest_id uuid, PRIMARY KEY (house_id, day, stay_id));
		CREATE TABLE stays_by_id (stay_id uuid PRIMARY KEY, guest_id uuid, house_id uuid, day date);`)
	if err != nil {
		t.Fatal(err)
	}
	got := guess.Entities(s)
	if len(got) != 1 || got[0].Base != 2 || got[0].Why[0] != "its key has the key of stays_by_id (stay_id)" {
		t.Errorf("%+v", got)
	}
}

// A reason names the base table, also where most tables have the key of another one.
func TestReasonsNameTheBase(t *testing.T) {
	t.Parallel()
	s, err := schema.Parse("", `CREATE TABLE orders_by_number (number int PRIMARY KEY, order_id uuid, shop_id uuid);
		CREATE TABLE orders_by_id (order_id uuid PRIMARY KEY, number int, user_id uuid);
		CREATE TABLE orders_by_user (user_id uuid, order_id uuid, PRIMARY KEY (user_id, order_id));
		CREATE TABLE orders (shop_id uuid PRIMARY KEY, number int);`)
	if err != nil {
		t.Fatal(err)
	}
	got := guess.Entities(s)
	if len(got) != 1 || got[0].Base != 3 || got[0].Why[0] != "it leads from number to the key of orders (shop_id)" {
		t.Errorf("%+v", got)
	}
}

// Columns add tables of other names, and take away those that hold something else.
func TestColumns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ what, cql, want string }{
		{
			"a copy", `videos (video_id uuid PRIMARY KEY, user_id uuid, name text)
			user_videos (user_id uuid, video_id uuid, name text, PRIMARY KEY (user_id, video_id))
			latest_videos (yyyymmdd text, video_id uuid, user_id uuid, PRIMARY KEY (yyyymmdd, video_id))`,
			"video [videos user_videos latest_videos] 0\n",
		},
		{"a guard of uniqueness", `accounts (account_id uuid PRIMARY KEY, email text)
			emails (email text PRIMARY KEY, account_id uuid)`, "account [accounts emails] 0\n"},
		{"something of the thing", `posts (post_id uuid PRIMARY KEY, user_id uuid, created_at timestamp)
			post_likes (post_id uuid, user_id uuid, created_at timestamp, PRIMARY KEY (post_id, user_id))`, ""},
		{"several rows for one", `users (user_id uuid PRIMARY KEY, name text)
			users_by_name (name text, user_id uuid, PRIMARY KEY (name, user_id))
			users_by_group (group_id uuid, user_id uuid, PRIMARY KEY (group_id, user_id))`, "user [users users_by_name] 0\nuser [users_by_group] 0\n"},
		{"counters", `visits (visit_id uuid PRIMARY KEY, page text)
			visits_by_page (page text PRIMARY KEY, n counter)`, "visit [visits] 0\nvisit [visits_by_page] 0\n"},
		{"sums of several lengths", `sales_by_day (shop_id uuid, day date, sum int, PRIMARY KEY (shop_id, day))
			sales_by_month (shop_id uuid, month date, sum int, PRIMARY KEY (shop_id, month))`, "sale [sales_by_day] 0\nsale [sales_by_month] 0\n"},
		{"a relation both ways", `group_members (group_id uuid, user_id uuid, joined date, PRIMARY KEY (group_id, user_id))
			user_groups (user_id uuid, group_id uuid, joined date, PRIMARY KEY (user_id, group_id))`, "group_member [group_members user_groups] 0\n"},
		{"an id of another name", `bids (id uuid PRIMARY KEY, lot_id uuid)
			bids_by_lot (lot_id uuid, bid_id uuid, PRIMARY KEY (lot_id, bid_id))`, "bid [bids bids_by_lot] 0\n"},
		{"the same key", `tests (owner text, name text, size int, PRIMARY KEY (owner, name))
			deleted_tests (owner text, name text, size int, PRIMARY KEY (owner, name))`, ""},
		{
			"members of a group", `products (product_id uuid PRIMARY KEY, name text)
			products_by_user (user_id uuid, added timeuuid, product_id uuid, PRIMARY KEY (user_id, added))`,
			"product [products] 0\nproduct [products_by_user] 0\n",
		},
		{"the last of several", `orders (order_id uuid PRIMARY KEY, customer_id uuid, status text)
			customer_order (customer_id uuid PRIMARY KEY, order_id uuid)`, ""},
		{"the same columns", `inhotel (hotel text, guest text, room int, cost int, PRIMARY KEY (hotel, room))
			byguest (guest text, hotel text, room int, cost int, PRIMARY KEY (guest, room))`, "inhotel [inhotel byguest] 0\n"},
		{
			"a base table with the longer key", `messages (channel_id uuid, bucket int, message_id timeuuid, author_id uuid, content text, links list<text>, PRIMARY KEY ((channel_id, bucket), message_id))
			messages_by_author (author_id uuid, message_id timeuuid, channel_id uuid, bucket int, content text, PRIMARY KEY (author_id, message_id))`,
			"message [messages messages_by_author] 0\n",
		},
		{
			"a version of a table", `open_runs (shard int, started timestamp, run_id uuid, kind text, PRIMARY KEY (shard, started, run_id))
			closed_runs (shard int, started timestamp, run_id uuid, kind text, closed timestamp, PRIMARY KEY (shard, started, run_id))
			closed_runs_v2 (shard int, started timestamp, run_id uuid, kind text, closed timestamp, PRIMARY KEY (shard, closed, run_id))`,
			"closed_run [closed_runs closed_runs_v2] 0\n",
		},
		{"a version with the same key", `runs (run_id uuid PRIMARY KEY, kind text, closed timestamp)
			runs_v2 (run_id uuid PRIMARY KEY, kind text, closed timestamp)`, ""},
		{"no key in all keys", `open_runs (queue text, opened timestamp, run_id uuid, kind text, PRIMARY KEY (queue, opened, run_id))
			runs_by_kind (kind text, opened timestamp, run_id uuid, queue text, PRIMARY KEY (kind, opened, run_id))`, "open_run [open_runs runs_by_kind] 0\n"},
	} {
		var text string
		for line := range strings.Lines(test.cql) {
			if name, _, ok := strings.Cut(strings.TrimSpace(line), " ("); ok && !strings.HasPrefix(name, "PRIMARY") {
				text += "CREATE TABLE " + strings.TrimSpace(line) + ";\n"
			}
		}
		s, err := schema.Parse("", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := entities(s); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", test.what, got, test.want)
		}
	}
}

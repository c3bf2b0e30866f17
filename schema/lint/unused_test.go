package lint_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// Statements that name few of the tables are all that the service sends, if there are many.
func TestUnusedAmongMany(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE a (id uuid PRIMARY KEY, v int); CREATE TABLE b (id uuid PRIMARY KEY, v int);
CREATE TABLE c (id uuid PRIMARY KEY, v int); CREATE TABLE d (id uuid PRIMARY KEY, v int); CREATE TABLE e (id uuid PRIMARY KEY, v int);
CREATE TABLE f (id uuid PRIMARY KEY, v int); CREATE TABLE g (id uuid PRIMARY KEY, v int); CREATE TABLE h (id uuid PRIMARY KEY, v int);
SELECT v FROM b WHERE id = ?; SELECT v FROM c WHERE id = ?;
`
	for n, want := range map[int]int{3: 0, 8: 5} {
		s, err := schema.Parse("test", tables+strings.Repeat("SELECT v FROM a WHERE id = ?;\n", n))
		if err != nil {
			t.Fatal(err)
		}
		unused := 0
		for _, f := range lint.Check(s) {
			if f.Code == "DN616" && f.Reason == "no statement uses the table" {
				unused++
			}
		}
		if unused != want {
			t.Errorf("%d statements: %d tables are unused, want %d", n+2, unused, want)
		}
	}
}

// Statements that read and write two tables of four are all of a small service. Statements of one table are not.
func TestUnusedInSmallServices(t *testing.T) {
	t.Parallel()
	const tables = `CREATE TABLE shops (shop_id uuid PRIMARY KEY, town text); CREATE TABLE carts (cart_id uuid PRIMARY KEY, town text) WITH default_time_to_live = 60;
		CREATE TABLE coupons (coupon_id uuid PRIMARY KEY, worth decimal); CREATE TABLE prizes (prize_id uuid PRIMARY KEY, worth decimal);
		INSERT INTO shops (shop_id, town) VALUES (?, ?); SELECT town FROM shops WHERE shop_id = ?; INSERT INTO carts (cart_id, town) VALUES (?, ?);`
	for text, want := range map[string]int{tables: 0, tables + "SELECT town FROM carts WHERE cart_id = ?;": 2} {
		s, err := schema.Review(schema.Source{File: "f", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		found := lint.Check(s)
		for _, f := range found {
			if f.Code != "DN616" || f.Reason != "no statement uses the table" {
				t.Errorf("%v", f)
			}
		}
		if len(found) != want {
			t.Errorf("%d findings, want %d", len(found), want)
		}
	}
}

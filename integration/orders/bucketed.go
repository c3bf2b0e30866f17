package orders

import (
	"hash/fnv"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
)

// Buckets is over how many partitions each status is spread. It cannot be changed while there are rows.
const Buckets = 8

// BucketedOrder is an Order for a shop with so many that one partition a status grows too large and too hot: each
// status is spread over Buckets partitions.
type BucketedOrder struct {
	Order
	StatusBucket int8
}

// NewBucketed gives the order its bucket, which follows from its id, so that every later change finds the row.
func NewBucketed(o Order) BucketedOrder {
	return BucketedOrder{Order: o, StatusBucket: BucketOf(o.OrderID)}
}

// BucketOf is the bucket of an order.
func BucketOf(id gocql.UUID) int8 {
	h := fnv.New32a()
	_, _ = h.Write(id[:]) // never fails
	return int8(h.Sum32() % Buckets)
}

// Bucketed is Orders with the status table in buckets. To list a status, read all of its buckets at once and merge.
var Bucketed = tables.Must(tables.New[BucketedOrder]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
	tables.Table{Name: "orders_by_status", PartKey: []string{"status", "status_bucket"}, SortKey: []string{"order_id DESC"}},
	tables.OneOf("status", Statuses...),
	tables.Stamp("updated_at"),
	tables.Type("order_id", "timeuuid"),
))

// BucketedSchema creates the tables of Bucketed in the keyspace of the session.
var BucketedSchema = []string{
	`CREATE TABLE IF NOT EXISTS orders_by_id (
		order_id timeuuid, user_id uuid, status text, total decimal, updated_at bigint, status_bucket tinyint,
		PRIMARY KEY (order_id))`,
	`CREATE TABLE IF NOT EXISTS orders_by_user (
		user_id uuid, order_id timeuuid, status text, total decimal, updated_at bigint, status_bucket tinyint,
		PRIMARY KEY (user_id, order_id)) WITH CLUSTERING ORDER BY (order_id DESC)`,
	`CREATE TABLE IF NOT EXISTS orders_by_status (
		status text, status_bucket tinyint, order_id timeuuid, user_id uuid, total decimal, updated_at bigint,
		PRIMARY KEY ((status, status_bucket), order_id)) WITH CLUSTERING ORDER BY (order_id DESC)`,
}

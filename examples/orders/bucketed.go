package orders

import (
	"context"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Buckets is over how many partitions each status is spread.
const Buckets = 8

// Bucketed is Orders for a shop with so many that one partition a status grows too large and too hot: alongside the
// status the partition key has a bucket, which follows from the id of the order, so that every later change finds the
// row.
var Bucketed = tables.Must(tables.New[Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
	tables.Table{Name: "orders_by_status", PartKey: []string{"status", "status_bucket"}, SortKey: []string{"order_id DESC"}},
	tables.Derive("status_bucket", tables.Hash(Buckets, "order_id")),
	tables.OneOf("status", Statuses...),
	tables.Stamp("updated_at"),
	tables.Type("order_id", "timeuuid"),
))

// BucketedSchema is the tables of Bucketed.
var BucketedSchema = schema.Must(schema.Declare(schema.Sets(Bucketed)))

// BucketedByStatus lists the newest orders in a status, of all buckets at once, and gives a token for the page after
// them. An empty token stands for the first page, and for none after the last.
func BucketedByStatus(ctx context.Context, r *reader.Reader, status Status, limit int, token reader.Token) ([]Order, reader.Token, error) {
	q := reader.From(Bucketed, "orders_by_status").Eq("status", status).Limit(limit).After(token)
	return reader.List(ctx, r, "ordersByStatus", q)
}

// Package tenants is an example: one service, many tenants, and none sees what is another's. It shows two ways. With
// the tenant in the partition key all share the tables. With a keyspace for each, a tenant can be replicated, backed
// up, limited and dropped by itself; Cassandra bears some hundreds of tables, so that is for dozens of tenants, not for
// thousands.
package tenants

import (
	"context"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// State of an item.
type State string

// The states.
const (
	Draft     State = "draft"
	Published State = "published"
)

// Item is something that a tenant keeps.
type Item struct {
	TenantID  string
	EntityID  gocql.UUID // unique within the tenant
	State     State
	Title     string
	UpdatedAt int64 // stamp, microseconds; filled by the library
}

// Shared has the tenant in every partition key. It is part of the base key, so no change can give an item to another
// tenant, and what a change sweeps is within the tenant; and every query names it.
var Shared = tables.Must(tables.New[Item]("shared_item",
	tables.Table{Name: "items_by_id", PartKey: []string{"tenant_id", "entity_id"}},
	tables.Table{Name: "items_by_state", PartKey: []string{"tenant_id", "state"}, SortKey: []string{"entity_id"}},
	tables.OneOf("state", Draft, Published),
	tables.Stamp("updated_at"),
))

// SharedSchema is the tables of Shared.
var SharedSchema = schema.Must(schema.Declare(schema.Sets(Shared)))

// InState gives the first items of a tenant in a state.
func InState(ctx context.Context, r *reader.Reader, tenant string, state State, count int) ([]Item, error) {
	q := reader.From(Shared, "items_by_state").Eq("tenant_id", tenant).Eq("state", state).Limit(count)
	items, _, err := reader.List(ctx, r, "itemsInState", q)
	return items, err
}

// Own is for a keyspace a tenant: the same tables in each, and no tenant in the key. Tenant is the logical name of the
// keyspace; with StrictKeyspaces, what nobody has mapped to a tenant is rejected.
var Own = tables.Must(tables.New[OwnItem]("own_item",
	tables.Table{Name: "items_by_id", Keyspace: Tenant, PartKey: []string{"entity_id"}},
	tables.Table{Name: "items_by_state", Keyspace: Tenant, PartKey: []string{"state"}, SortKey: []string{"entity_id"}},
	tables.OneOf("state", Draft, Published),
	tables.Stamp("updated_at"),
))

// Tenant is the logical keyspace of Own.
const Tenant = "tenant"

// OwnItem is an Item in its tenant's keyspace.
type OwnItem struct {
	EntityID  gocql.UUID
	State     State
	Title     string
	UpdatedAt int64 // stamp, microseconds; filled by the library
}

// OwnSchema is the tables of Own. OwnSchema.In(map[string]string{Tenant: keyspace}) is those of one tenant.
var OwnSchema = schema.Must(schema.Declare(schema.Sets(Own)))

// Directory gives each tenant a writer and a reader of its own. They share sessions, clock, retry budget and what is
// known of the cluster, so a tenant costs a few hundred bytes. It is safe for concurrent use.
type Directory struct {
	writers map[string]*writer.Writer
	readers map[string]*reader.Reader
}

// NewDirectory makes one for the keyspaces of all tenants, by tenant. w and r are made of s, which has StrictKeyspaces
// and no keyspace of its own, so that nothing can be written or read by mistake where no tenant was chosen.
func NewDirectory(s *session.Session, w *writer.Writer, r *reader.Reader, keyspaces map[string]string) *Directory {
	d := &Directory{writers: make(map[string]*writer.Writer), readers: make(map[string]*reader.Reader)}
	for tenant, keyspace := range keyspaces {
		of := s.With(session.Keyspaces(map[string]string{Tenant: keyspace}))
		d.writers[tenant], d.readers[tenant] = w.With(writer.Session(of)), r.With(reader.Session(of))
	}
	return d
}

// Of gives those of a tenant. What a client sends as its tenant's name is only looked up here: it never becomes part of
// CQL.
func (d *Directory) Of(tenant string) (*writer.Writer, *reader.Reader, error) {
	w, ok := d.writers[tenant]
	if !ok {
		return nil, nil, fmt.Errorf("tenants: no tenant %q", tenant)
	}
	return w, d.readers[tenant], nil
}

// OwnInState gives the first items in a state of the tenant whose reader it is.
func OwnInState(ctx context.Context, r *reader.Reader, state State, count int) ([]OwnItem, error) {
	items, _, err := reader.List(ctx, r, "itemsInState", reader.From(Own, "items_by_state").Eq("state", state).Limit(count))
	return items, err
}

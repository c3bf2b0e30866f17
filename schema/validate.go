package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/dialect"
	rotated "github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/session"
)

// readTimeout limits a call that reads and whose context has no deadline.
const readTimeout = 30 * time.Second

// Differences compares what is declared, a [Schema] or the arguments of [Declare], with the live tables of a session.
// It returns what [Validate] would fail with, and the differences with Extra or Note, which a service logs at its
// start. Tables are in the keyspaces to which session.Keyspaces of the session maps them, or else in the session's own.
// Of a table that rotates, all tables that exist are compared, and the one of the present period must exist. It ends
// with ctx, or after 30 s if ctx has no deadline.
//
// For a server that is not Apache Cassandra there is a Note with [Difference.Server]: see docs/ref/servers.md.
func Differences(ctx context.Context, s *session.Session, declared ...Declaration) ([]Difference, error) {
	all, err := whole(declared)
	if err != nil {
		return nil, err
	}
	if err := missing(ctx, s, all); err != nil {
		return nil, err
	}
	ctx, cancel := limited(ctx, readTimeout)
	defer cancel()
	if all, err = physical(s, all); err != nil {
		return nil, err
	}
	found, live, err := differences(ctx, s, all)
	if err != nil {
		return nil, err
	}
	return append(found, sampled(ctx, s, all, live, found)...), nil
}

// whole is what is declared as one schema.
func whole(declared []Declaration) (*Schema, error) {
	if len(declared) == 1 {
		if s, ok := declared[0].(*Schema); ok {
			return s, nil
		}
	}
	return Declare(declared...)
}

// differences is Differences of what is in the keyspaces of the session already, without rows. It gives the live
// schema, too.
func differences(ctx context.Context, s *session.Session, declared *Schema) (found []Difference, live *Schema, err error) {
	var server dialect.Server
	local, err := newReader(s).rows(ctx, `SELECT * FROM system.local WHERE key = 'local'`)
	if len(local) > 0 {
		server = dialect.Of(local[0])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("schema: ask which server it is: %w", err)
	}
	live, err = Read(ctx, s, declared.names()...)
	if err != nil && server != "" {
		return nil, nil, fmt.Errorf("schema: the server is %s, on which nothing of this library was tested (docs/ref/servers.md): %w", server, err)
	}
	if err != nil {
		return nil, nil, err
	}
	rejected, err := guarded(ctx, newReader(s), declared)
	if err != nil {
		return nil, nil, fmt.Errorf("schema: read the guardrails of a node: %w", err)
	}
	c := compared(server, declared, live)
	c.noPresent()
	c.localSerial(s.Settings().LocalDC)
	c.onServer()
	return append(c.found, rejected...), live, nil
}

// noPresent adds the tables of the present period that do not exist, of those that rotate.
func (c *comparison) noPresent() {
	present := c.declared.present(time.Now())
	for i := range present.Tables {
		t := &present.Tables[i]
		if c.declared.Tables[i].rotation != nil && c.live.Table(t.ID) == nil && slices.Contains(c.live.names(), t.Keyspace) {
			c.add(t.ID, Difference{absent: true, Reason: "does not exist" + rotated.Advice, Fix: "CREATE TABLE " + t.body()})
		}
	}
}

// onServer notes that the server is not Apache Cassandra, at the first table of the first set.
func (c *comparison) onServer() {
	for i := range c.declared.Entities {
		if e := &c.declared.Entities[i]; c.server != "" && e.set != nil {
			c.add(e.Tables[0], Difference{
				Server: string(c.server), Note: true, Reason: "the server is " + string(c.server) + ": nothing of this library was tested on it",
				Impossible: "test what you rely on, see docs/ref/servers.md",
			})
			return
		}
	}
}

// localSerial adds the sets with LocalSerial whose conditions would not hold, or may not, as their keyspace has
// replicas in several datacentres. local is the datacentre of the session.
func (c *comparison) localSerial(local string) {
	for i := range c.declared.Entities {
		all := c.declared.tablesOf(&c.declared.Entities[i])
		if len(all) == 0 || !all[0].set.Internal().LocalSerial {
			continue
		}
		var places []string
		if k := c.live.Keyspace(all[0].id.Keyspace); k != nil {
			places = catalog.Datacentres(k.Replication)
		}
		switch {
		case len(places) < 2:
		case local == "":
			c.add(all[0].id, Difference{
				Reason: fmt.Sprintf("LocalSerial without session.LocalDC, and replicas in %s: conditions would hold in the datacentre of whichever "+
					"node takes the request", strings.Join(places, ", ")),
				Impossible: "give session.LocalDC, or leave LocalSerial out of the declaration",
			})
		default:
			c.add(all[0].id, Difference{
				Reason: fmt.Sprintf("LocalSerial, and replicas in %s: if two datacentres write one entity, updates are lost, a unique key gets two "+
					"owners, and a row may block", strings.Join(places, ", ")),
				Note: true, Impossible: "write each entity in one datacentre, or leave LocalSerial out of the declaration",
			})
		}
	}
}

// Validate compares what is declared, a [Schema] or the arguments of [Declare], with the live tables of a session, for
// the start of a service. Nothing is changed:
//
//	err := schema.Validate(ctx, s, schema.Sets(Orders, Users))
//
// Its error, a [*DifferenceError], names all differences that hurt something declared. Give all sets to one Validate:
// sets that declare the same table are compared with each other, too. It also compares fingerprints, which say what all
// processes must declare alike, and reads at most 100 rows of the base table of each set. The package documentation
// lists what is compared, and what happens during a rolling deployment.
//
// [Differences] also returns those with Extra or Note. Validate ends with ctx, or after 30 s if ctx has no deadline.
func Validate(ctx context.Context, s *session.Session, declared ...Declaration) error {
	return breaking(Differences(ctx, s, declared...))
}

// breaking is the error of those differences that hurt something declared.
func breaking(found []Difference, err error) error {
	if err != nil {
		return err
	}
	if breaking := Breaking(found); len(breaking) > 0 {
		return &DifferenceError{breaking}
	}
	return nil
}

func limited(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// missing says which argument of a call is nil.
func missing(ctx context.Context, s *session.Session, declared *Schema) error {
	switch {
	case ctx == nil:
		return errors.New("schema: the context is nil: pass the caller's, or context.Background()")
	case s == nil || s.Reads() == nil:
		return errors.New("schema: the session is nil or a zero value: session.Open makes one")
	case declared == nil:
		return errors.New("schema: the schema is nil")
	}
	return nil
}

// physical puts what is declared into the keyspaces of the session: those that it maps them to, and its own where none
// is declared.
func physical(s *session.Session, declared *Schema) (*Schema, error) {
	names := declared.names()
	if len(names) == 0 {
		return nil, errors.New("schema: no table is declared: pass schema.Declare your sets by schema.Sets")
	}
	settings, own, in := s.Settings(), s.Reads().Query("").Keyspace(), make(map[string]string)
	if settings.Err != nil {
		return nil, fmt.Errorf("schema: %w", settings.Err)
	}
	if err := stray(settings.Keyspaces, slices.DeleteFunc(slices.Clone(names), settings.Owns)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	for _, name := range names {
		physical, err := settings.Physical(name, own)
		switch {
		case err != nil && !settings.Owns(name): // else it is mapped already, by In
			return nil, fmt.Errorf("schema: what is declared in %q has no keyspace: %w", name, err)
		case err == nil && physical == "":
			return nil, errors.New("schema: tables without a keyspace, and a session without one: give one in ClusterConfig or session.Keyspaces")
		case err == nil:
			in[name] = physical
		}
	}
	return declared.In(in), nil
}

// stray rejects a map of keyspaces that names one in which nothing is declared, while something is declared in one that
// it does not name: a name is misspelt, or the empty one is missing.
func stray(keyspaces map[string]string, declared []string) error {
	slices.Sort(declared)
	declared = slices.Compact(declared)
	unmapped := slices.ContainsFunc(declared, func(name string) bool {
		_, ok := keyspaces[name]
		return !ok
	})
	for _, from := range slices.Sorted(maps.Keys(keyspaces)) {
		if unmapped && !slices.Contains(declared, from) {
			return fmt.Errorf("session.Keyspaces maps %q, and tables are declared in %q: name one of these, or declare all sets in one schema", from, declared)
		}
	}
	return nil
}

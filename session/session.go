package session

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Session holds two sessions of gocql, one for writes and one for reads, and the keyspaces that writers and readers
// use. [Open] or [New] makes it, for writer.New and reader.New. It is safe for concurrent use.
type Session struct {
	config        config
	writes, reads *gocql.Session
	opened        bool // by Open, so that Close ends them
}

// Format prints one text, so that fmt cannot show the password.
func (Session) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "denorm session") }

// Option is an argument of [Open], [New] and [Session.With].
type Option func(*config)

type config struct {
	settings.Shared
	traced  bool // by an option of the call at hand
	adjust  []func(*gocql.ClusterConfig)
	opening bool // the options are those of Open
}

func (c *config) fail(format string, args ...any) {
	c.Err = errors.Join(c.Err, fmt.Errorf(format, args...))
}

func (c *config) apply(options []Option) error {
	c.traced = false
	for _, o := range options {
		if o == nil {
			c.fail("an option is nil")
			continue
		}
		o(c)
	}
	return c.Err
}

// LocalDC sets the datacentre of the service, as the nodes report it: requests go to its nodes only, and fail when it
// is down. Default: all nodes are equally near. A cluster of several datacentres needs LocalDC. Otherwise LOCAL_QUORUM
// means the datacentre of the node that a request goes to, so a read may miss an acknowledged write. LocalDC is an
// option of [Open]; for your own sessions use [Configure].
func LocalDC(name string) Option {
	return func(c *config) {
		c.onlyOpen("LocalDC")
		c.LocalDC = name
	}
}

// Adjust changes the configuration of both sessions, after [Configure] has set it up and before they are opened. f is
// called once for each. Adjust is an option of [Open].
func Adjust(f func(*gocql.ClusterConfig)) Option {
	return func(c *config) {
		c.onlyOpen("Adjust")
		if f == nil {
			c.fail("Adjust: the function is nil")
			return
		}
		c.adjust = append(slices.Clip(c.adjust), f)
	}
}

func (c *config) onlyOpen(option string) {
	if !c.opening {
		c.fail("%s is an option of Open: it changes how sessions are opened, and these are open", option)
	}
}

// Budget bounds the retries of all writers and readers of the session together, so that retries do not multiply the
// requests to a struggling cluster. Default: each writer and each reader has a budget of its own, as retry.NewBudget(0,
// 0) makes it.
func Budget(b *retry.Budget) Option {
	return func(c *config) {
		c.Budget = (*settings.Budget)(b)
		if b == nil {
			c.fail("Budget: the budget is nil")
		} else if !c.Budget.Made() {
			c.fail("Budget: retry: the budget was not made by NewBudget")
		}
	}
}

// Trace makes writers and readers of the session report to t; runs of package reconcile report only to a tracer of
// tracing.New. t may also be a [RequestTracer], [RetryTracer] and [LinkTracer]; join two tracers by tracing.Multi.
// Default: nil, also as a nil pointer, which turns tracing off. The op of a call is recorded, in metrics too, so it
// must hold no value of a row. Only the policy of [SelectHosts] tells a batch's coordinator.
func Trace(t Tracer) Option {
	return func(c *config) {
		if c.traced {
			c.fail("Trace: there are two, and the second would take the place of the first: join them by tracing.Multi")
		}
		c.Tracer, c.traced = &settings.Tracer{Given: t}, true
	}
}

// Keyspaces maps the keyspaces of declared tables to others, for example to the keyspace of a tenant:
// w.With(writer.Session(s.With(session.Keyspaces(m)))). The empty name stands for tables declared without one. Names
// that are not in the map stay as they are. So with a misspelt name a tenant's rows go to the declared keyspace, or the
// session's, and only schema.Validate finds that: see [StrictKeyspaces]. The map replaces an earlier one.
func Keyspaces(physical map[string]string) Option {
	mapped := maps.Clone(physical)
	return func(c *config) {
		for _, from := range slices.Sorted(maps.Keys(mapped)) {
			if !cql.IsTable(mapped[from]) { // it goes into CQL text as it is
				c.fail("Keyspaces: %q is not a name of %s", mapped[from], cql.TableRule)
			}
		}
		c.Keyspaces = mapped
	}
}

// StrictKeyspaces makes writers and readers reject every table whose declared keyspace, the empty one included, is not
// in the map of [Keyspaces]. Versioned sets, Modify and Load need all keyspaces of a set in it. It is for services with
// a keyspace per tenant; map a shared keyspace to itself. Keys of a Unique table are unique per keyspace: for one owner
// across all tenants, declare it and its base table in the shared keyspace. Resume writes to the keyspaces in the
// error.
func StrictKeyspaces() Option { return func(c *config) { c.Strict = true } }

// Open opens both sessions to a cluster. The configuration gives hosts, credentials, keyspace and TLS; it is not
// changed. [Configure] sets the rest on a copy for each session; [Adjust] changes the copy. A HostSelectionPolicy is
// rejected, as Configure would replace it. A keyspace whose name needs quotes in CQL is rejected, too. The error names
// each host and what is wrong with it, or every option that is not valid. End the sessions with [Session.Close].
func Open(cluster *gocql.ClusterConfig, options ...Option) (*Session, error) {
	s := &Session{config: config{opening: true}, opened: true}
	if err := s.config.apply(options); err != nil {
		return nil, fmt.Errorf("denorm: session: %w", err)
	}
	s.config.opening = false
	if cluster == nil {
		return nil, errors.New("denorm: session: the configuration is nil")
	}
	given := cluster.PoolConfig.HostSelectionPolicy
	// The one that Configure sets, with nothing of the caller's in it, can be replaced.
	if p, _ := given.(*hosts.Policy); given != nil && p.Fresh() == nil {
		return nil, fmt.Errorf("denorm: session: Open would replace the HostSelectionPolicy (%T): leave it out, and "+
			"use LocalDC, or Adjust with SelectHosts", given)
	}
	var writes, reads string // datacentres
	var err error
	if s.writes, writes, err = s.connect(cluster); err != nil {
		return nil, err
	}
	if s.reads, reads, err = s.connect(cluster); err != nil {
		s.writes.Close()
		return nil, err
	}
	s.config.LocalDC = common(writes, reads)
	_ = s.roles() // no error: they are new
	return s, nil
}

// common is the datacentre that both the writes and the reads are limited to, empty if there is none.
func common(writes, reads string) string {
	if writes != reads {
		return ""
	}
	return reads
}

// connect opens a session, and says which datacentre it is limited to.
func (s *Session) connect(cluster *gocql.ClusterConfig) (*gocql.Session, string, error) {
	own := *cluster
	Configure(&own, s.config.LocalDC)
	if local, ok := own.HostFilter.(datacentre); ok && s.config.LocalDC != "" {
		local.given = "LocalDC"
		own.HostFilter = local
	}
	for _, f := range s.config.adjust {
		f(&own)
	}
	if err := usable(own.Keyspace); err != nil {
		return nil, "", err
	}
	session, err := Connect(&own)
	return session, limit(own.HostFilter), err
}

// usable says why a keyspace cannot be that of a session. Its name goes into CQL without quotes, where MyShop would be
// myshop.
func usable(keyspace string) error {
	if keyspace == "" || cql.IsTable(keyspace) {
		return nil
	}
	return fmt.Errorf("denorm: session: the keyspace of the session, %q, must be %s", keyspace, cql.TableRule)
}

// New makes a Session of two open sessions of gocql, such as those in sessions of gocqlx, configured with [Configure].
// The caller closes them. writes may be nil for a service that only reads: writer.New rejects such a Session. The error
// names every option that is not valid, or says that a session both reads and writes, here or in another Session.
func New(writes, reads *gocql.Session, options ...Option) (*Session, error) {
	s := &Session{writes: writes, reads: reads}
	if err := s.config.apply(options); err != nil {
		return nil, fmt.Errorf("denorm: session: %w", err)
	}
	if reads == nil {
		return nil, errors.New("denorm: session: the session that reads is nil: open one by session.Connect, or both by " +
			"session.Open")
	}
	for _, of := range []*gocql.Session{writes, reads} {
		if of == nil {
			continue
		}
		if err := usable(of.Query("").Keyspace()); err != nil {
			return nil, err
		}
	}
	if err := s.roles(); err != nil {
		return nil, err
	}
	s.config.LocalDC = hosts.DatacentreOf(reads)
	if writes != nil {
		s.config.LocalDC = common(hosts.DatacentreOf(writes), s.config.LocalDC)
	}
	return s, nil
}

func (s *Session) roles() error {
	if err := errors.Join(note(s.writes, true, errReads), note(s.reads, false, errWrites)); err != nil {
		return fmt.Errorf("denorm: session: %w", err)
	}
	return nil
}

// With derives a Session of the same connections with other options, for example [Keyspaces] of a tenant. It needs no
// Close. An option that is not valid is reported by the first call of a writer or reader with it.
func (s *Session) With(options ...Option) *Session {
	derived := *s
	derived.opened = false
	_ = derived.config.apply(options)
	return &derived
}

// Close ends the sessions that [Open] has opened. Requests in flight fail, and the outcome of a write among them is
// unknown: wait for calls, and for writer.Wait, first. Sessions given to [New] stay open, and Close of a Session made
// by [Session.With] does nothing. It may be called again.
func (s *Session) Close() {
	if s.opened {
		s.writes.Close()
		s.reads.Close()
	}
}

// Settings returns the options that writer.New and reader.New share. Services do not call it.
func (s *Session) Settings() settings.Shared { return s.config.Shared }

// Reads returns the session that reads, for your own queries.
func (s *Session) Reads() *gocql.Session { return s.reads }

// Writes returns the session that writes; nil without one. Do not use it for your own requests, above all reads:
// see the package documentation.
func (s *Session) Writes() *gocql.Session { return s.writes }

const other = "writes and reads need a session of gocql each (session.Open opens both), as gocql can take the rest " +
	"of a large response for " +
	"the answer to a write"

var (
	errReads  = errors.New("the session of the writes is one that reads: " + other)
	errWrites = errors.New("the session of the reads is one that writes: " + other)
)

// roles tells sessions that write from those that read: none may do both. When a large response stalls, gocql 1.7 can
// take the rest of it for the answers to other requests on the connection, and would acknowledge a write that was never
// answered (fixed in no release of gocql 1; see scylladb/gocql pull request 593).
var roles sync.Map // of weak.Pointer[gocql.Session]: whether it writes

// note notes that a session writes, or reads. It is an error if it does otherwise.
func note(s *gocql.Session, writes bool, otherwise error) error {
	if s == nil {
		return nil
	}
	key := weak.Make(s)
	role, known := roles.LoadOrStore(key, writes)
	if !known {
		runtime.AddCleanup(s, func(key weak.Pointer[gocql.Session]) { roles.Delete(key) }, key)
	}
	if role != writes {
		return otherwise
	}
	return nil
}

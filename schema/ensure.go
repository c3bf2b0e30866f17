package schema

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// ensureTimeout limits an [Ensure] whose context has no deadline.
const ensureTimeout = 2 * time.Minute

// Ensure creates what is declared and missing, waits until all nodes agree on the schema, and then validates it. It is
// for development and tests: people change a schema in production, and may start from [Migration]. Ensure never alters
// or drops anything; it returns differences as a [*DifferenceError]. For a table that rotates, it creates the table of
// the present period. A table of a set gets the set's fingerprint in its comment, after the service's own text.
//
// Many processes may call Ensure at once. They take turns, by a lock in each keyspace's table denorm_schema_lock, which
// stays there. The lock needs a quorum of the replicas of all datacentres together. If a process dies, its lock is held
// for two more minutes. Ensure uses the keyspaces to which session.Keyspaces of s maps the declared ones. The package
// documentation says how to create the session's own keyspace.
//
// It ends with ctx, or after 2 minutes if ctx has no deadline. While nodes have two versions of Cassandra, it changes
// nothing. While a node is down, it may create some of what is missing, and then waits. A statement takes 1 to 10 s.
func Ensure(ctx context.Context, s *session.Session, declared *Schema) error {
	if err := missing(ctx, s, declared); err != nil {
		return err
	}
	ctx, cancel := limited(ctx, ensureTimeout)
	defer cancel()
	declared, err := physical(s, declared)
	if err != nil {
		return err
	}
	e := &ensurer{session: s, declared: declared, present: declared.present(time.Now()), reader: newReader(s)}
	if err := e.run(ctx); err != nil {
		return fmt.Errorf("schema: Ensure: %w", err)
	}
	return e.validate(ctx)
}

type ensurer struct {
	session  *session.Session
	declared *Schema
	present  *Schema // declared, with the tables of the present in place of those that rotate
	reader   reader
}

func (e *ensurer) run(ctx context.Context) error {
	var l *lock
	var last error
	for {
		missing, err := e.missing(ctx)
		if err != nil || len(missing) == 0 {
			if err == nil {
				err = e.agree(ctx, nil)
			}
			return err
		}
		if keyspace := missing[0].what.id.Keyspace; l == nil || l.table.Keyspace != keyspace {
			if l, err = e.prepare(ctx, keyspace, missing); err != nil {
				return err
			}
		}
		held, err := l.try(ctx)
		if held {
			if err = e.create(ctx, l); !errors.Is(err, errLockLost) {
				l.release(ctx)
				if err != nil {
					return err
				}
				continue
			}
		}
		if err != nil {
			last = err
		}
		// Another process probably creates the rest meanwhile.
		if err := request.Sleep(ctx, 200*time.Millisecond+rand.N(400*time.Millisecond)); err != nil { //nolint:gosec // jitter
			return fmt.Errorf("wait for the lock in %s, which needs a quorum of all datacentres: %w", l.table, errors.Join(err, last))
		}
	}
}

// prepare makes what the lock of a keyspace needs, once the nodes agree, see agree.
func (e *ensurer) prepare(ctx context.Context, keyspace string, missing []create) (*lock, error) {
	if err := e.agree(ctx, nil); err != nil {
		return nil, err
	}
	if err := e.keyspaces(ctx, missing); err != nil {
		return nil, err
	}
	l := newLock(e.session.Reads(), keyspace)
	if err := e.again(ctx, l.create); err != nil { // until the node that is asked knows the keyspace
		return nil, fmt.Errorf("create the lock's table in keyspace %s: %w", keyspace, err)
	}
	return l, e.agree(ctx, nil)
}

// keyspaces creates the keyspaces that are missing, without a lock, as the locks lie in them. A keyspace has no id, so
// that two nodes make the same one.
func (e *ensurer) keyspaces(ctx context.Context, missing []create) error {
	for _, m := range missing {
		if m.what.id.Name != "" {
			continue
		}
		if err := e.again(ctx, func(ctx context.Context) error { return send(ctx, e.session, m.text) }); err != nil {
			return fmt.Errorf("create keyspace %s: %w", m.what.id.Keyspace, err)
		}
	}
	for {
		live, err := read(ctx, e.reader, e.declared.names())
		if err != nil {
			return err
		}
		unknown := slices.DeleteFunc(e.declared.names(), func(name string) bool { return live.Keyspace(name) != nil })
		if len(unknown) == 0 {
			return nil
		}
		if k := e.declared.Keyspace(unknown[0]); k == nil || len(k.Replication) == 0 {
			return fmt.Errorf("keyspace %s does not exist: create it, or declare its replication with schema.Keyspaces",
				unknown[0])
		}
		if err := request.Sleep(ctx, 100*time.Millisecond); err != nil { // the node that was asked has not heard of it yet
			return err
		}
	}
}

// settle is how long a node may lag behind the one that another process has spoken to.
const settle = 10 * time.Second

// validate is [Validate], but a node that has not heard yet of what there is has a while to do so. Agreement is what
// one node believes of the others, and it may have heard of a change as late as they.
func (e *ensurer) validate(ctx context.Context) error {
	for began := time.Now(); ; {
		differ, _, err := differences(ctx, e.session, e.declared)
		err = breaking(differ, err)
		var found *DifferenceError
		if !errors.As(err, &found) || time.Since(began) > settle ||
			!slices.ContainsFunc(found.Differences, func(d Difference) bool { return d.absent }) {
			return err
		}
		if waited := request.Sleep(ctx, 100*time.Millisecond); waited != nil {
			return err
		}
	}
}

// create creates what is missing in the lock's keyspace.
func (e *ensurer) create(ctx context.Context, l *lock) error {
	if err := e.agree(ctx, l); err != nil { // on what the holder before made
		return err
	}
	missing, err := e.missing(ctx)
	if err != nil {
		return err
	}
	for _, m := range missing {
		if m.what.id.Keyspace != l.table.Keyspace {
			continue
		}
		if err := l.renew(ctx); err != nil {
			return err
		}
		if err := e.again(ctx, func(ctx context.Context) error { return e.one(ctx, m) }); err != nil {
			return fmt.Errorf("create %s: %w", m.what.id, err)
		}
		if err := e.agree(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// one creates one thing. A statement without an answer may still be under way: sent again too early it would be
// executed by two nodes at once, so it has a while to show what it did.
func (e *ensurer) one(ctx context.Context, m create) error {
	err := send(ctx, e.session, m.text)
	if _, known := answered(err); err == nil || known {
		return err
	}
	if shows(ctx, func() bool {
		missing, unread := e.missing(ctx)
		return unread == nil && !slices.ContainsFunc(missing, func(o create) bool { return o.what == m.what })
	}) {
		return nil
	}
	return err
}

// shows waits a while until something that had no answer shows.
func shows(ctx context.Context, done func() bool) bool {
	for began := time.Now(); time.Since(began) < settle; {
		if done() {
			return true
		}
		if request.Sleep(ctx, 500*time.Millisecond) != nil {
			break
		}
	}
	return false
}

// missing gives the statements for what is declared and does not exist.
func (e *ensurer) missing(ctx context.Context) ([]create, error) {
	live, err := read(ctx, e.reader, e.declared.names())
	if err != nil {
		return nil, err
	}
	exist := make(map[what]bool)
	for _, c := range live.creates(false) {
		exist[c.what] = true
	}
	for _, i := range e.present.Indexes { // one without a name is there if one on the same is, and the server creates no second one
		exist[what{anIndex, i.ID}] = exist[what{anIndex, i.ID}] || i.unnamed && live.indexLike(&i) != nil
	}
	return slices.DeleteFunc(e.present.creates(true), func(c create) bool { return exist[c.what] }), nil
}

// send sends a statement once.
func send(ctx context.Context, s *session.Session, statement string) error {
	return request.Shown(s.Reads().Query(statement).WithContext(ctx).RetryPolicy(driver.NoRetry).Exec())
}

// answered gives the server's error, if it says what has become of the statement. Cassandra 6 answers INVALID also to a
// change that its metadata service did not confirm in time, and may still carry out. That says as little as no answer
// (Schema.submit, RemoteProcessor, AbstractLocalProcessor).
func answered(err error) (answer gocql.RequestError, known bool) {
	answer, known = driver.RequestError(err)
	if known && answer.Code() == gocql.ErrCodeInvalid &&
		(strings.Contains(answer.Message(), "TCM_COMMIT_REQ") || strings.Contains(answer.Message(), "Could not perform commit")) {
		return nil, false
	}
	return answer, known
}

// agree waits until all nodes have one schema version, and keeps the lock meanwhile, if there is one. One node is
// asked, and of a node that is down it knows the version of before.
func (e *ensurer) agree(ctx context.Context, l *lock) error {
	var last error
	for {
		err := e.session.Reads().AwaitSchemaAgreement(ctx)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ctx.Err()) {
			last = err
		}
		if err := request.Sleep(ctx, 200*time.Millisecond); err != nil {
			return fmt.Errorf("wait until the nodes agree on the schema (see nodetool describecluster): %w", errors.Join(err, last))
		}
		if l != nil {
			if err := l.renew(ctx); err != nil {
				return err
			}
		}
	}
}

// again does something until it succeeds: it is rejected while the node that is asked has not heard of what another one
// created. What is rejected for its own sake is not repeated.
func (e *ensurer) again(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		answer, known := answered(err)
		if err == nil || known && answer.Code() >= gocql.ErrCodeSyntax &&
			!strings.Contains(answer.Message(), "exist") {
			return err
		}
		if waited := request.Sleep(ctx, 200*time.Millisecond); waited != nil {
			return errors.Join(err, waited)
		}
	}
}

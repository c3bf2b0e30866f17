package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// Apply runs the steps that are not done, in their order, and waits after each until all nodes have one schema version.
// on is called after each. After an error, or if the process ends, read the steps again by [Steps], and apply those.
//
// It holds the lock of [Ensure] in each keyspace of the steps, and fails at once if another process has it. After a
// process that was killed, or a step that had no answer, the lock is held for two minutes. Apply ends with ctx; the
// step that was sent may still be done. Open s without session.LocalDC: each node is asked for its schema version.
func Apply(ctx context.Context, s *session.Session, steps []Step, on func(Step)) error {
	if err := missing(ctx, s, &Schema{}); err != nil {
		return err
	}
	a := newApplier(s)
	defer a.release(ctx)
	if err := a.run(ctx, steps, on); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

// applier changes a cluster step by step.
type applier struct {
	session *session.Session
	reader  reader
	local   string           // the datacentre that requests go to; empty for all
	locks   map[string]*lock // by keyspace
}

func newApplier(s *session.Session) *applier {
	return &applier{session: s, reader: newReader(s), local: s.Settings().LocalDC, locks: make(map[string]*lock)}
}

func (a *applier) run(ctx context.Context, known []Step, on func(Step)) error {
	if !slices.ContainsFunc(known, func(st Step) bool { return !st.Done }) {
		return nil
	}
	live, err := a.read(ctx, known)
	if err != nil {
		return err
	}
	for _, keyspace := range live.names() {
		if err := a.lock(ctx, keyspace); err != nil {
			return err
		}
	}
	steps, err := a.again(ctx, known)
	if err != nil {
		return err
	}
	for i := range steps {
		if steps[i].Done {
			continue
		}
		if err := a.step(ctx, steps, i); err != nil {
			return fmt.Errorf("%s: line %d: %w", steps[i].At.File, steps[i].At.Line, err)
		}
		steps[i].Done = true
		whole := len(steps[i].all[0]) == 1 && len(steps[i].drops) == 0
		if whole { // the lock of the keyspace was released, or there was none
			err = a.lock(ctx, steps[i].all[0][0])
		}
		on(steps[i])
		if whole && err == nil {
			steps, err = a.again(ctx, steps)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// again says which of the steps are done now, in a copy of them. It fails if one that was done is not any more.
func (a *applier) again(ctx context.Context, known []Step) ([]Step, error) {
	steps := slices.Clone(known)
	if err := a.plan(ctx, steps); err != nil {
		return nil, err
	}
	for i := range steps {
		if known[i].Done && !steps[i].Done {
			return nil, fmt.Errorf("%s: line %d: the schema has changed since: read the steps again",
				steps[i].At.File, steps[i].At.Line)
		}
	}
	return steps, nil
}

// keyspacesOf gives the keyspaces of steps, each once, in their order.
func keyspacesOf(steps []Step) []string {
	return each.Once(each.Of(steps, func(st Step) string { return st.all[0][0] }))
}

// read reads the keyspaces of steps, as soon as all nodes have one schema.
func (a *applier) read(ctx context.Context, steps []Step) (*Schema, error) {
	if err := a.agree(ctx); err != nil {
		return nil, err
	}
	return read(ctx, a.reader, keyspacesOf(steps))
}

// plan says which steps are done in the cluster.
func (a *applier) plan(ctx context.Context, steps []Step) error {
	live, err := a.read(ctx, steps)
	if err != nil {
		return err
	}
	return plan(live, steps)
}

// lock takes the lock of a keyspace.
func (a *applier) lock(ctx context.Context, keyspace string) error {
	ctx, cancel := context.WithTimeout(ctx, ensureTimeout)
	defer cancel()
	l := newLock(a.session.Reads(), keyspace)
	if err := l.create(ctx); err != nil {
		return fmt.Errorf("create the lock's table in keyspace %s: %w", keyspace, err)
	}
	if err := a.agree(ctx); err != nil {
		return err
	}
	a.locks[keyspace] = l // if an answer is lost, it may be held
	for {
		held, err := l.try(ctx)
		switch {
		case held:
			return nil
		case err == nil:
			delete(a.locks, keyspace)
			return fmt.Errorf("another process changes keyspace %s: wait until it ends; if it was killed, its lock ends after %v", keyspace, lockTTL)
		}
		if waited := request.Sleep(ctx, 200*time.Millisecond); waited != nil {
			return fmt.Errorf("take the lock of keyspace %s: %w", keyspace, err)
		}
	}
}

func (a *applier) release(ctx context.Context) {
	for _, l := range a.locks {
		l.release(ctx)
	}
}

// step runs one step.
func (a *applier) step(ctx context.Context, steps []Step, i int) error {
	ctx, cancel := context.WithTimeout(ctx, ensureTimeout)
	defer cancel()
	keyspace, whole := steps[i].all[0][0], len(steps[i].all[0]) == 1
	if l := a.locks[keyspace]; whole && l != nil { // of another replication, not all replicas would have its row
		l.release(ctx)
		delete(a.locks, keyspace)
	}
	for _, l := range a.locks {
		if err := l.renew(ctx); err != nil {
			return err
		}
	}
	err := send(ctx, a.session, steps[i].Text)
	answer, known := answered(err)
	switch {
	case known && answer.Code() >= gocql.ErrCodeSyntax: // it was rejected
		return err
	case err != nil:
		if shows(ctx, func() bool {
			now := slices.Clone(steps)
			return a.plan(ctx, now) == nil && now[i].Done
		}) {
			return nil
		}
		delete(a.locks, keyspace) // it may be under way, so its lock ends by itself
	default:
		err = a.agree(ctx)
	}
	if err != nil {
		return fmt.Errorf("it may be done: apply again: %w", err)
	}
	return nil
}

// agree waits until all nodes have one schema version. Each is asked for its own: what others know of a node that is
// down is of before.
func (a *applier) agree(ctx context.Context) error {
	peers, err := a.reader.rows(ctx, `SELECT * FROM system.peers`)
	if err != nil {
		return err
	}
	peers = slices.DeleteFunc(peers, func(row map[string]any) bool { return row["host_id"] == nil }) // what is left of a former node
	remote := func(row map[string]any) bool { return row["data_center"] != a.local }
	if a.local != "" && slices.ContainsFunc(peers, remote) {
		return errors.New("not every node can be asked for its schema: open the session without session.LocalDC")
	}
	for began := time.Now(); ; {
		nodes, versions := make(map[any]bool), make(map[any]bool)
		for n := 0; n < 2*(len(peers)+1) && len(nodes) <= len(peers); n++ { // the driver asks one after the other
			rows, err := a.reader.rows(ctx, `SELECT host_id, schema_version FROM system.local WHERE key = 'local'`)
			if err != nil {
				return err
			}
			for _, row := range rows {
				nodes[row["host_id"]], versions[row["schema_version"]] = true, true
			}
		}
		silent := slices.IndexFunc(peers, func(row map[string]any) bool { return !nodes[row["host_id"]] })
		switch over := time.Since(began); {
		case silent < 0 && len(nodes) > len(peers) && len(versions) == 1:
			return nil
		case silent >= 0 && over > settle:
			return fmt.Errorf("node %v does not answer: start it, or remove it from the cluster, and apply again", peers[silent]["peer"])
		case over > agreeTimeout:
			return errors.New("the nodes have different schemas: see nodetool describecluster, and apply again when they agree")
		}
		if err := request.Sleep(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("wait until all nodes have one schema: %w", err)
		}
	}
}

// agreeTimeout is how long nodes that answer may have different schemas.
const agreeTimeout = time.Minute

package schema

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/gocql/gocql"
)

// lockTable holds the lock of [Ensure].
const lockTable = "denorm_schema_lock"

// lockTTL is how long a lock outlives its holder. It is renewed between statements.
const lockTTL = 2 * time.Minute

// lock is a row that only one process can insert, by a lightweight transaction.
type lock struct {
	session *gocql.Session
	table   ID
	owner   gocql.UUID
	renewed time.Time
}

func newLock(session *gocql.Session, keyspace string) *lock {
	return &lock{session: session, table: ID{keyspace, lockTable}, owner: gocql.MustRandomUUID()}
}

// create makes the lock's table. Its id is given, the same whoever creates it, so that two nodes that do so at once
// make one table. For other tables that would be wrong: dropped and made again under the same id they could get rows
// back from a commit log.
func (l *lock) create(ctx context.Context) error {
	return request.Shown(l.session.Query(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (name text PRIMARY KEY, owner uuid) WITH id = %s
		AND comment = 'serialises schema changes by denorm'`, l.table, l.id())).
		WithContext(ctx).RetryPolicy(driver.NoRetry).Exec())
}

func (l *lock) id() gocql.UUID {
	hash := sha256.Sum256([]byte(l.table.String()))
	var id gocql.UUID
	copy(id[:], hash[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8: of one's own making
	return id
}

// try takes the lock if it is free. It looks first, because many transactions at once keep each other from ending.
// Whether one that failed took the lock after all, the next try finds out.
func (l *lock) try(ctx context.Context) (bool, error) {
	var owner gocql.UUID
	err := l.session.Query(`SELECT owner FROM ` + l.table.String() + ` WHERE name = 'schema'`).WithContext(ctx).
		Consistency(gocql.LocalQuorum).RetryPolicy(driver.NoRetry).Scan(&owner)
	if err == nil && owner != l.owner {
		return false, nil
	}
	began := time.Now()
	held, err := l.cas(ctx, fmt.Sprintf(`INSERT INTO %s (name, owner) VALUES ('schema', ?) IF NOT EXISTS USING TTL %d`, l.table,
		int(lockTTL.Seconds())), l.owner)
	if held {
		l.renewed = began
	}
	return held, err
}

// errLockLost is returned when the lock has expired, because one statement took too long.
var errLockLost = errors.New("the lock has expired: one statement took too long")

// renew makes the lock last again, if a good part of its time is over.
func (l *lock) renew(ctx context.Context) error {
	if time.Since(l.renewed) < lockTTL/6 {
		return nil
	}
	for {
		began := time.Now()
		held, err := l.cas(ctx, fmt.Sprintf(`UPDATE %s USING TTL %d SET owner = ? WHERE name = 'schema' IF owner = ?`, l.table,
			int(lockTTL.Seconds())), l.owner, l.owner)
		if err == nil && !held {
			return errLockLost
		}
		if err == nil {
			l.renewed = began
			return nil
		}
		if waited := request.Sleep(ctx, 50*time.Millisecond+rand.N(100*time.Millisecond)); waited != nil { //nolint:gosec // jitter
			return errors.Join(err, waited)
		}
	}
}

// release gives the lock back. That is tried once: if it fails the lock expires.
func (l *lock) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, _ = l.cas(ctx, fmt.Sprintf(`DELETE FROM %s WHERE name = 'schema' IF owner = ?`, l.table), l.owner)
}

// cas runs a conditional statement and says whether the lock is this one's afterwards.
func (l *lock) cas(ctx context.Context, statement string, values ...any) (bool, error) {
	row := make(map[string]any)
	applied, err := l.session.Query(statement, values...).WithContext(ctx).RetryPolicy(driver.NoRetry).MapScanCAS(row)
	if err != nil {
		return false, request.Shown(err)
	}
	return applied || row["owner"] == l.owner, nil
}

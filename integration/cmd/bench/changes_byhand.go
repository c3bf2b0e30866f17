package main

import (
	"context"
	"errors"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/parallel"
)

// changeByHand changes items as a service would by hand.
type changeByHand struct{ session *gocql.Session }

const (
	insertByID     = `INSERT INTO hand_by_id (item_id, status, email, note, updated_at, version) VALUES (?, ?, ?, ?, ?, ?)`
	insertByStatus = `INSERT INTO hand_by_status (item_id, status, email, note, updated_at, version) VALUES (?, ?, ?, ?, ?, ?)`
	deleteByStatus = `DELETE FROM hand_by_status WHERE status = ? AND item_id = ?`
	compareByID    = `UPDATE hand_by_id SET status = ?, email = ?, note = ?, updated_at = ?, version = ? WHERE item_id = ? IF version = ?`
)

// statement is a statement and its values.
type statement struct {
	text   string
	values []any
}

func insertion(text string, i item) statement {
	return statement{text, []any{i.ItemID, i.Status, i.Email, i.Note, i.UpdatedAt, i.Version}}
}

// moved writes the row by status, and removes the one that it leaves.
func moved(before, after item) []statement {
	list := []statement{insertion(insertByStatus, after)}
	if before.Status != after.Status {
		list = append(list, statement{deleteByStatus, []any{before.Status, before.ItemID}})
	}
	return list
}

// together sends statements at the same time.
func (x changeByHand) together(ctx context.Context, at int64, list []statement) error {
	return parallel.Do(len(list), len(list), func(i int) error {
		return x.session.Query(list[i].text, list[i].values...).WithTimestamp(at).Idempotent(true).WithContext(ctx).Exec()
	})
}

type change func(ctx context.Context, before, after item) error

func (x changeByHand) fanOut(ctx context.Context, before, after item) error {
	return x.together(ctx, after.UpdatedAt, append(moved(before, after), insertion(insertByID, after)))
}

func (x changeByHand) batch(kind gocql.BatchType) change {
	return func(ctx context.Context, before, after item) error {
		b := x.session.NewBatch(kind).WithTimestamp(after.UpdatedAt).WithContext(ctx)
		for _, s := range append(moved(before, after), insertion(insertByID, after)) {
			b.Query(s.text, s.values...)
		}
		return x.session.ExecuteBatch(b)
	}
}

var errMet = errors.New("not applied, though nobody else writes")

// compareAndSet changes the row by id, if it has the version, and then the query table. A client that dies between the two leaves
// them apart.
func (x changeByHand) compareAndSet(ctx context.Context, before, after item) error {
	applied, err := x.session.Query(compareByID, after.Status, after.Email, after.Note, after.UpdatedAt, after.Version, after.ItemID,
		before.Version).WithContext(ctx).MapScanCAS(map[string]any{})
	if err != nil {
		return err
	}
	if !applied {
		return errMet
	}
	return x.together(ctx, after.UpdatedAt, moved(before, after))
}

func limited(do func(context.Context) error) write {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return do(ctx)
	}
}

// inserts makes a contender that inserts, if nobody has before or in any case.
func (x changeByHand) inserts(name string, ifNotExists bool) *contender {
	return &contender{name: name, prepare: func(context.Context) (write, error) {
		row := newItem()
		return limited(func(ctx context.Context) error {
			row.UpdatedAt, row.Version = time.Now().UnixMicro(), gocql.TimeUUID()
			if !ifNotExists {
				return x.fanOut(ctx, row, row)
			}
			s := insertion(insertByID+" IF NOT EXISTS", row)
			applied, err := x.session.Query(s.text, s.values...).WithContext(ctx).MapScanCAS(map[string]any{})
			if err != nil {
				return err
			}
			if !applied {
				return errMet
			}
			return x.together(ctx, row.UpdatedAt, moved(row, row))
		}), nil
	}}
}

// updates makes a contender that inserts, which is not measured, and changes.
func (x changeByHand) updates(name string, edit func(*item), by change) *contender {
	return &contender{name: name, prepare: func(ctx context.Context) (write, error) {
		before := newItem()
		before.UpdatedAt, before.Version = time.Now().UnixMicro(), gocql.TimeUUID()
		if err := x.fanOut(ctx, before, before); err != nil {
			return nil, err
		}
		return limited(func(ctx context.Context) error {
			after := before
			edit(&after)
			after.UpdatedAt, after.Version = time.Now().UnixMicro(), gocql.TimeUUID()
			return by(ctx, before, after)
		}), nil
	}}
}

package reader

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// source sends requests. It is the seam to the driver: tests put a fake behind it.
type source interface {
	// page asks for one page and waits for it.
	page(ctx context.Context, r attempt) answer
}

// attempt is one at one page.
type attempt struct {
	statement   string
	values      []any
	key         []byte // the encoded partition key
	size        int    // rows at most
	state       []byte // where the page begins; nil is the beginning
	consistency gocql.Consistency
}

// answer is a page. A [gocql.Iter] is one.
type answer interface {
	NumRows() int
	Scan(dest ...any) bool
	PageState() []byte
	Host() *gocql.HostInfo
	Close() error
}

// gocqlSource reads through gocql, with everything switched off that would act on its own: retries, whose errors it hides, and
// paging, which would go on behind the reader's back.
type gocqlSource struct{ session *gocql.Session }

func (s gocqlSource) page(ctx context.Context, r attempt) answer {
	return s.session.Query(r.statement, r.values...).
		Consistency(r.consistency).
		RoutingKey(r.key).
		PageSize(r.size).
		PageState(r.state). // also when it is nil: it turns automatic paging off
		Idempotent(true).
		RetryPolicy(driver.NoRetry).
		WithContext(ctx).
		Iter()
}

// leastSilence is how long an attempt must have waited for its end to say something of the host: the limits of interactive reads are shorter
// than a second.
const leastSilence = 200 * time.Millisecond

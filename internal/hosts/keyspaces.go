package hosts

import (
	"context"
	"errors"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/catalog"
)

const (
	readTimeout = 5 * time.Second
	readAgain   = 10 * time.Second // after which a keyspace that was not there is looked for again
)

// keyspaces reads how the keyspaces of the cluster are replicated, on a goroutine of its own, which ends with the read:
// nobody waits for it. While one reads, further wishes are served by reading once more.
func (p *Policy) readKeyspaces() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return
	}
	p.again = true
	if !p.reading {
		p.reading = true
		go p.read(p.session)
	}
}

func (p *Policy) read(session *gocql.Session) {
	for p.wanted() {
		found, err := query(session)
		pause := readAgain
		p.mu.Lock()
		if err != nil {
			pause = minPause
			p.again = p.again && !errors.Is(err, gocql.ErrSessionClosed)
		} else {
			p.replications = found
			p.rebuild()
		}
		p.readNext.Store(time.Now().Add(pause).UnixNano())
		p.mu.Unlock()
	}
}

// wanted says whether to read once more; if not, the reader is gone.
func (p *Policy) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.again = p.again, false
	return p.reading
}

// query is an attempt without a key, because gocql would prepare it to find one.
func query(session *gocql.Session) (map[string]replication, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	attempt := &Attempt{Context: ctx}
	found := map[string]replication{}
	var name string
	var options map[string]string
	err := catalog.Each(attempt, session, gocql.LocalOne, "SELECT keyspace_name, replication FROM system_schema.keyspaces",
		nil, func() { found[name] = newReplication(options) }, &name, &options)
	attempt.End(ResultOf(err))
	return found, err
}

// known is the placement of a keyspace. If it is not known, the keyspaces are read, but not each time.
func (p *Policy) known(r *ring, keyspace string) placement {
	if place, ok := r.keyspaces[keyspace]; ok {
		return place
	}
	now := time.Now().UnixNano()
	if next := p.readNext.Load(); now >= next && p.readNext.CompareAndSwap(next, now+int64(readAgain)) {
		p.readKeyspaces()
	}
	return primary
}

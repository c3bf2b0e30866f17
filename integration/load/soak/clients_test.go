//go:build faults

package soak_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// slot is where clients of a service live one after the other: each until it is killed.
type slot struct {
	service string
	repeat  *soak.Service // nil: nobody repeats what was in flight
	client  func(name, journal string, life int) told
	kill    chan struct{}

	mu      sync.Mutex
	journal string // of the client that lives now
}

// slots makes two for each service, with clocks that are 1 s apart, and as many for those that resume what the others
// have stored.
func (s *run) slots() {
	const each = 2
	for n := range each * (len(soak.Services) + 2) {
		skew := time.Duration(n%each*2-1) * 500 * time.Millisecond
		l := &slot{kill: make(chan struct{}), service: soak.AccountService}
		process := func(name, journal string, life int) hot.Process {
			return hot.Process{
				Hosts: s.hosts, Keyspace: s.keyspace, Journal: journal, Skew: skew, Name: name, First: int64(n*1000+life) * 1_000_000,
				Writers: writers, Pause: pause(), Outbox: s.outbox,
			}
		}
		l.client = func(name, journal string, life int) told {
			return told{Accounts: &soak.AccountClient{Process: process(name, journal, life), Accounts: s.accounts}}
		}
		if n/each > len(soak.Services) {
			l.service = soak.ConsumerService
			l.client = func(name, journal string, life int) told {
				p := process(name, journal, life)
				p.Pause /= 10
				return told{Consumer: &soak.Consumer{Process: p}}
			}
		}
		if n/each < len(soak.Services) {
			service := soak.Services[n/each]
			l.service = service.Name
			if service.Repeat {
				l.repeat = &service
			}
			l.client = func(name, journal string, life int) told {
				return told{Orders: &hot.Client{
					Process: process(name, journal, life), Mode: service.Mode, Orders: s.orders[service.Name],
					Pinned: service.Mode != hot.Logged, Leave: service.Leave, Impatient: true,
				}}
			}
		}
		s.all = append(s.all, l)
		s.living.Go(func() { s.live(l, n) })
	}
}

// live keeps a client alive until the load is over.
func (s *run) live(l *slot, n int) {
	for life := 1; ; life++ {
		name := fmt.Sprintf("%s/%d.%d", l.service, n, life)
		journal := filepath.Join(s.dir, fmt.Sprintf("%d.%d", n, life))
		l.mu.Lock()
		l.journal = journal
		l.mu.Unlock()
		c, err := child.Start(l.client(name, journal, life))
		if err != nil {
			s.Error(err)
			return
		}
		over := false
		select {
		case <-l.kill:
			err = c.Kill()
		case <-s.over:
			over = true
			err = c.End()
		case <-c.Ended():
			over = true
			err = c.End()
			if err == nil {
				err = errors.New("it ended by itself")
			}
		}
		if err != nil {
			s.Errorf("client %s: %v", name, err)
		}
		s.collect(l, journal)
		if over {
			return
		}
		s.killed(l.service)
	}
}

// collect takes the journal of a client that is gone over. What it was at is repeated, if its service is one that does.
func (s *run) collect(l *slot, journal string) {
	in, err := os.Open(journal)
	if errors.Is(err, os.ErrNotExist) {
		return // it had not begun
	}
	if err != nil {
		s.Error(err)
		return
	}
	defer func() { _ = in.Close() }()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l.service {
	case soak.ConsumerService:
		s.deliveries = append(s.deliveries, journal)
		return
	case soak.AccountService:
		s.accountJournals[filepath.Base(journal)] = len(s.accountWrites.Writes())
		if err := s.accountWrites.Load(in); err != nil {
			s.Error(err)
		}
		return
	}
	h := history.New[orders.Order](nil)
	if err := h.Load(in); err != nil {
		s.Error(err)
	}
	s.orderWrites = append(s.orderWrites, h)
	s.orderJournals[filepath.Base(journal)] = h
	if l.repeat != nil {
		s.living.Go(func() { s.repeat(h, l.repeat.Mode) })
	}
}

// repeat does what a caller does whose request was never answered: it makes the request again, at the timestamp that it
// chose for it, until it is acknowledged.
func (s *run) repeat(h *history.History[orders.Order], mode hot.Mode) {
	for n, w := range h.Writes() {
		if w.Outcome != writer.Unknown {
			continue
		}
		change := orders.Orders.Insert(w.Row)
		if w.Kind == tables.Update {
			change = orders.Orders.Update(w.Row, w.Row)
		}
		h.Repeat(n)
		ctx, cancel := context.WithTimeout(s.Context(), patience)
		err := s.until(ctx, func() error {
			res, err := s.writer.With(mode.Options()...).With(writer.At(w.Timestamp)).Write(ctx, "repeat", change)
			h.End(n, res.Timestamp, err)
			return err
		})
		cancel()
		if err != nil {
			s.Errorf("repeat a write of %s: %v", w.By, err)
		}
		s.mu.Lock()
		s.report.Repeated++
		s.mu.Unlock()
	}
}

// drain delivers what is left in the queue when all clients are gone, and adds all deliveries to what is known of the
// writes.
func (s *run) drain() {
	s.Helper()
	path := filepath.Join(s.dir, "drain")
	journal, err := os.Create(path)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	s.deliveries = append(s.deliveries, path)
	noted := history.NewDeliveries(journal)
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	for {
		m, ok, err := s.outbox.Take()
		if err != nil {
			s.Fatal(err)
		}
		if !ok {
			break
		}
		if err := s.until(ctx, func() error {
			done, err := soak.Deliver(ctx, s.writer, s.outbox, m, noted, false)
			if err == nil && !done {
				err = errors.New("something is left to be done")
			}
			return err
		}); err != nil {
			s.Errorf("a stored write of %s is not finished: %v", m.Of.History, err)
			_ = s.outbox.Done(m)
		}
	}
	stored := make(map[history.Place]bool)
	for _, path := range s.deliveries {
		s.deliver(path, stored)
	}
	s.report.Stored = len(stored)
}

// deliver adds the deliveries of one journal to what is known of the writes.
func (s *run) deliver(path string, stored map[history.Place]bool) {
	s.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	for name, h := range s.orderJournals {
		if err := h.Deliver(bytes.NewReader(data), name, 0); err != nil {
			s.Error(err)
		}
	}
	for name, first := range s.accountJournals {
		if err := s.accountWrites.Deliver(bytes.NewReader(data), name, first); err != nil {
			s.Error(err)
		}
	}
	places, err := history.Delivered(bytes.NewReader(data))
	if err != nil {
		s.Error(err)
	}
	for _, p := range places {
		stored[p] = true
	}
	s.report.Deliveries += len(places)
}

// until repeats what fails until the context ends.
func (s *run) until(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		if cause := sleep.For(ctx, 200*time.Millisecond); cause != nil {
			return fmt.Errorf("%w (last: %w)", cause, err)
		}
	}
}

// killer kills clients in the middle of a write, one after the other, until the load is over.
func (s *run) killer() {
	const every = 2 * time.Second
	r := rand.New(rand.NewPCG(*seed, 1))
	for {
		pause, of := time.Duration(r.Int64N(int64(2*every))), s.all[r.IntN(len(s.all))]
		select {
		case <-s.over:
			return
		case <-time.After(pause):
		}
		if !s.midway(of) {
			continue
		}
		select {
		case of.kill <- struct{}{}:
		case <-s.over:
			return
		}
	}
}

// die kills every other client a moment after a node has fallen silent: of what they are at some has reached the
// tables, and the rest waits for that node.
func (s *run) die() {
	<-time.After(500 * time.Millisecond)
	for n, l := range s.all {
		if n%2 == 1 {
			continue
		}
		select {
		case l.kill <- struct{}{}:
		case <-time.After(100 * time.Millisecond): // it is being started
		}
	}
}

// midway waits until a client has noted the begin of a write or of a delivery and not yet its end, and a moment more:
// what it sends is then on its way in part.
func (s *run) midway(l *slot) bool {
	l.mu.Lock()
	journal := l.journal
	l.mu.Unlock()
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(time.Millisecond) {
		if line := lastLine(journal); len(line) > 0 && !bytes.Contains(line, []byte(`"end"`)) {
			time.Sleep(rand.N(2 * time.Millisecond))
			return true
		}
	}
	return false
}

func lastLine(path string) []byte {
	in, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return nil
	}
	tail := make([]byte, min(info.Size(), 4096))
	if _, err := in.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return nil
	}
	tail = bytes.TrimSuffix(tail, []byte("\n"))
	return tail[bytes.LastIndexByte(tail, '\n')+1:]
}

// begun is how many writes the clients have begun so far.
func (s *run) begun() int {
	n := 0
	journals, err := os.ReadDir(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	for _, j := range journals {
		data, err := os.ReadFile(filepath.Join(s.dir, j.Name()))
		if err != nil {
			s.Fatal(err)
		}
		n += bytes.Count(data, []byte(`"begin"`))
	}
	return n
}

func (s *run) killed(service string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Kills[service]++
}

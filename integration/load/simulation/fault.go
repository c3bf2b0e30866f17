package simulation

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	ct "github.com/denorm-go/denorm/cassandratest"
)

// fault is something that goes wrong with a request.
type fault struct {
	name  string
	times float64               // as often as others
	of    func(ct.Request) bool // nil: any write
	do    func(r ct.Request, n uint64) []ct.Step
}

func same(steps ...ct.Step) func(ct.Request, uint64) []ct.Step {
	return func(ct.Request, uint64) []ct.Step { return steps }
}

// one does one of several things.
func one(choices ...[]ct.Step) func(ct.Request, uint64) []ct.Step {
	return func(_ ct.Request, n uint64) []ct.Step { return choices[n%uint64(len(choices))] }
}

// atOne applies a write at one replica, and ends it.
func atOne(end func(ct.Request) ct.Step) func(ct.Request, uint64) []ct.Step {
	return func(r ct.Request, n uint64) []ct.Step { return []ct.Step{ct.ApplyAt(int(n%nodes) + 1), end(r)} }
}

// half fails, and half of the time carries out a step before it, in requests that the step can befall, or a part of a
// group.
func half(of func(ct.Request) bool, step, fail ct.Step) func(ct.Request, uint64) []ct.Step {
	return func(r ct.Request, n uint64) []ct.Step {
		switch {
		case n%2 == 0 && of(r):
			return []ct.Step{step, fail}
		case n%2 == 0 && grouped(r):
			return []ct.Step{part, fail}
		}
		return []ct.Step{fail}
	}
}

// late is a time up to 8 seconds: shorter or longer than an attempt, and than a call.
func late(n uint64) ct.Step {
	return ct.Delay(time.Millisecond + time.Duration(n%8000)*time.Millisecond)
}

// conditional says whether a request is a lightweight transaction.
func conditional(r ct.Request) bool { return r.Serial != 0 }

func logged(r ct.Request) bool { return r.Kind == ct.Batch && r.Logged && !conditional(r) }

// grouped says whether a request is of several partitions that have no batchlog.
func grouped(r ct.Request) bool {
	switch {
	case r.Kind != ct.Batch || r.Logged || conditional(r):
		return false
	case r.On("accounts_by_status"): // the row under its status and under the one before
		one, _ := r.Statements[0].Value("status")
		return slices.ContainsFunc(r.Statements, func(s ct.Statement) bool {
			v, _ := s.Value("status")
			return !bytes.Equal(v.Bytes, one.Bytes)
		})
	case r.On("logins"):
		return r.On("logins_by_user")
	}
	return r.On("orders_by_id") && (r.On("orders_by_user") || r.On("orders_by_status"))
}

// part applies the first partitions of a group.
var part = ct.ApplyAt(1, 2, 3)

var serverError = ct.Fail(ct.Code(gocql.ErrCodeServer))

func counting(r ct.Request) bool { return r.On(total) || r.On(daily) }

// kind is the write type of the protocol.
func kind(r ct.Request) string {
	switch {
	case conditional(r):
		return "CAS"
	case logged(r):
		return "BATCH"
	case counting(r):
		return "COUNTER"
	case r.Kind == ct.Batch:
		return "UNLOGGED_BATCH"
	}
	return "SIMPLE"
}

// faults are all of them.
var faults = []fault{
	{"request lost", 1, nil, same(ct.Drop)},
	{"answer lost", 1, nil, same(ct.Apply, ct.Drop)},
	{"applied late", 1, nil, func(_ ct.Request, n uint64) []ct.Step { return []ct.Step{ct.Drop, late(n), ct.Apply} }},
	{"answered late", 1, nil, func(_ ct.Request, n uint64) []ct.Step { return []ct.Step{ct.Apply, late(n)} }},
	{"timeout, not applied", 1, nil, func(r ct.Request, _ uint64) []ct.Step { return []ct.Step{ct.Fail(ct.WriteTimeout(kind(r), 0, 2))} }},
	{"timeout, applied", 1, nil, func(r ct.Request, _ uint64) []ct.Step {
		return []ct.Step{ct.Apply, ct.Fail(ct.WriteTimeout(kind(r), 1, 2))}
	}},
	{"timeout, applied at one replica", 1, nil, atOne(func(r ct.Request) ct.Step {
		return ct.Fail(ct.WriteTimeout(kind(r), 1, 2))
	})},
	{"coordinator dies after one replica", 1, nil, atOne(func(ct.Request) ct.Step { return ct.Cut })},
	{"write failure", 1, nil, atOne(func(r ct.Request) ct.Step { return ct.Fail(ct.WriteFailure(kind(r), 1, 2, 1)) })},
	{"connection cut", 1, nil, func(_ ct.Request, n uint64) []ct.Step {
		return [][]ct.Step{{ct.Cut}, {ct.Apply, ct.Cut}, {ct.CutAfter(int(n >> 8 % 13))}}[n%3]
	}},
	{"answer stalls", 1, nil, func(_ ct.Request, n uint64) []ct.Step { return []ct.Step{ct.StallAfter(int(n%9), 3*time.Second)} }},
	// The commit of what was accepted finds too few replicas.
	{"unavailable", 1, nil, half(conditional, ct.Accept, ct.Fail(ct.Unavailable(gocql.LocalQuorum, 2, 1)))},
	{"server error", 1, nil, one(
		[]ct.Step{serverError}, []ct.Step{ct.Apply, serverError}, []ct.Step{ct.Fail(ct.Code(gocql.ErrCodeBootstrapping))},
	)},
	{"overloaded", 1, nil, half(func(r ct.Request) bool { // a plain write is rejected before it is sent to anybody
		return logged(r) || conditional(r) || counting(r)
	}, ct.Apply, ct.Fail(ct.Overloaded))},
	{"unprepared", 1, nil, same(ct.Fail(ct.Unprepared))},
	{"in the batchlog only", 18, logged, one(
		[]ct.Step{ct.StoreBatch, ct.Cut},
		[]ct.Step{ct.StoreBatch, ct.Fail(ct.WriteTimeout("BATCH", 0, 2))},
		[]ct.Step{ct.StoreBatch, ct.Fail(ct.WriteTimeout("BATCH_LOG", 1, 2))},
		[]ct.Step{ct.StoreBatch, ct.Drop},
	)},
	{"group in part", 9, grouped, one(
		[]ct.Step{part, ct.Cut}, []ct.Step{part, ct.Drop}, []ct.Step{part, ct.Fail(ct.WriteTimeout("UNLOGGED_BATCH", 1, 2))},
	)},
	{"batchlog down", 18, logged, same(ct.Fail(ct.WriteTimeout("BATCH_LOG", 0, 2)))},
	{"transaction delayed", 14, conditional, func(_ ct.Request, n uint64) []ct.Step {
		return []ct.Step{ct.Delay(time.Duration(n%1500) * time.Millisecond)}
	}},
	{"transaction only promised", 7, conditional, casCut(ct.Promise)},
	{"transaction accepted at one replica", 7, conditional, casCut(ct.Propose)},
	{"transaction only accepted", 7, conditional, casCut(ct.Accept)},
}

// refused is the fault of a write that is rejected each time that it is sent, for a while: what its client is told in
// the end is that it is not applied.
const (
	refused   = "rejected repeatedly"
	forbidden = "permission missing" // to one table
	spell     = 5                    // requests to a table
)

// What befalls clients, consumers and nodes.
const (
	clientKilled   = "client killed"
	consumerKilled = "consumer killed"
	delivered      = "stored, and delivered"
	deliveredTwice = "delivered to two consumers at once"
	resumedTwice   = "resumed by two goroutines"
	noQuorum       = "two of three nodes affected"
)

func casCut(stage ct.Step) func(ct.Request, uint64) []ct.Step {
	return one([]ct.Step{stage, ct.Fail(ct.WriteTimeout("CAS", 0, 2))}, []ct.Step{stage, ct.Drop}, []ct.Step{stage, ct.Cut})
}

// weather decides what goes wrong with each request.
type weather struct {
	seed uint64

	mu    sync.Mutex
	begun map[int64]uint64           // numbers of the logical writes, by their marks
	seen  map[[2]uint64]uint64       // requests, by what they are of and their table
	met   map[string]map[uint64]bool // writes that have met a fault
}

func newWeather(seed uint64) *weather {
	return &weather{
		seed: seed, begun: make(map[int64]uint64), seen: make(map[[2]uint64]uint64), met: make(map[string]map[uint64]bool),
	}
}

// begin tells of a write, so that its requests are known by a mark: their timestamp, what they count, or who it is
// about.
func (w *weather) begin(mark int64, number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun[mark] = number
}

// mark is the mark of a value, 0 without a value.
func mark(value []byte) int64 {
	if len(value) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(value))
}

// note counts a write that has met a fault.
func (w *weather) note(fault string, number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meet(fault, number)
}

func (w *weather) meet(fault string, number uint64) {
	if w.met[fault] == nil {
		w.met[fault] = make(map[uint64]bool)
	}
	w.met[fault][number] = true
}

// identity is what a request is of: the logical write, or where that is not known, the rows.
func (w *weather) identity(r ct.Request) (id uint64, known bool) {
	h := uint64(1)
	for _, s := range r.Statements {
		for _, v := range s.Values {
			switch v.Column {
			case "changes": // of an account: the last one is the number of the write
				if n := len(v.Bytes); n >= 8 {
					return binary.BigEndian.Uint64(v.Bytes[n-8:]), true
				}
			case "total": // of an order, after the scale: the number of the write
				if len(v.Bytes) > 4 {
					return new(big.Int).SetBytes(v.Bytes[4:]).Uint64(), true
				}
			case "user_id", "view_count":
				if n, ok := w.begun[mark(v.Bytes)]; ok {
					return n, true
				}
			case "[timestamp]":
				at := mark(v.Bytes)
				for _, t := range []int64{at, at + 1} { // a remove may be one below
					if n, ok := w.begun[t]; ok {
						return n, true
					}
				}
			case "account_id", "email", "status":
				h = mix(h, text(v.Bytes))
			}
		}
	}
	return h | 1<<63, false
}

func text(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // never fails
	return h.Sum64()
}

// steps is what is done with a write.
func (w *weather) steps(r ct.Request) []ct.Step {
	if len(r.Statements) == 0 { // not prepared
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id, known := w.identity(r)
	table := text([]byte(r.Statements[0].Keyspace + r.Statements[0].Table))
	key := [2]uint64{id, table}
	w.seen[key]++
	n := mix(w.seed, id, table, w.seen[key])
	network := ct.Delay(time.Duration(200_000 + n%2_000_000)) // so that no two things happen at once
	draw := float64(mix(n, 1)>>11) / (1 << 53)
	rate := usual
	if r.On("accounts_by_email") { // a claim takes several transactions, and few changes would come to the one that counts
		rate /= 4
	}
	if known && w.seen[key] <= spell && float64(mix(w.seed, id, table, 4)>>11)/(1<<53) < usual {
		w.meet(forbidden, id)
		return []ct.Step{network, ct.Fail(ct.Code(gocql.ErrCodeUnauthorized))}
	}
	if known && w.seen[key] <= spell && float64(mix(w.seed, id, 3)>>11)/(1<<53) < 3*usual {
		w.meet(refused, id)
		return []ct.Step{network, ct.Fail(ct.Code(gocql.ErrCodeBootstrapping))}
	}
	for i := range faults {
		f := &faults[i]
		if f.of != nil && !f.of(r) {
			continue
		}
		if draw -= rate * f.times; draw < 0 {
			if known { // what is not known to be of a write is counted for none
				w.meet(f.name, id)
			}
			return append([]ct.Step{network}, f.do(r, mix(n, 2))...)
		}
	}
	return []ct.Step{network}
}

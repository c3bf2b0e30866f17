package cassandratest

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/streams"
	"github.com/gocql/gocql"
)

// Each error arrives as what gocql makes of it, with its fields, and nothing is applied unless the rule says so.
func TestErrors(t *testing.T) {
	t.Parallel()
	transports(t, func(t trial) {
		s := t.start(t, 1)
		session := open(t, s, nil)
		codes := map[string]int{
			"SERVER_ERROR": 0, "PROTOCOL_ERROR": 0xA, "AUTH_ERROR": 0x100, "OVERLOADED": 0x1001, "IS_BOOTSTRAPPING": 0x1002,
			"TRUNCATE_ERROR": 0x1003, "SYNTAX_ERROR": 0x2000, "UNAUTHORIZED": 0x2100, "INVALID": 0x2200, "CONFIG_ERROR": 0x2300,
			"FUNCTION_FAILURE": 0x1400, "ALREADY_EXISTS": 0x2400, "UNAVAILABLE": 0x1000, "READ_TIMEOUT": 0x1200, "READ_FAILURE": 0x1300,
			"CDC_WRITE_FAILURE": 0x1600, "CAS_WRITE_UNKNOWN": 0x1700,
		}
		fails := []Error{
			Code(gocql.ErrCodeAlreadyExists, []byte("\x00\x02ks\x00\x01t")...),
			Code(gocql.ErrCodeFunctionFailure, []byte("\x00\x02ks\x00\x01f\x00\x01\x00\x03int")...),
			Unavailable(gocql.EachQuorum, 2, 1), ReadTimeout(1, 2), ReadFailure(1, 2, 1),
			Code(gocql.ErrCodeCASWriteUnknown, []byte("\x00\x08\x00\x00\x00\x01\x00\x00\x00\x02")...),
		}
		for _, code := range []int{
			gocql.ErrCodeServer, gocql.ErrCodeProtocol, gocql.ErrCodeCredentials, gocql.ErrCodeOverloaded, gocql.ErrCodeBootstrapping,
			gocql.ErrCodeTruncate, gocql.ErrCodeSyntax, gocql.ErrCodeUnauthorized, gocql.ErrCodeInvalid, gocql.ErrCodeConfig,
			gocql.ErrCodeCDCWriteFailure,
		} {
			fails = append(fails, Code(code))
		}
		types := []string{"SIMPLE", "BATCH", "UNLOGGED_BATCH", "COUNTER", "BATCH_LOG", "CAS", "VIEW", "CDC"}
		for _, typ := range types {
			fails = append(fails, WriteTimeout(typ, 1, 2), WriteFailure(typ, 1, 2, 1))
			codes["WRITE_TIMEOUT "+typ], codes["WRITE_FAILURE "+typ] = 0x1100, 0x1500
		}
		for _, fail := range fails {
			for _, apply := range []bool{false, true} {
				steps := []Step{Fail(fail)}
				if apply {
					steps = []Step{Apply, Fail(fail)}
				}
				rule := s.When(Table("notes")).Do(steps...)
				err := session.Query(insertNote, 1, "milk").Exec()
				rule.End()
				var of gocql.RequestError
				if !errors.As(err, &of) || of.Code() != codes[fail.String()] {
					t.Errorf("%v arrives as %T %v", fail, err, err)
					continue
				}
				r := last(t, s, Execute)
				if (r.Applied == 1) != apply || rule.Handled() != 1 || r.Steps[len(r.Steps)-1] != fail.String() {
					t.Errorf("%v: %v", fail, r)
				}
				fields := reflect.Indirect(reflect.ValueOf(err))
				switch name, writeType, _ := strings.Cut(fail.String(), " "); name {
				case "WRITE_TIMEOUT", "WRITE_FAILURE":
					if fields.FieldByName("WriteType").String() != writeType || fields.FieldByName("Received").Int() != 1 || fields.FieldByName("BlockFor").Int() != 2 {
						t.Errorf("%v: %+v", fail, err)
					}
				case "UNAVAILABLE":
					if u := new(gocql.RequestErrUnavailable); !errors.As(err, &u) || u.Consistency != gocql.EachQuorum || u.Required != 2 || u.Alive != 1 {
						t.Errorf("%+v", err)
					}
				}
			}
		}
		s.When(Table("notes")).Do(Fail(Code(0x4321)))
		if err := session.Query(insertNote, 1, "milk").Exec(); err == nil || !strings.Contains(err.Error(), "0x4321") {
			t.Errorf("a code that does not exist: %v", err)
		}
		s.Heal()
		if err := session.Query(insertNote, 1, "milk").Exec(); err != nil {
			t.Error(err)
		}
	})
}

// What the steps of a rule do to the client, to the request and to the connection. The client waits for a second.
func TestSteps(t *testing.T) {
	t.Parallel()
	const late = 3 * time.Second
	for name, test := range map[string]struct {
		steps   []Step
		err     error         // nil: the write succeeds
		after   time.Duration // when the client knows
		applied time.Duration // when it is applied; negative if it is not
		lost    bool          // the connection is
		stuck   bool          // the connection answers nothing any more
		unsaid  int           // streams of which gocql says neither that they finished nor that they were abandoned
	}{
		"nothing":              {},
		"answer":               {steps: []Step{Answer}},
		"delay":                {steps: []Step{Delay(time.Second / 2)}, after: time.Second / 2, applied: time.Second / 2},
		"apply, delay":         {steps: []Step{Apply, Delay(time.Second / 2)}, after: time.Second / 2},
		"late reply":           {steps: []Step{Apply, Delay(late)}, err: gocql.ErrTimeoutNoResponse, after: time.Second},
		"drop":                 {steps: []Step{Drop}, err: gocql.ErrTimeoutNoResponse, after: time.Second, applied: -1},
		"apply, drop":          {steps: []Step{Apply, Drop}, err: gocql.ErrTimeoutNoResponse, after: time.Second},
		"drop, applied late":   {steps: []Step{Drop, Delay(late), Apply}, err: gocql.ErrTimeoutNoResponse, after: time.Second, applied: late},
		"cut":                  {steps: []Step{Cut}, err: io.EOF, applied: -1, lost: true},
		"apply, cut":           {steps: []Step{Apply, Cut}, err: io.EOF, lost: true},
		"cut, applied late":    {steps: []Step{Cut, Delay(late), Apply}, err: io.EOF, applied: late, lost: true},
		"delay, cut":           {steps: []Step{Delay(time.Second / 2), Cut}, err: io.EOF, after: time.Second / 2, applied: -1, lost: true},
		"cut in the header":    {steps: []Step{CutAfter(4)}, err: io.ErrUnexpectedEOF, lost: true},
		"cut in the body":      {steps: []Step{CutAfter(11)}, err: errors.New("unable to read frame body"), lost: true, unsaid: 1},
		"cut after the answer": {steps: []Step{CutAfter(13)}, lost: true},
		"stall in the header":  {steps: []Step{StallAfter(4, time.Second/2)}, after: time.Second / 2},
		"stall in the body":    {steps: []Step{StallAfter(11, time.Second/2)}, after: time.Second / 2},
		"stall forever":        {steps: []Step{StallAfter(4, 0)}, err: gocql.ErrTimeoutNoResponse, after: time.Second, stuck: true},
		"stall after answer":   {steps: []Step{StallAfter(13, 0)}, stuck: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Test(t, 1, func(t *testing.T, s *Cluster) {
				requests := &streams.Counter{}
				session := open(t, s, func(c *gocql.ClusterConfig) { c.StreamObserver = requests })
				write := func() error {
					return session.Query(insertNote, 1, "milk").WithContext(requests.Context(t.Context())).Exec()
				}
				if err := write(); err != nil { // prepares
					t.Fatal(err)
				}
				before := last(t, s, Execute).Conn
				s.When(Table("notes"), Nth(1)).Do(test.steps...)
				begin := time.Now()
				err := write()
				if took := time.Since(begin).Round(10 * time.Millisecond); took != test.after {
					t.Errorf("took %v, want %v", took, test.after)
				}
				switch {
				case test.err == nil && err != nil, test.err != nil && err == nil,
					test.err != nil && !errors.Is(err, test.err) && !strings.Contains(err.Error(), test.err.Error()):
					t.Errorf("error %v, want %v", err, test.err)
				}
				<-time.After(time.Second / 10) // to connect again
				next := write()
				if (next != nil) != test.stuck {
					t.Errorf("the next write: %v", next)
				}
				if lost := last(t, s, Execute).Conn != before; lost != test.lost && !test.stuck {
					t.Errorf("connection lost: %v", lost)
				}
				<-time.After(late)
				r := s.Journal(Execute)[1]
				switch {
				case test.applied < 0 && r.Applied != 0:
					t.Errorf("applied: %v", r)
				case test.applied >= 0 && (r.Applied != 1 || r.AppliedAt.Sub(begin).Round(10*time.Millisecond) != test.applied):
					t.Errorf("applied %d times, after %v: %v", r.Applied, r.AppliedAt.Sub(begin), r)
				}
				s.Close()
				<-time.After(time.Second)
				if requests.Open() > test.unsaid {
					t.Errorf("%d streams are open", requests.Open())
				}
			})
		})
	}
}

// A request that a node holds is lost with the node, and not held by the next life of it.
func TestHeldRequestIsLost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(*Node)
		applied   int
	}{
		"stopped":   {(*Node).Stop, 0},
		"restarted": {func(n *Node) { n.Stop(); n.Restore() }, 0},
		"silent":    {(*Node).Silence, 0},
		"vanished":  {(*Node).Vanish, 0},
		"frozen":    {func(n *Node) { n.Freeze(); time.AfterFunc(2*time.Second, n.Restore) }, 1},
		"cut off":   {(*Node).Cut, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Test(t, 3, func(t *testing.T, c *Cluster) {
				session := open(t, c, nil)
				c.When(Table("notes"), Nth(1)).Do(Delay(time.Second/2), Apply, Drop)
				go func() { _ = session.Query(insertNote, 1, "milk").Exec() }()
				<-time.After(time.Second / 10)
				held := last(t, c, Execute, Table("notes"))
				test.meanwhile(c.Node(held.Node))
				<-time.After(5 * time.Second)
				now := c.Journal(Where(func(r Request) bool { return r.Number == held.Number }))[0]
				if now.Applied != test.applied {
					t.Errorf("applied %d times: %v", now.Applied, now.Steps)
				}
			})
		})
	}
}

// A request may be applied more than once, as by a network that repeats it.
func TestAppliedTwice(t *testing.T) {
	t.Parallel()
	Test(t, 1, func(t *testing.T, s *Cluster) {
		session := open(t, s, nil)
		seen := 0
		s.Watch(func(Request) { seen++ })
		s.When().Do(Apply, Delay(time.Second/2), Apply)
		begin := time.Now()
		if err := session.Query(insertNote, 1, "milk").Exec(); err != nil {
			t.Fatal(err)
		}
		if r := last(t, s, Execute); r.Applied != 2 || seen != 2 || r.AppliedAt.Sub(begin) > time.Second/4 {
			t.Errorf("applied %d times, first after %v", r.Applied, r.AppliedAt.Sub(begin))
		}
	})
}

// On sockets the connection ends as in memory.
func TestCutSockets(t *testing.T) {
	t.Parallel()
	s := Listen(t, 1)
	session := open(t, s, nil)
	for _, steps := range [][]Step{{Cut}, {Apply, Cut}, {CutAfter(4)}, {CutAfter(11)}, {Delay(time.Millisecond), Cut}} {
		for session.Query(insertNote, 1, "milk").Exec() != nil { // until it is connected again
		}
		rule := s.When(Table("notes"), Nth(1)).Do(steps...)
		if err := session.Query(insertNote, 1, "milk").Exec(); err == nil {
			t.Errorf("%v: no error", steps)
		}
		rule.End()
		want := 0
		if steps[0].name != "cut" && steps[0].delay == 0 {
			want = 1
		}
		handled := s.Journal(Execute, Where(func(r Request) bool { return slices.Contains(r.Steps, steps[0].String()) }))
		if len(handled) == 0 || handled[len(handled)-1].Applied != want {
			t.Errorf("%v: %v", steps, handled)
		}
	}
}

// A node that has forgotten its statements says so, and gocql prepares them again. So it does when the server only says
// so.
func TestUnprepared(t *testing.T) {
	t.Parallel()
	Test(t, 1, func(t *testing.T, s *Cluster) {
		session := open(t, s, nil)
		batch := func() error {
			b := session.NewBatch(gocql.UnloggedBatch)
			b.Query(insertNote, 1, "milk")
			b.Query(insertOrder, gocql.UUID{}, 1, gocql.UUID{6: 0x10, 8: 0x80}, int64(1))
			return session.ExecuteBatch(b)
		}
		single := func() error { return session.Query(insertNote, 1, "milk").Exec() }
		for name, test := range map[string]struct {
			write                 func() error
			forget                bool
			executes, prepares    int
			appliedOf, statements int
		}{
			"forgotten, single": {single, true, 2, 1, 1, 1},
			"forgotten, batch":  {batch, true, 3, 2, 1, 2},
			"claimed, single":   {single, false, 2, 1, 1, 1},
			"claimed, batch":    {batch, false, 2, 1, 1, 2},
		} {
			if err := test.write(); err != nil {
				t.Fatal(err)
			}
			from := last(t, s).Number
			if test.forget {
				s.Node(1).Forget()
			} else {
				defer s.When(Nth(1)).Do(Fail(Unprepared)).End()
			}
			if err := test.write(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			executes, prepares, applied := 0, 0, 0
			for _, r := range s.Journal(Where(func(r Request) bool { return r.Number > from })) {
				if r.Kind == Prepare {
					prepares++
				} else {
					executes++
				}
				applied += r.Applied
			}
			if executes != test.executes || prepares != test.prepares || applied != test.appliedOf {
				t.Errorf("%s: %d executed, %d prepared, %d applied", name, executes, prepares, applied)
			}
			if r := last(t, s, Where(func(r Request) bool { return r.Applied > 0 })); len(r.Statements) != test.statements {
				t.Errorf("%s: %v", name, r)
			}
		}
		s.Heal()
		s.When(Table("notes")).Do(Fail(Unprepared)) // forever: gocql has no limit but the context
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := session.Query(insertNote, 1, "milk").WithContext(ctx).Exec(); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

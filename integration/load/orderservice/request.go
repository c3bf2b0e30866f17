package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// Request is what is sent, and sent again if need be.
type Request struct {
	Method, Path, Body string
	Key                gocql.UUID // of a write
}

func (r Request) write() bool { return r.Method != http.MethodGet }

// answer is what came back.
type answer struct {
	status  int // 0 if there was none
	order   orderservice.Order
	list    orderservice.List
	problem orderservice.Problem
	err     error
}

func (a answer) String() string {
	switch {
	case a.err != nil:
		return "no answer"
	case a.problem.Outcome != "":
		return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.status, a.problem.Outcome, a.problem.Reason))
	}
	return fmt.Sprintf("%d %s", a.status, a.order.Status)
}

func (a answer) success() bool { return a.status == http.StatusOK || a.status == http.StatusCreated }

// definite is whether the answer says what became of the request.
func (a answer) definite() bool {
	return a.success() || a.problem.Outcome == orderservice.NotApplied || a.problem.Outcome == orderservice.Refused
}

// refused is whether it is rejected for this reason.
func (a answer) refused(reason orderservice.Reason) bool {
	return a.status == http.StatusConflict && a.problem.Reason == reason
}

// resolve sends a request until it is known what became of it: open is false. A customer that is told "not applied" gives
// up, in half of the cases, unless an earlier try may have been applied.
func (c *customer) resolve(ctx context.Context, r Request) (a answer, open bool) {
	impatient := r.write() && c.chance(50)
	deadline := time.Now().Add(c.Patience)
	wait := 20 * time.Millisecond
	for try := 1; ; try++ {
		a = c.send(ctx, r, try)
		if !a.definite() {
			open = true
		}
		switch {
		case a.success(), a.refused(orderservice.Superseded):
			return a, false
		case a.problem.Outcome == orderservice.Refused: // but it speaks of this try
			return a, open
		case a.problem.Outcome == orderservice.NotApplied && impatient && !open:
			return a, false
		}
		if time.Now().Add(wait).After(deadline) || sleep.For(ctx, wait) != nil {
			return a, open || r.write()
		}
		wait = min(2*wait, time.Second)
	}
}

// send sends a request once, to the instance whose turn it is.
func (l *load) send(ctx context.Context, r Request, try int) answer {
	target := l.Targets[l.turn.Add(1)%uint64(len(l.Targets))]
	began := time.Now()
	a := l.exchange(ctx, target, r)
	l.report.add(sample{
		at: began, took: time.Since(began), write: r.write(), repeat: try > 1, outcome: a.problem.Outcome,
		definite: a.definite() && (r.write() || a.problem.Outcome != orderservice.NotApplied), // of a read that is no answer
	})
	return a
}

func (l *load) exchange(ctx context.Context, target string, r Request) (a answer) {
	status, body, err := r.Send(ctx, l.http, target)
	if err != nil {
		return answer{err: err}
	}
	a.status = status
	var into any = &a.problem
	if a.success() {
		into = &a.order
		if strings.Contains(r.Path, "limit=") {
			into = &a.list
		}
	}
	if err := json.Unmarshal(body, into); err != nil { // cut off, or not from the service
		return answer{err: err}
	}
	return a
}

// Send sends the request once, to an instance of the service.
func (r Request) Send(ctx context.Context, client *http.Client, target string) (status int, body []byte, err error) {
	sent, err := http.NewRequestWithContext(ctx, r.Method, target+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return 0, nil, err
	}
	if r.Body != "" {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.write() {
		sent.Header.Set(orderservice.KeyHeader, r.Key.String())
	}
	got, err := client.Do(sent)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(got.Body)
	_ = got.Body.Close() // it has been read
	return got.StatusCode, body, err
}

package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// request is what is sent, and sent again if need be.
type request struct {
	method, path, body string
	key                gocql.UUID // of a write
}

func (r request) write() bool { return r.method != http.MethodGet }

// answer is what came back.
type answer struct {
	status  int    // 0: nothing
	text    string // of the body, or why there is no answer
	order   orderservice.Order
	list    orderservice.List
	problem orderservice.Problem
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.text) }

func (a answer) success() bool {
	return a.status == http.StatusOK || a.status == http.StatusCreated || a.status == http.StatusNoContent
}

// definite says whether the answer tells what became of the request.
func (a answer) definite() bool {
	return a.success() || a.problem.Outcome == orderservice.NotApplied || a.problem.Outcome == orderservice.Refused
}

func (a answer) refused(reason orderservice.Reason) bool {
	return a.status == http.StatusConflict && a.problem.Reason == reason
}

// resolve sends a write until it is known what became of it: open is false. Half of the clients that live give up when
// they are told "not applied", unless an earlier try may have been applied.
func (c *client) resolve(ctx context.Context, r request) (a answer, open bool) {
	impatient, began, wait := c.chance(50) && c.lives, time.Now(), 20*time.Millisecond
	for try := 1; ; try++ {
		a = c.send(ctx, c.target(), r, try)
		open = open || !a.definite()
		switch {
		case a.success(), a.refused(orderservice.Superseded):
			return a, false
		case a.problem.Outcome == orderservice.Refused: // but it speaks of this try
			if open && !c.lives { // such a client asks only for what is allowed
				c.wrong("%s %s: try %d: %v", r.method, r.path, try, a)
			}
			return a, open
		case a.problem.Outcome == orderservice.NotApplied && impatient && !open:
			return a, false
		case time.Since(began) > c.patience:
			c.wrong("%s %s: unknown after %v: %v", r.method, r.path, c.patience, a)
			return a, true
		case sleep.For(ctx, wait) != nil:
			return a, true
		}
		wait = min(2*wait, time.Second)
	}
}

// get reads until a process answers. A process that has just ended gives no answer, or 503.
func (c *client) get(ctx context.Context, path string, q *query) (a answer, t Target, ok bool) {
	for began := time.Now(); ; {
		t = c.target()
		q.from = time.Now()
		a = c.send(ctx, t, request{method: http.MethodGet, path: path}, 1)
		q.to = time.Now()
		switch {
		case a.status != 0 && a.status != http.StatusServiceUnavailable:
			return a, t, true
		case time.Since(began) > c.patience:
			c.wrong("%s: GET %s: no answer in %v: %v", q.table, path, c.patience, a)
			return a, t, false
		case sleep.For(ctx, 20*time.Millisecond) != nil:
			return a, t, false
		}
	}
}

// target is the instance whose turn it is.
func (c *client) target() Target {
	if c.only != nil {
		return *c.only
	}
	targets := *c.targets.Load()
	return targets[c.turn.Add(1)%uint64(len(targets))]
}

// send sends a request once.
func (l *Load) send(ctx context.Context, t Target, r request, try int) answer {
	began := time.Now()
	a := l.exchange(ctx, t, r)
	l.add(sample{
		at: began, write: r.write(), repeat: try > 1, outcome: a.problem.Outcome,
		definite: a.definite() && (r.write() || a.problem.Outcome != orderservice.NotApplied), // which is no answer to a read
	})
	return a
}

func (l *Load) exchange(ctx context.Context, t Target, r request) answer {
	sent, err := http.NewRequestWithContext(ctx, r.method, t.URL+r.path, strings.NewReader(r.body))
	if err != nil {
		return answer{text: err.Error()}
	}
	if r.body != "" {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.write() {
		sent.Header.Set(orderservice.KeyHeader, r.key.String())
	}
	got, err := l.http.Do(sent)
	if err != nil {
		return answer{text: err.Error()}
	}
	body, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // it has been read
	a := answer{status: got.StatusCode, text: strings.TrimSpace(string(body))}
	switch {
	case a.status == http.StatusNoContent:
	case a.success():
		err = errors.Join(err, json.Unmarshal(body, &a.order), json.Unmarshal(body, &a.list))
	case json.Unmarshal(body, &a.problem) != nil && a.status >= 400 && a.status < 500:
		a.problem.Outcome = orderservice.Refused // in plain text
	}
	if err != nil { // cut off
		return answer{text: err.Error()}
	}
	return a
}

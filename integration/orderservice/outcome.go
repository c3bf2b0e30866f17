package orderservice

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/denorm-go/denorm/examples/orders"
)

// Outcome is what became of a request that was not answered with success.
type Outcome string

// The outcomes. The package documentation says what a client does with them.
const (
	Unknown    Outcome = "unknown"     // 202
	NotApplied Outcome = "not applied" // 503
	Refused    Outcome = "refused"     // 4xx
)

// Reason distinguishes the rejections of status 409.
type Reason string

// The reasons.
const (
	Transition Reason = "transition" // the status of the order does not allow the change
	Superseded Reason = "superseded" // the order was changed after the key was made
	KeyReused  Reason = "key reused" // the order was written by another request with the same key
)

// Problem is the body of every answer that is not success.
type Problem struct {
	Status  int     `json:"-"` // of HTTP
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason,omitempty"` // of status 409
	Error   string  `json:"error"`            // one sentence
	Retry   string  `json:"retry,omitempty"`  // what to do, where a repeat helps
	Order   *Order  `json:"order,omitempty"`  // as it is; of status 409
}

const repeat = "repeat the request with the same " + KeyHeader

var (
	notFound = &Problem{Status: http.StatusNotFound, Outcome: Refused, Error: "there is no such order"}
	// notApplied is the problem of a try of which nothing is in any table.
	notApplied = &Problem{
		Status: http.StatusServiceUnavailable, Outcome: NotApplied, Retry: repeat,
		Error: "the database cannot be reached; nothing was written by this request",
	}
	// unknown is the problem of a try of which anything may be true. Some tables may have it, or all, now or later.
	unknown = &Problem{
		Status: http.StatusAccepted, Outcome: Unknown, Retry: repeat,
		Error: "it is not known yet whether the request was carried out",
	}
)

func malformed(format string, args ...any) *Problem {
	return &Problem{Status: http.StatusBadRequest, Outcome: Refused, Error: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Outcome: Refused, Error: fmt.Sprintf(format, args...)}
}

// conflict is the problem of a change that the order, as it is, does not allow.
func conflict(reason Reason, current orders.Order, sentence string) *Problem {
	order := Show(current)
	return &Problem{Status: http.StatusConflict, Outcome: Refused, Reason: reason, Error: sentence, Order: &order}
}

func (p *Problem) answer(w http.ResponseWriter) {
	if p.Retry != "" {
		w.Header().Set("Retry-After", "1")
	}
	respond(w, p.Status, p)
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone does not read it
}

package orderservice

import (
	"net/http"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/writer"
)

// What is not known is never reported as failed, and what is known to have failed says so.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault
		status  int
		outcome Outcome
	}{
		"lost reply":             {lostReply, http.StatusAccepted, Unknown},
		"partial":                {partial, http.StatusAccepted, Unknown},
		"in the batchlog":        {inBatchlog, http.StatusAccepted, Unknown},
		"one table is not known": {fault{err: failure(writer.NotApplied, writer.Unknown, writer.NotApplied)}, http.StatusAccepted, Unknown},
		"not an error of writer": {strange, http.StatusAccepted, Unknown},
		"nothing":                {nothing, http.StatusServiceUnavailable, NotApplied},
		"refused by the writer":  {refusal, http.StatusUnprocessableEntity, Refused},
		"too large for a batch":  {tooLarge, http.StatusUnprocessableEntity, Refused},
	} {
		s := newShop(test.fault)
		key := s.keyAt(0)
		got := s.do(t, "POST", "/orders", key, orderBody)
		if got.status != test.status || got.problem.Outcome != test.outcome || got.problem.Error == "" {
			t.Errorf("%s: %d %s, want %d and %q", name, got.status, got.text, test.status, test.outcome)
		}
		helps := test.outcome != Refused
		if (got.header.Get("Retry-After") != "") != helps || strings.Contains(got.problem.Retry, KeyHeader) != helps {
			t.Errorf("%s: a repeat helps: %t; answered %v %s", name, helps, got.header, got.text)
		}
		if got.header.Get(KeyHeader) != key {
			t.Errorf("%s: the answer has the key %q", name, got.header.Get(KeyHeader))
		}
	}
}

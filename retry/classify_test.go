package retry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"
	"pgregory.net/rapid"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
	"github.com/denorm-go/denorm/retry"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, row := range golden() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.err != nil {
				checkRow(t, "built", row, row.err)
			}
			if row.frame != nil {
				checkRow(t, "decoded by gocql", row, decoded(t, row.frame))
			}
		})
	}
}

func checkRow(t *testing.T, origin string, row goldenRow, err error) {
	t.Helper()
	for i, kind := range kinds {
		reason := row.reason
		if row.want[i] == safeLog {
			reason += ".batch_log"
		}
		for _, shape := range []struct {
			name string
			err  error
		}{
			{"bare", err},
			{"wrapped", fmt.Errorf("request 2: %w", err)},
			{"wrapped twice", fmt.Errorf("write: %w", fmt.Errorf("request 2: %w", err))},
			{"joined alone", errors.Join(nil, err)},
		} {
			v := retry.Classify(shape.err, kind)
			if got := render(v); got != row.want[i] || v.Reason != reason {
				t.Errorf("%s, %s, %v (%T): got %q %q, want %q %q",
					origin, shape.name, kind, err, got, v.Reason, row.want[i], reason)
			}
		}
	}
}

// gocql answers with a value type that is not exported; if that changed, classification by interface would still have
// to find it, and the golden table would test something else than it says.
func TestDecodedErrorsAreGocqls(t *testing.T) {
	t.Parallel()
	err := decoded(t, errorBody(gocql.ErrCodeOverloaded))
	if got := fmt.Sprintf("%T", err); got != "gocql.errorFrame" {
		t.Errorf("overloaded is a %s", got)
	}
	var timeout *gocql.RequestErrWriteTimeout
	_, frame := writeTimeout("BATCH_LOG")
	if err := decoded(t, frame); !errors.As(err, &timeout) || timeout.WriteType != "BATCH_LOG" || timeout.BlockFor != 2 {
		t.Errorf("write timeout is %#v", err)
	}
}

func TestClassifyNil(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		if got := retry.Classify(nil, kind); got != (retry.Verdict{}) {
			t.Errorf("%v: %+v", kind, got)
		}
	}
}

// A kind that does not exist is trusted least: what is not clean for every kind is not clean for it.
func TestClassifyNoSuchKind(t *testing.T) {
	t.Parallel()
	for _, row := range golden() {
		if row.err == nil {
			continue
		}
		clean := true
		for _, want := range row.want {
			clean = clean && (strings.HasPrefix(want, safe) || want == permanent)
		}
		v := retry.Classify(row.err, retry.Kind(99))
		if (v.Outcome == retry.NotApplied) != clean {
			t.Errorf("%s: %v, clean for every kind: %v", row.name, v.Outcome, clean)
		}
		if v.Retry && !clean {
			t.Errorf("%s: %v, and to be retried", row.name, v.Outcome)
		}
	}
}

// What nobody has put on the list is never "not applied", whatever it looks like.
func TestClassifyAllowList(t *testing.T) {
	t.Parallel()
	clean := map[int]bool{ // codes that are clean for some kind
		gocql.ErrCodeProtocol: true, gocql.ErrCodeCredentials: true, gocql.ErrCodeUnavailable: true,
		gocql.ErrCodeOverloaded: true, gocql.ErrCodeBootstrapping: true, gocql.ErrCodeFunctionFailure: true,
		gocql.ErrCodeSyntax: true, gocql.ErrCodeUnauthorized: true, gocql.ErrCodeInvalid: true,
		gocql.ErrCodeConfig: true, gocql.ErrCodeAlreadyExists: true, gocql.ErrCodeUnprepared: true,
	}
	leaf := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) error { return errors.New(rapid.String().Draw(t, "text")) }),
		rapid.Custom(func(t *rapid.T) error {
			return requestError(rapid.OneOf(rapid.IntRange(-1, 0x2600), rapid.Int()).Filter(func(code int) bool {
				return !clean[code]
			}).Draw(t, "code"))
		}),
		rapid.Custom(func(t *rapid.T) error {
			return &gocql.RequestErrWriteTimeout{WriteType: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
				"SIMPLE", "BATCH", "BATCH_LOG", "UNLOGGED_BATCH", "COUNTER", "CAS", "VIEW", "CDC",
			})).Draw(t, "type")}
		}),
	)
	anything := rapid.SampledFrom([]error{gocql.ErrNoConnections, gocql.ErrSessionClosed, drivertest.MarshalError()})
	rapid.Check(t, func(t *rapid.T) {
		err := leaf.Draw(t, "leaf")
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			switch rapid.IntRange(0, 3).Draw(t, "wrap") {
			case 0:
				err = fmt.Errorf("wrapped: %w", err)
			case 1:
				err = errors.Join(err, anything.Draw(t, "beside"))
			case 2:
				err = errors.Join(anything.Draw(t, "before"), err)
			case 3:
				err = fmt.Errorf("%w, %w", err, leaf.Draw(t, "another"))
			}
		}
		kind := rapid.SampledFrom(kinds[:]).Draw(t, "kind")
		v := retry.Classify(err, kind)
		if v.Outcome == retry.NotApplied {
			t.Fatalf("%v: %v is %v (%s)", kind, err, v.Outcome, v.Reason)
		}
		if v.Retry && !kind.Idempotent() {
			t.Fatalf("%v: %v would be retried", kind, err)
		}
	})
}

// What the server sends must not become a reason, which is a metric's label.
func TestReasonsHoldNoText(t *testing.T) {
	t.Parallel()
	reasons := map[string]bool{}
	for _, row := range golden() {
		reasons[row.reason] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		err := &gocql.RequestErrWriteTimeout{WriteType: rapid.String().Draw(t, "type")}
		if v := retry.Classify(err, retry.Partition); !reasons[v.Reason] {
			t.Fatalf("reason %q", v.Reason)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = retry.Classify(&gocql.RequestErrWriteTimeout{WriteType: "BATCH_LOG"}, retry.LoggedBatch)
	}
}

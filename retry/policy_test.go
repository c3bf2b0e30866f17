package retry_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/denorm-go/denorm/retry"
)

func TestPolicyDefaults(t *testing.T) {
	t.Parallel()
	want := retry.Policy{
		MaxAttempts: 4, MaxElapsedTime: 5 * time.Second, AttemptTimeout: 2500 * time.Millisecond,
		InitialInterval: 50 * time.Millisecond, MaxInterval: time.Second, Multiplier: 2,
	}
	for _, c := range []struct {
		name     string
		in, want retry.Policy
	}{
		{"zero", retry.Policy{}, want},
		{"all set", want, want},
		{"short maximum", retry.Policy{MaxInterval: 10 * time.Millisecond}, func() retry.Policy {
			p := want
			p.InitialInterval, p.MaxInterval = 10*time.Millisecond, 10*time.Millisecond
			return p
		}()},
		{"long beginning", retry.Policy{InitialInterval: 3 * time.Second}, func() retry.Policy {
			p := want
			p.InitialInterval, p.MaxInterval = 3*time.Second, 3*time.Second
			return p
		}()},
		{"one attempt", retry.Policy{MaxAttempts: 1}, func() retry.Policy {
			p := want
			p.MaxAttempts = 1
			return p
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.in.Validate(); err != nil {
				t.Errorf("not valid: %v", err)
			}
			got := c.in.WithDefaults()
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if err := got.Validate(); err != nil {
				t.Errorf("not valid with defaults: %v", err)
			}
			if again := got.WithDefaults(); !reflect.DeepEqual(again, got) {
				t.Errorf("defaults of defaults: %+v", again)
			}
		})
	}
}

func TestPolicyValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy retry.Policy
		fields []string
	}{
		{"zero", retry.Policy{}, nil},
		{"multiplier one", retry.Policy{Multiplier: 1}, nil},
		{"attempts", retry.Policy{MaxAttempts: -1}, []string{"MaxAttempts"}},
		{"elapsed", retry.Policy{MaxElapsedTime: -1}, []string{"MaxElapsedTime"}},
		{"timeout", retry.Policy{AttemptTimeout: -1}, []string{"AttemptTimeout"}},
		{
			"elapsed without a unit",
			retry.Policy{MaxElapsedTime: 500},
			[]string{"MaxElapsedTime is 500ns, less than a millisecond"},
		},
		{
			"timeout without a unit",
			retry.Policy{AttemptTimeout: 2},
			[]string{"AttemptTimeout is 2ns, less than a millisecond"},
		},
		{
			"initial without a unit",
			retry.Policy{InitialInterval: 50},
			[]string{"InitialInterval is 50ns, less than a millisecond"},
		},
		{"maximum without a unit", retry.Policy{MaxInterval: 1000}, []string{"MaxInterval is 1µs, less than a millisecond"}},
		{"no waits", retry.Policy{InitialInterval: 1, MaxInterval: 1}, nil},
		{"a millisecond", retry.Policy{MaxElapsedTime: time.Millisecond, AttemptTimeout: time.Millisecond}, nil},
		{"initial", retry.Policy{InitialInterval: -1}, []string{"InitialInterval"}},
		{"maximum", retry.Policy{MaxInterval: -1}, []string{"MaxInterval"}},
		{
			"initial above maximum",
			retry.Policy{InitialInterval: 2 * time.Second, MaxInterval: time.Second},
			[]string{"InitialInterval is 2s, must not be above MaxInterval 1s"},
		},
		{"multiplier below one", retry.Policy{Multiplier: 0.5}, []string{"Multiplier"}},
		{"multiplier negative", retry.Policy{Multiplier: -2}, []string{"Multiplier"}},
		{"multiplier NaN", retry.Policy{Multiplier: math.NaN()}, []string{"Multiplier"}},
		{"multiplier infinite", retry.Policy{Multiplier: math.Inf(1)}, []string{"Multiplier"}},
		{"every fault at once", retry.Policy{-1, -1, -1, -1, -1, -1, nil}, []string{
			"MaxAttempts", "MaxElapsedTime", "AttemptTimeout", "InitialInterval", "MaxInterval", "Multiplier",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.policy.Validate()
			if len(c.fields) == 0 {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.fields) {
				t.Errorf("%d faults, want %d: %v", len(lines), len(c.fields), err)
			}
			for _, field := range c.fields {
				if !strings.Contains(err.Error(), field) {
					t.Errorf("%q is not named in: %v", field, err)
				}
			}
		})
	}
}

func TestPolicyBackOff(t *testing.T) {
	t.Parallel()
	own := func() backoff.BackOff { return backoff.NewConstantBackOff(time.Second) }
	for name, c := range map[string]struct {
		policy retry.Policy
		want   string
	}{
		"alone": {retry.Policy{BackOff: own}, ""},
		"with limits": {retry.Policy{
			BackOff: own, MaxAttempts: 2, MaxElapsedTime: time.Second,
			AttemptTimeout: time.Second,
		}, ""},
		"with InitialInterval": {retry.Policy{BackOff: own, InitialInterval: time.Second}, "BackOff makes all waits"},
		"with MaxInterval":     {retry.Policy{BackOff: own, MaxInterval: time.Second}, "BackOff makes all waits"},
		"with Multiplier":      {retry.Policy{BackOff: own, Multiplier: 2}, "BackOff makes all waits"},
		"of nil": {
			retry.Policy{BackOff: func() backoff.BackOff { return nil }},
			"BackOff returns nil: return a new",
		},
	} {
		err := c.policy.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		got := c.policy.WithDefaults()
		if err := got.Validate(); err != nil || got.BackOff == nil || got.MaxAttempts == 0 || got.MaxElapsedTime == 0 ||
			got.AttemptTimeout == 0 {
			t.Errorf("%s: with defaults %+v, %v", name, got, err)
		}
	}
}

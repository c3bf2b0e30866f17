package request

import (
	"math"
	"testing"
	"time"

	"github.com/denorm-go/denorm/retry"
)

// Every wait is uniform in [0, min(initial * multiplier^(n-1), maximum)).
func TestJitter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy retry.Policy
		bounds []time.Duration
	}{
		{"defaults", retry.Policy{}, []time.Duration{50e6, 100e6, 200e6, 400e6, 800e6, 1000e6, 1000e6}},
		{"constant", retry.Policy{InitialInterval: 1e6, Multiplier: 1}, []time.Duration{1e6, 1e6, 1e6}},
		{"steep", retry.Policy{InitialInterval: 1e6, MaxInterval: 5e6, Multiplier: 1e300}, []time.Duration{1e6, 5e6, 5e6}},
		{
			"long",
			retry.Policy{InitialInterval: math.MaxInt64 / 2, MaxInterval: math.MaxInt64},
			[]time.Duration{math.MaxInt64 / 2, math.MaxInt64, math.MaxInt64},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const runs = 4000
			p := c.policy.WithDefaults()
			quarters := make([][4]int, len(c.bounds))
			for range runs {
				j := jitter(p)
				for n, bound := range c.bounds {
					wait := j()
					if wait < 0 || wait >= bound {
						t.Fatalf("wait %d is %v, bound %v", n+1, wait, bound)
					}
					quarters[n][min(3, int(float64(wait)/float64(bound)*4))]++
				}
			}
			for n, counts := range quarters {
				for quarter, count := range counts {
					// 1000 expected, standard deviation 27: outside by chance once in 10^12.
					if count < 800 || count > 1200 {
						t.Errorf("wait %d: %d of %d in quarter %d", n+1, count, runs, quarter+1)
					}
				}
			}
		})
	}
}

// An interval of a nanosecond is the least there is.
func TestJitterShortest(t *testing.T) {
	t.Parallel()
	j := jitter(retry.Policy{InitialInterval: 1, MaxInterval: 1}.WithDefaults())
	for range 10 {
		if wait := j(); wait != 0 {
			t.Errorf("wait %v", wait)
		}
	}
}

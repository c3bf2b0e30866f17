// Package length sets how many cases a randomised test tries.
package length

import (
	"os"
	"strconv"
	"testing"
)

// Of returns a twentieth of full. The environment variable DENORM_TEST_LENGTH sets another factor: 1 is full length.
func Of(t *testing.T, full int) int {
	t.Helper()
	factor := 1.0 / 20
	if s := os.Getenv("DENORM_TEST_LENGTH"); s != "" {
		var err error
		if factor, err = strconv.ParseFloat(s, 64); err != nil || factor <= 0 {
			t.Fatalf("DENORM_TEST_LENGTH: %q is not a positive number", s)
		}
	}
	return max(1, int(factor*float64(full)))
}

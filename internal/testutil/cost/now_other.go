//go:build !linux

package cost

import "time"

// now is always equal: elsewhere time is not measured.
func now() time.Duration { return 0 }

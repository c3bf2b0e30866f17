// Package each makes a list of another one.
package each

// Of gives what a function makes of each of a list, and nil for an empty one.
func Of[A, B any](list []A, make func(A) B) []B {
	var out []B
	for _, a := range list {
		out = append(out, make(a))
	}
	return out
}

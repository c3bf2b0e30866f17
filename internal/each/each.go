// Package each makes a list of another one.
package each

// Of gives what a function makes of each of a list, and nil for an empty one.
func Of[A, B any](list []A, to func(A) B) []B {
	var out []B
	for _, a := range list {
		out = append(out, to(a))
	}
	return out
}

// Once gives a list without repeats, each as early as it comes.
func Once[T comparable](list []T) []T {
	known := make(map[T]bool, len(list))
	var out []T
	for _, x := range list {
		if !known[x] {
			out = append(out, x)
		}
		known[x] = true
	}
	return out
}

package reconcile

// Ranges is how many ranges each table is cut into, a divisor of 1<<64: tests of small tables need few.
func Ranges(count int) Option { return func(c *config) { c.ranges = count } }

package reconcile

// Ranges is how many ranges each table is cut into, a divisor of 1<<64: tests of small tables need few.
func Ranges(count int) Option { return func(c *config) { c.ranges = count } }

// Restored is how many stored findings a run that is resumed looks at again.
func Restored(count int) Option { return func(c *config) { c.restored = count } }

package schema

// Query is a statement that the service sends, as far as a review of its tables needs to understand it.
type Query struct {
	Text  string // in one line
	Verb  string // SELECT, INSERT, UPDATE or DELETE
	Table ID
	Where []Relation
	Order []Order // ORDER BY
	// Columns are the columns that it names, each once: those it selects, writes, restricts, groups or orders by, and those of its IF.
	Columns []string

	AllowFiltering bool
	Conditional    bool // IF
	Timestamped    bool // USING TIMESTAMP
	// TTL is the literal of USING TTL in seconds, 0 if there is none, -1 if it is bound.
	TTL int64
	// Batch tells queries of one batch apart from those of others; 0 is in none.
	Batch int
	// Logged says that the batch is a logged one.
	Logged bool
	At     Position
}

// Order is one column of an ORDER BY.
type Order struct {
	Column     string
	Descending bool
	// Near says that rows come in the order of their distance from a vector, the nearest first: ORDER BY column ANN OF ?.
	Near bool
}

// Relation is one restriction of a WHERE.
type Relation struct {
	Columns []string // one, or several of (a, b) > (?, ?); none in expr(index, ?)
	Token   bool     // of the token of the columns
	Op      string   // =, <, IN, CONTAINS, ...
	// Values is how many values are in an IN, -1 if that is bound as one.
	Values int
}

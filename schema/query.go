package schema

// Query is a statement that the service sends, in as much detail as a review of its tables needs.
type Query struct {
	Text  string // in one line
	Verb  string // SELECT, INSERT, UPDATE or DELETE
	Table ID
	Where []Relation
	Order []Order // ORDER BY
	// Columns are the columns that the statement names, each once: those it selects, writes, restricts, groups or orders by, and those
	// of its IF.
	Columns []string

	AllowFiltering bool
	Conditional    bool // IF
	Timestamped    bool // USING TIMESTAMP
	// TTL is the literal of USING TTL in seconds, 0 if there is none, -1 if it is bound.
	TTL int64
	// Batch is the same number for all queries of one batch or transaction; 0 means in neither.
	Batch int
	// Logged says that the batch is a logged one.
	Logged bool
	// Transaction says that it is a transaction of Cassandra 6, and Let is the name of a SELECT in it: LET name = (SELECT ...).
	Transaction bool
	Let         string
	At          Position
}

// Order is one column of an ORDER BY.
type Order struct {
	Column     string
	Descending bool
	// Near says that rows are ordered by their distance from a vector, the nearest first: ORDER BY column ANN OF ?.
	Near bool
}

// Relation is one restriction of a WHERE.
type Relation struct {
	Columns []string // one, or several of (a, b) > (?, ?); none in expr(index, ?)
	Token   bool     // the restriction is on the token of the columns
	Op      string   // =, <, IN, CONTAINS, ...
	// Values is how many values an IN has, -1 if they are bound as one list.
	Values int
}

package layout

// Kept is a column that the library keeps in tables of a set with conditions.
type Kept struct{ Name, Type string }

// The columns that the library keeps.
var (
	Token   = Kept{"claim", "timeuuid"}                // of a row of a Unique table
	Pending = Kept{"pending", "blob"}                  // of a Versioned base row: what its last change has left to be done
	Done    = Kept{"done", "timeuuid"}                 // the version that all query tables are known to have
	Recent  = Kept{"recent", "map<tinyint, timeuuid>"} // its last versions
)

// KeptInBase are the columns of a base row of a Versioned set.
var KeptInBase = []Kept{Pending, Done, Recent}

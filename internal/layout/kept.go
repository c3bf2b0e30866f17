package layout

// The columns that the library keeps in tables of a set with conditions, and their CQL types.
const (
	PendingColumn = "pending"
	PendingType   = "map<timeuuid, blob>"
	TokenColumn   = "claim"
	TokenType     = "timeuuid"
)

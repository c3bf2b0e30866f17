package tables

import (
	"github.com/denorm-go/denorm/internal/layout"
)

// InvalidError says why a change cannot be written: a row or a call that the declaration does not allow. Nothing has been sent. It never
// holds a value of the row. Its fields are the strings Entity, Table, Column and Reason; Table and Column may be empty.
type InvalidError = layout.InvalidError

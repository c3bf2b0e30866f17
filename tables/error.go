package tables

import "github.com/denorm-go/denorm/internal/entity"

// DeclarationError is returned by [New] and names every fault of the declaration at once. Its fields are Entity, the name, and Faults:
// each with a Table and a Column, which are empty where the fault concerns none in particular, and a Reason.
type DeclarationError = entity.DeclarationError

// InvalidError says why a change cannot be written: a row or a call that the declaration does not allow. Nothing has been sent. It never
// holds a value of the row. Its fields are Entity, Table, Column and Reason, strings; Table and Column may be empty.
type InvalidError = entity.InvalidError

// Package names has the names of what a workflow of reconcile/temporal has, for package commands.
package names

// The names.
const (
	Workflow = "denorm.reconcile" // type
	Plan     = "denorm.plan"      // activity
	Unit     = "denorm.unit"      // activity
	Pause    = "pause"            // signal
	Resume   = "resume"           // signal
	Rate     = "rate"             // signal
	Progress = "progress"         // query
)

package hot_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/load/hot"
)

var (
	// long gives the loads the length that their figures are reported for.
	long = flag.Bool("long", false, "run each load for 30 s, not for 5 s")
	// figures is for make soak.
	figures = flag.String("figures", "", "write the figures to this file, too")
)

// sheet has a line for each load of this run.
var sheet strings.Builder

func TestMain(m *testing.M) {
	var client hot.Client
	child.Main(reporting{m}, &client, client.Run)
}

// reporting writes the figures when all loads have run.
type reporting struct{ *testing.M }

func (r reporting) Run() int {
	code := r.M.Run()
	if *figures != "" {
		if err := os.WriteFile(*figures, []byte(sheet.String()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

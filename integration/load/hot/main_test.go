package hot_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/load/hot"
)

var (
	// long gives the loads the length that their figures are reported for.
	long = flag.Bool("long", false, "run each load for 30 s, not for 5 s")
	// figures is for make soak.
	figures = flag.String("figures", "", "write the table of figures to this file, too")
)

// sheet has the figures of all loads of this run.
var sheet hot.Sheet

func TestMain(m *testing.M) {
	var client hot.Client
	if is, err := child.Told(&client); is {
		if err == nil {
			err = client.Run(context.Background(), child.Over())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if table := sheet.String(); table != "" {
		fmt.Printf("\n%s\n", table)
		if *figures != "" {
			if err := os.WriteFile(*figures, []byte(table), 0o644); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

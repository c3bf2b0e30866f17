// Command driver does turns of contenders as bench asks for them: JSON, a line each, in and out. It is compiled with
// the library of the commit that is measured, so it uses nothing but what services use.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	hosts := flag.String("hosts", "", "nodes, with commas between them; none: seeming ones in this process")
	flag.Parse()
	var list []string
	if *hosts != "" {
		list = strings.Split(*hosts, ",")
	}
	place, err := turn.Open(ctx, list)
	if err != nil {
		return err
	}
	defer place.Close()
	stage, in, out := turn.Stage{Place: place, Contenders: turn.Contenders}, json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o turn.Order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		r, err := stage.Turn(ctx, o)
		if err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

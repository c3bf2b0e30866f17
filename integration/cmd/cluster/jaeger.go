package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

// runJaeger runs the server until a signal comes.
func runJaeger(ctx context.Context) (err error) {
	server, err := jaeger.Start(ctx, jaeger.OTLPPort, jaeger.WebPort, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Fprintf(os.Stderr, "Jaeger takes spans at %s and gives traces at %s/api/traces; its web page is only in the container\n",
		server.OTLP, server.URL)
	for _, variable := range server.Env() {
		fmt.Println("export " + variable)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-server.Ended():
		return errors.New("it has ended")
	}
}

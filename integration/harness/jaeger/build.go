package jaeger

import (
	"context"
	"io"

	"github.com/denorm-go/denorm/integration/harness/program"
)

var allInOne = program.Program{
	Name: "Jaeger", Package: "github.com/jaegertracing/jaeger/cmd/all-in-one", Folder: "integration/harness/jaeger/server", Takes: "two minutes",
	Else: ", or set " + URLEnv,
}

// Build builds what [Start] starts, unless that is done already. Tests would do it themselves, but they have a time limit.
func Build(ctx context.Context, out io.Writer) error {
	_, err := allInOne.Binary(ctx, out)
	return err
}

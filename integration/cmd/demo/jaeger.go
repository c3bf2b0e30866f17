package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

// exportTime is how long the demo waits for a Jaeger that does not answer.
const exportTime = 3 * time.Second

// collector is what the environment says of where traces go.
type collector struct {
	otlp string // takes spans
	page string // shows them; empty if it is not known
}

// findJaeger returns nil if traces are to go nowhere.
func findJaeger() *collector {
	if server := jaeger.FromEnv(); server != nil {
		return &collector{otlp: server.OTLP, page: server.URL}
	}
	if otlp := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv(jaeger.OTLPEnv)); otlp != "" {
		return &collector{otlp: otlp}
	}
	return nil
}

// exporter does not connect yet.
func (c *collector) exporter(ctx context.Context) (*otlptrace.Exporter, error) {
	return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(c.otlp), otlptracegrpc.WithTimeout(exportTime),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: false}))
}

// show sends what is not sent yet and says where it can be seen. That it cannot be sent is no failure of the demo.
func (c *collector) show(ctx context.Context, out *screen, provider *sdktrace.TracerProvider, trace string) {
	if c == nil {
		out.say("With %s set it goes to Jaeger too; make jaeger, in another terminal, starts one and says how.", jaeger.URLEnv)
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, exportTime, fmt.Errorf("no answer for %v", exportTime))
	defer cancel()
	err := provider.ForceFlush(ctx)
	_ = provider.Shutdown(ctx) // there is nothing left to send
	if err != nil {
		out.say("Nobody takes traces at %s: %s", c.otlp, oneLine(cmp.Or(context.Cause(ctx), err).Error()))
		return
	}
	if c.page == "" {
		out.say("It was sent to %s as trace %s.", c.otlp, trace)
		return
	}
	out.say("In Jaeger, as a page and as JSON:")
	out.line(margin + out.styled(c.page+"/trace/"+trace, cyan))
	out.line(margin + out.styled(c.page+"/api/traces/"+trace, cyan))
}

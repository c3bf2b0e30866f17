package tracing_test

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// What a call gives by its context is on its span, with what a call around it has given, and on no span of a request
// and in no metric.
func TestAttributesOfACall(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		meters, metrics := meter(t)
		w := s.w.With(s.by(tracing.New(tracing.WithTracerProvider(s.provider), tracing.WithMeterProvider(meters))))
		outer := tracing.ContextWithAttributes(t.Context(), attribute.String("shop.channel", "web"),
			attribute.String("shop.tier", "one"))
		inner := tracing.ContextWithAttributes(outer, attribute.String("shop.tier", "two"))
		ann := guest{GuestID: gocql.MustRandomUUID(), Name: "ann"}
		if _, err := w.Write(outer, "outer", guests.Insert(ann)); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Modify(inner, w, "inner", guests, ann, visit); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(t.Context(), "none", memos.Insert(newMemo())); err != nil {
			t.Fatal(err)
		}
		tiers := map[string]string{"outer": "one", "inner": "two", "Modify inner": "two", "none": ""}
		seen := 0
		for _, span := range s.exporter.GetSpans() {
			channel, tier := text(span, "shop.channel"), text(span, "shop.tier")
			if span.SpanKind == trace.SpanKindClient {
				if channel+tier != "" {
					t.Errorf("%s has %s and %s", span.Name, channel, tier)
				}
				continue
			}
			seen++
			if tier != tiers[span.Name] || (channel == "web") != (tier != "") {
				t.Errorf("%s has the channel %q and the tier %q", span.Name, channel, tier)
			}
		}
		if seen != len(tiers) {
			t.Errorf("%d of %d operations", seen, len(tiers))
		}
		if all := table(collect(t, metrics)); strings.Contains(all, "shop.") ||
			!strings.Contains(all, "denorm.write.duration") {
			t.Errorf("the metrics are\n%s", all)
		}
	})
}

package main

import (
	"context"
	"os"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// telemetry is where spans and metrics go. What is nil goes nowhere.
type telemetry struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider

	stops []func(context.Context) error
}

// startTelemetry makes providers as the environment asks for; OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and the other
// variables of OpenTelemetry count too. Metrics have to be asked for by themselves, as Jaeger takes none.
func startTelemetry(ctx context.Context) (*telemetry, error) {
	t := new(telemetry)
	service, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("orderservice")), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, err
	}
	if asked("OTEL_EXPORTER_OTLP_ENDPOINT") || asked("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
		exporter, err := otlptracegrpc.New(ctx)
		if err != nil {
			return nil, err
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(service))
		t.tracers, t.stops = provider, append(t.stops, provider.Shutdown)
	}
	if asked("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") {
		exporter, err := otlpmetricgrpc.New(ctx)
		if err != nil {
			return nil, err
		}
		provider := sdkmetric.NewMeterProvider(
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)), sdkmetric.WithResource(service))
		t.meters, t.stops = provider, append(t.stops, provider.Shutdown)
	}
	return t, nil
}

func asked(name string) bool { return os.Getenv(name) != "" }

// stop sends what is not sent yet. That it could not is no reason for the service to fail.
func (t *telemetry) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for _, stop := range t.stops {
		_ = stop(ctx) // OpenTelemetry's own error handler has logged it
	}
}

package security

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"sync"
	"testing"

	"github.com/gocql/gocql"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// service is an order service as its operator sees it: its configuration, and all that comes out of it.
type service struct {
	config  *gocql.ClusterConfig
	wire    *wire
	secrets secrets

	driverLog, serviceLog output
	spans                 *tracetest.InMemoryExporter
	metrics               *sdkmetric.ManualReader
	tracer                session.Tracer
}

// newService is configured well for a role.
func newService(user, password string) *service {
	s := &service{wire: new(wire), spans: tracetest.NewInMemoryExporter(), metrics: sdkmetric.NewManualReader()}
	s.secrets = append(keyForms(node.client), passwordForms(user, password)...)
	s.tracer = tracing.Multi(
		tracing.New(tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(s.spans))),
			tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(s.metrics)))),
		tracing.Slog(slog.New(slog.NewJSONHandler(&s.serviceLog, &slog.HandlerOptions{Level: slog.LevelDebug}))))

	c := gocql.NewCluster(node.extra.Host())
	c.Port = tlsPort
	c.Keyspace = "shop"
	c.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: password}
	c.SslOpts = &gocql.SslOptions{Config: node.tls()}
	c.Events.DisableSchemaEvents = true // gocql follows one for a minute, even in a closed session
	c.Logger = log.New(&s.driverLog, "", 0)
	c.Dialer = s.wire
	s.config = c
	return s
}

// connect opens a session that is closed with the test.
func (s *service) connect(t *testing.T) *gocql.Session {
	t.Helper()
	opened, err := session.Connect(session.Configure(s.config, "dc1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	return opened
}

func (s *service) writer(t *testing.T) *writer.Writer {
	t.Helper()
	w, err := writer.New(testsession.New(t, s.connect(t), s.connect(t), session.Trace(s.tracer)))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// exported is what goes to the OpenTelemetry collector.
func (s *service) exported(t *testing.T) string {
	t.Helper()
	var metrics metricdata.ResourceMetrics
	if err := s.metrics.Collect(context.WithoutCancel(t.Context()), &metrics); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, thing := range []any{s.spans.GetSpans(), metrics} {
		text, err := json.Marshal(thing)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n%+v\n", text, thing)
	}
	return out.String()
}

// keepsSecrets looks for the secrets in all that came out of the service.
func (s *service) keepsSecrets(t *testing.T, errs ...error) {
	t.Helper()
	s.secrets.absent(t, "gocql's log", s.driverLog.String())
	s.secrets.absent(t, "slog", s.serviceLog.String())
	s.secrets.absent(t, "OpenTelemetry", s.exported(t))
	for _, err := range errs {
		s.secrets.absentFrom(t, err)
	}
}

// output is a log that many write to.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

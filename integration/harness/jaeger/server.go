package jaeger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/program"
)

// What a program is told of a server by.
const (
	// URLEnv names the environment variable with the URL of Jaeger's page and HTTP API.
	URLEnv = "DENORM_JAEGER_URL"
	// OTLPEnv names OpenTelemetry's own environment variable for where spans are sent to.
	OTLPEnv = "OTEL_EXPORTER_OTLP_ENDPOINT"
)

// Ports of Jaeger, unless told otherwise.
const (
	OTLPPort = 4317
	WebPort  = 16686
)

// startTimeout is far above what a start takes on a busy machine: a second or two.
const startTimeout = 2 * time.Minute

// Server is a Jaeger that runs.
type Server struct {
	OTLP string // URL that takes spans by gRPC
	URL  string // of the page and the HTTP API

	process *program.Process // nil if it is not ours
}

// Env is what a command needs to find the server.
func (s *Server) Env() []string { return []string{OTLPEnv + "=" + s.OTLP, URLEnv + "=" + s.URL} }

// Close stops the server, if it was started here.
func (s *Server) Close() error {
	if s.process == nil {
		return nil
	}
	return s.process.Stop()
}

// Ended is closed when the server has ended, also if nobody stopped it. It is nil for one that was not started here.
func (s *Server) Ended() <-chan struct{} {
	if s.process == nil {
		return nil
	}
	return s.process.Ended
}

// Start starts a server, built first if need be, and waits until it answers. A port that is held, or 0, is replaced by
// one that is free. It tells out what takes time.
func Start(ctx context.Context, otlpPort, webPort int, out io.Writer) (*Server, error) {
	path, err := allInOne.Binary(ctx, out)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("start Jaeger: no answer after %v", startTimeout))
	defer cancel()
	const tries = 3 // somebody may take a port between the look for it and the start
	for try := 1; ; try++ {
		s, err := start(ctx, path, otlpPort, webPort)
		if err == nil || try == tries || !strings.Contains(err.Error(), "address already in use") {
			return s, err
		}
	}
}

func start(ctx context.Context, path string, otlpPort, webPort int) (*Server, error) {
	var addresses [3]string
	for i, port := range []int{otlpPort, webPort, 0} {
		var err error
		if addresses[i], err = program.FreePort(ctx, port); err != nil {
			return nil, err
		}
	}
	otlp, web, admin := addresses[0], addresses[1], addresses[2]
	s := &Server{OTLP: "http://" + otlp, URL: "http://" + web}
	var err error
	if s.process, err = program.Start("Jaeger", path, arguments(otlp, web, admin), environment()); err != nil {
		return nil, err
	}
	// At its admin address it says that all of it has started. The others could be answered by another server, which was
	// faster to take the ports.
	started := func(ctx context.Context) error { return (&Server{URL: "http://" + admin}).answers(ctx, "/") }
	if err := s.process.Await(ctx, started); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// arguments have it listen on loopback, at known ports; it also opens others, which nobody needs.
func arguments(otlp, web, admin string) []string {
	const free = "127.0.0.1:0"
	args := []string{"--memory.max-traces=10000", "--log-level=warn"}
	for flag, address := range map[string]string{
		"collector.otlp.grpc.host-port":             otlp,
		"query.http-server.host-port":               web,
		"collector.otlp.http.host-port":             free,
		"collector.grpc-server.host-port":           free,
		"collector.http-server.host-port":           free,
		"query.grpc-server.host-port":               free,
		"admin.http.host-port":                      admin,
		"http-server.host-port":                     free,
		"processor.jaeger-binary.server-host-port":  free,
		"processor.jaeger-compact.server-host-port": free,
		"processor.zipkin-compact.server-host-port": free,
		"reporter.grpc.host-port":                   otlp, // of the agent, which has nothing to report
	} {
		args = append(args, "--"+flag+"="+address)
	}
	return args
}

// ready returns why the server cannot be asked.
func (s *Server) ready(ctx context.Context) error { return s.answers(ctx, "/api/services") }

func (s *Server) answers(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return fmt.Errorf("ask Jaeger: %w", err)
	}
	request.Close = true // no connection stays behind
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask Jaeger: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d", s.URL, response.StatusCode)
	}
	return errors.Join(err, response.Body.Close())
}

// environment is what Jaeger sees. Variables would set what arguments do not, and have it trace itself elsewhere.
func environment() []string {
	env := []string{"OTEL_TRACES_SAMPLER=always_off", "GOMEMLIMIT=400MiB"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

var allInOne = program.Program{
	Name: "Jaeger", Package: "github.com/jaegertracing/jaeger/cmd/all-in-one", Folder: "integration/harness/jaeger/server", Takes: "two minutes",
	Else: ", or set " + URLEnv,
}

// Build builds what [Start] starts, unless that is done already. Tests would do it themselves, but they have a time
// limit.
func Build(ctx context.Context, out io.Writer) error {
	_, err := allInOne.Binary(ctx, out)
	return err
}

// Serve returns the server that the environment names, or else one of the test's own, which is stopped when the test
// ends.
func Serve(tb testing.TB) *Server {
	tb.Helper()
	if s := FromEnv(); s != nil {
		if err := s.ready(context.Background()); err != nil {
			tb.Fatalf("%s=%s: %v", URLEnv, s.URL, err)
		}
		return s
	}
	s, err := Start(context.Background(), 0, 0, tb.Output())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("stop Jaeger: %v", err)
		}
	})
	return s
}

// FromEnv returns the server that the environment names, or nil.
func FromEnv() *Server {
	url := os.Getenv(URLEnv)
	if url == "" {
		return nil
	}
	return &Server{URL: strings.TrimRight(url, "/"), OTLP: cmp.Or(os.Getenv(OTLPEnv), "http://127.0.0.1:4317")}
}

package traces

import (
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/denorm-go/denorm/tracing"
)

// What Prometheus makes of the names, units and attributes. Dashboards and alerts are written against these.
func TestPrometheusScrape(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	exporter, err := promexporter.New(promexporter.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	shop := open(t, tracing.New(tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)))))
	business(t, shop)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer server.Close()

	families := scrape(t, server)
	scope := []string{"otel_scope_name", "otel_scope_schema_url", "otel_scope_version", "db_system_name", "denorm_op"}
	type family struct {
		kind   dto.MetricType
		labels []string // of all series together
	}
	for name, want := range map[string]family{
		"db_client_operation_duration_seconds": {dto.MetricType_HISTOGRAM, []string{
			"db_namespace", "db_collection_name", "db_operation_name", "db_query_summary", "db_response_status_code", "error_type",
		}},
		"denorm_write_duration_seconds": {dto.MetricType_HISTOGRAM, []string{"denorm_mode", "denorm_outcome", "error_type"}},
		"denorm_retries_total": {dto.MetricType_COUNTER, []string{
			"db_namespace", "db_collection_name", "denorm_retry_class", "error_type",
		}},
		"denorm_outcomes_total": {dto.MetricType_COUNTER, []string{"db_namespace", "db_collection_name", "denorm_outcome"}},
	} {
		got := families[name]
		if got == nil {
			t.Errorf("no %s", name)
			continue
		}
		delete(families, name)
		if got.GetType() != want.kind || got.GetHelp() == "" {
			t.Errorf("%s is a %v: %q", name, got.GetType(), got.GetHelp())
		}
		labels := make(map[string]bool)
		for _, metric := range got.GetMetric() {
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = true
			}
			if want.kind == dto.MetricType_HISTOGRAM {
				wantBuckets(t, name, metric.GetHistogram())
			}
		}
		names, all := slices.Sorted(maps.Keys(labels)), slices.Sorted(slices.Values(append(want.labels, scope...)))
		if !slices.Equal(names, all) {
			t.Errorf("%s has the labels\n\t%v, want\n\t%v", name, names, all)
		}
	}
	delete(families, "target_info")
	for name := range families {
		t.Errorf("%s is not documented", name)
	}
}

// scrape reads the text that Prometheus would.
func scrape(t *testing.T, server *httptest.Server) map[string]*dto.MetricFamily {
	t.Helper()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %s", response.StatusCode, err, body)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(body)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("scraped:\n%s", body)
		}
	})
	return families
}

func wantBuckets(t *testing.T, name string, h *dto.Histogram) {
	t.Helper()
	var bounds []float64
	for _, bucket := range h.GetBucket() {
		bounds = append(bounds, bucket.GetUpperBound())
	}
	if want := append(slices.Clone(buckets), math.Inf(1)); !slices.Equal(bounds, want) {
		t.Errorf("%s has the buckets %v, want %v", name, bounds, want)
	}
}

package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.yaml.in/yaml/v4"

	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

const operations = "../../../docs/operations/"

// Every selector of the alert rules, their tests and the dashboard selects a series that the library exports: names,
// labels and values are those of OpenTelemetry's Prometheus exporter.
func TestSelectorsOfRules(t *testing.T) {
	t.Parallel()
	known := exported(t)
	for file, least := range map[string]int{"denorm.rules.yml": 11, "denorm.rules.test.yml": 24, "denorm.drift.test.yml": 8, "denorm.dashboard.json": 23} {
		text, err := os.ReadFile(operations + file)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := yaml.Unmarshal(text, &document); err != nil { // JSON is YAML too
			t.Fatal(file, err)
		}
		found := 0
		for _, expr := range expressions(document) {
			found++
			for _, problem := range check(expr, known) {
				t.Errorf("%s: %s in %s", file, problem, expr)
			}
		}
		if found < least {
			t.Errorf("%s: found %d expressions", file, found)
		}
	}
}

// The runbook has a section for each alert, and each alert is tested.
func TestAlertsHaveSections(t *testing.T) {
	t.Parallel()
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert               string
				Labels, Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile(operations + "denorm.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	var tests []byte
	for _, file := range []string{"denorm.rules.test.yml", "denorm.drift.test.yml"} {
		text, err := os.ReadFile(operations + file)
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, text...)
	}
	alerts := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			alerts++
			page, anchor, _ := strings.Cut(rule.Annotations["runbook_url"], "#")
			if page != "https://github.com/denorm-go/denorm/blob/main/docs/runbook.md" || anchor != strings.ToLower(rule.Alert) ||
				!hasHeading(t, "../../../docs/runbook.md", anchor) {
				t.Errorf("%s: there is no section %s#%s", rule.Alert, page, anchor)
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s lacks a summary or a description", rule.Alert)
			}
			if !slices.Contains([]string{"critical", "warning"}, rule.Labels["severity"]) {
				t.Errorf("%s has the severity %q", rule.Alert, rule.Labels["severity"])
			}
			if !strings.Contains(string(tests), rule.Alert) {
				t.Errorf("no test of %s", rule.Alert)
			}
		}
	}
	if alerts < 11 {
		t.Errorf("found %d alerts", alerts)
	}
}

// Panels have numbers of their own and do not overlap.
func TestDashboardPanels(t *testing.T) {
	t.Parallel()
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
		}
	}
	text, err := os.ReadFile(operations + "denorm.dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	ids, cells := make(map[int]bool), make(map[[2]int]string)
	for _, p := range dashboard.Panels {
		if p.ID == 0 || ids[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, taken := cells[cell]; taken {
					t.Fatalf("%q and %q overlap", p.Title, other)
				}
				cells[cell] = p.Title
			}
		}
	}
}

// metric is an exported one: the labels of each of its series.
type metric []map[string]string

// exported is what a Prometheus scrapes of a tracer that was told of every kind of write, of a read and of runs of
// reconcile.
func exported(t *testing.T) map[string]metric {
	t.Helper()
	registry := prometheus.NewRegistry()
	exporter, err := promexporter.New(promexporter.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	tracer := tracing.New(tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))))
	operate(t, tracer.(toldTracer))
	reconciled(t, tracer.(runtrace.RunTracer))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]metric)
	for _, family := range families {
		names := []string{family.GetName()}
		if family.GetMetric()[0].GetHistogram() != nil {
			names = []string{family.GetName() + "_count", family.GetName() + "_sum", family.GetName() + "_bucket"}
		}
		for _, name := range names {
			for _, series := range family.GetMetric() {
				labels := map[string]string{"job": "", "instance": ""} // of the scrape
				if strings.HasSuffix(name, "_bucket") {
					labels["le"] = ""
				}
				for _, pair := range series.GetLabel() {
					labels[pair.GetName()] = pair.GetValue()
				}
				known[name] = append(known[name], labels)
			}
		}
	}
	return known
}

// toldTracer is told of requests and retries.
type toldTracer interface {
	session.Tracer
	session.RequestTracer
	session.RetryTracer
}

// operate tells a tracer of writes that end in every way, in every mode, and of a read that fails.
func operate(t *testing.T, tracer toldTracer) {
	t.Helper()
	const op, table, statement = "createOrder", "orders_by_user", "INSERT INTO shop.orders_by_user (order_id) VALUES (?)"
	failure := func(outcomes ...writer.Outcome) *writer.Error {
		e := &writer.Error{Op: op}
		for _, o := range outcomes {
			e.Tables = append(e.Tables, writer.TableResult{Keyspace: "shop", Table: table, Outcome: o, Err: errors.New("timeout")})
		}
		return e
	}
	ends := []error{
		nil, failure(writer.Unknown), failure(writer.Applied, writer.NotApplied), failure(writer.NotApplied),
		fmt.Errorf("resume: %w", writer.ErrExpired), fmt.Errorf("write: %w", writer.ErrConflict),
	}
	for _, mode := range []writer.Mode{writer.None, writer.FanOut, writer.LoggedBatch, writer.Fallback, writer.Conditional} {
		for _, end := range ends {
			ctx := tracer.TraceStart(t.Context(), session.OperationStart{Op: op, Changes: 1})
			request := tracer.TraceRequestStart(ctx, session.RequestStart{
				Op: op, Mode: mode.String(), Keyspace: "shop", Tables: []string{table}, Statements: []string{statement},
			})
			tracer.TraceRetry(request, session.Retry{Attempt: 1, Verdict: retry.Verdict{Reason: "unavailable"}, Err: end})
			refused := end != nil
			result := session.RequestEnd{Outcome: writer.Applied, Attempts: 2, BudgetSpent: refused}
			if refused {
				result.Outcome, result.Reason, result.Err = writer.Unknown, "unavailable", end
			}
			tracer.TraceRequestEnd(request, result)
			tracer.TraceEnd(ctx, session.OperationEnd{Op: op, Mode: mode.String(), Requests: 1, Stragglers: 1, Err: end})
		}
	}
	ctx := tracer.TraceStart(t.Context(), session.OperationStart{Operation: session.OperationRead, Op: "listOrders", Table: table})
	tracer.TraceEnd(ctx, session.OperationEnd{Operation: session.OperationRead, Op: "listOrders", Keyspace: "shop", Err: errors.New("timeout")})
}

// reconciled tells a tracer of runs whose repairs end in every way.
func reconciled(t *testing.T, tracer runtrace.RunTracer) {
	t.Helper()
	const set, table = "order", "shop.orders_by_user"
	for _, kind := range []string{"verify", "repair", "backfill", "adopt", "watch"} {
		ctx := tracer.TraceRunStart(t.Context(), runtrace.RunStart{Kind: kind, Entity: set, Tables: []string{table}, Began: time.Now(), Full: true})
		unit := tracer.TraceUnitStart(ctx, runtrace.UnitStart{Kind: kind, Table: table})
		tracer.TraceUnitEnd(unit, runtrace.UnitEnd{Kind: kind, Table: table, Rows: 1})
		for outcome := reconcile.Found; outcome <= reconcile.Failed; outcome++ {
			tracer.TraceFinding(ctx, runtrace.RunFinding{
				Kind: kind, Table: table, Class: reconcile.Missing.String(), Certainty: reconcile.Settled.String(), Outcome: outcome.String(),
			})
		}
		tracer.TraceRun(ctx, runtrace.RunState{Kind: kind, Entity: set, Done: 1})
		tracer.TraceRunEnd(ctx, runtrace.RunEnd{Kind: kind, Entity: set, Complete: true, Tables: []runtrace.RunTable{{Table: table, Rows: 1}}})
	}
}

// expressions are the values of expr, series and query, but for those that name no metric.
func expressions(document any) (found []string) {
	switch d := document.(type) {
	case map[string]any:
		for key, value := range d {
			if text, is := value.(string); is && slices.Contains([]string{"expr", "series", "query"}, key) && strings.Contains(text, "_") {
				found = append(found, text)
			}
			found = append(found, expressions(value)...)
		}
	case []any:
		for _, value := range d {
			found = append(found, expressions(value)...)
		}
	}
	return found
}

var (
	values   = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`) // of Grafana
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
	matching = regexp.MustCompile(`\bon \([^)]*\)`) // labels that both sides have, so that they are grouped by
	selector = regexp.MustCompile(`\b((?:denorm|db)_\w+|ALERTS)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(=~|!=|!~|=)"([^"]*)"`)
)

// check says what a PromQL expression selects or groups by that is not exported.
func check(expr string, known map[string]metric) (problems []string) {
	expr = matching.ReplaceAllString(values.ReplaceAllString(expr, "by ($2) $1"), "")
	begin, labels, found := 0, "", 0
	of := func(part string) { // what is grouped by labels
		for _, s := range selector.FindAllStringSubmatch(part, -1) {
			found++
			if s[1] != "ALERTS" { // what is in it, promtool tests
				problems = append(problems, known[s[1]].check(s[0], s[2], labels)...)
			}
		}
	}
	for _, at := range grouping.FindAllStringSubmatchIndex(expr, -1) {
		of(expr[begin:at[0]])
		begin, labels = at[1], expr[at[2]:at[3]]
	}
	of(expr[begin:])
	if found == 0 {
		problems = append(problems, "found no metric")
	}
	return problems
}

// check says what a selector of the metric, and the labels that it is grouped by, have that no series of it has.
func (m metric) check(selector, matchers, labels string) (problems []string) {
	if m == nil {
		return []string{"there is no " + selector}
	}
	if !slices.ContainsFunc(m, func(series map[string]string) bool {
		return matches(series, matcher.FindAllStringSubmatch(matchers, -1))
	}) {
		problems = append(problems, "no series matches "+selector)
	}
	for label := range strings.SplitSeq(labels, ",") {
		label = strings.TrimSpace(label)
		if label != "" && !slices.ContainsFunc(m, func(series map[string]string) bool { _, has := series[label]; return has }) {
			problems = append(problems, selector+" has no label "+label)
		}
	}
	return problems
}

// matches says whether a series has all labels, with these values unless they are variables of a dashboard, or names
// that tests make up.
func matches(series map[string]string, matchers [][]string) bool {
	for _, m := range matchers {
		label, operator, value := m[1], m[2], m[3]
		have, has := series[label]
		switch {
		case !has:
			return false
		case strings.HasPrefix(value, "$"), !slices.Contains([]string{"denorm_outcome", "denorm_mode", "denorm_reconcile_kind"}, label):
		case operator == "=" && have != value,
			operator == "=~" && !regexp.MustCompile("^(?:"+value+")$").MatchString(have):
			return false
		}
	}
	return true
}

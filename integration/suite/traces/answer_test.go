package traces

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
)

var errEnough = errors.New("enough")

const answer = `{"data":[{"traceID":"t1","spans":[
	{"spanID":"c","operationName":"INSERT b","references":[{"refType":"CHILD_OF","spanID":"w"}],"startTime":30,"duration":5,
		"tags":[{"key":"denorm.attempts","type":"int64","value":12345678901234567},{"key":"error","type":"bool","value":true}],
		"logs":[{"timestamp":31,"fields":[{"key":"event","type":"string","value":"retry"},
			{"key":"denorm.retry.wait_ms","type":"float64","value":12.5}]}],"processID":"p1"},
	{"spanID":"b","operationName":"INSERT a","references":[{"refType":"CHILD_OF","spanID":"w"}],
		"startTime":30,"processID":"p1"},
	{"spanID":"w","operationName":"createOrder","references":[{"refType":"FOLLOWS_FROM","spanID":"b"},
		{"refType":"CHILD_OF","spanID":"elsewhere"}],"startTime":20,"duration":20,"processID":"p1"}],
	"processes":{"p1":{"serviceName":"orders"}}}],"errors":null}`

// sentTwice has one span twice and lacks another.
var sentTwice = strings.Replace(answer, `{"spanID":"b"`, `{"spanID":"c"`, 1)

func TestParse(t *testing.T) {
	t.Parallel()
	var all struct{ Data []*Trace }
	if err := json.Unmarshal([]byte(answer), &all); err != nil || len(all.Data) != 1 {
		t.Fatalf("%d traces, %v", len(all.Data), err)
	}
	trace := all.Data[0]
	var names []string
	var add func(indent string, spans []*Span)
	add = func(indent string, spans []*Span) {
		for _, span := range spans {
			names = append(names, indent+span.Name)
			add(indent+" ", span.Children)
		}
	}
	add("", trace.Roots)
	if got, want := strings.Join(names, "\n"), "createOrder\n INSERT a\n INSERT b"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if trace.ID != "t1" || len(trace.Spans) != 3 || !strings.Contains(string(trace.JSON), "elsewhere") {
		t.Errorf("trace %+v", trace)
	}
	span := trace.Roots[0].Children[1]
	if span.Start != 30 || span.Tags["denorm.attempts"] != "12345678901234567" || span.Tags["error"] != "true" {
		t.Errorf("span %+v", span)
	}
	if len(span.Events) != 1 || span.Events[0].Name != "retry" || span.Events[0].Tags["denorm.retry.wait_ms"] != "12.5" {
		t.Errorf("events %+v", span.Events)
	}
}

// The server is asked until it has the whole trace; an answer that says no is not taken for one that says not yet.
func TestAwait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []string // the last one again and again; a number is a status
		want    error
		says    string
	}{
		"at last":   {answers: []string{"404", `{"data":[]}`, sentTwice, answer}},
		"never":     {answers: []string{`{"data":[]}`}, want: errEnough},
		"a failure": {answers: []string{"500"}, says: "answers 500"},
		"an error":  {answers: []string{`{"errors":[{"msg":"out of disk"}]}`}, says: "out of disk"},
		"no JSON":   {answers: []string{"<html>"}, says: "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text := test.answers[min(asked, len(test.answers)-1)]
				if asked++; asked > 20 {
					cancel(errEnough)
				}
				switch text {
				case "404":
					http.Error(w, `{"errors":[{"code":404,"msg":"trace not found"}]}`, http.StatusNotFound)
				case "500":
					http.Error(w, "no", http.StatusInternalServerError)
				default:
					_, _ = w.Write([]byte(text))
				}
			}))
			defer server.Close()
			trace, err := await(ctx, &jaeger.Server{URL: server.URL}, "t1", 3)
			switch {
			case test.want == nil && test.says == "":
				if err != nil || len(trace.Spans) != 3 || asked != len(test.answers) {
					t.Errorf("%+v, %v after %d requests", trace, err, asked)
				}
			case !errors.Is(err, test.want) && test.want != nil, err == nil, !strings.Contains(err.Error(), test.says):
				t.Errorf("%v, want %v %s", err, test.want, test.says)
			}
		})
	}
}

func TestNoTrace(t *testing.T) {
	t.Parallel()
	server := jaeger.Serve(t)
	if _, err := traceOf(t.Context(), server, "0123456789abcdef0123456789abcdef"); !errors.Is(err, errNoTrace) {
		t.Errorf("%v, want errNoTrace", err)
	}
	if traces, err := tracesOf(t.Context(), server, "nobody", 10); err != nil || len(traces) > 0 {
		t.Errorf("%v, %v", traces, err)
	}
}

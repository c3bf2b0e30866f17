package traces

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// anyOf are tags whose values differ from run to run, and the form that they must have.
var anyOf = map[string]*regexp.Regexp{
	"server.address":           regexp.MustCompile(`^[0-9a-f.:]+$`),
	"network.peer.address":     regexp.MustCompile(`^[0-9a-f.:]+$`),
	"server.port":              regexp.MustCompile(`^\d+$`),
	"network.peer.port":        regexp.MustCompile(`^\d+$`),
	"cassandra.coordinator.id": regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`),
	"cassandra.coordinator.dc": regexp.MustCompile(`^\S+$`),
	"db.query.text":            regexp.MustCompile(`^(INSERT INTO|UPDATE|DELETE FROM) [^']*\?[^']*$`),
}

// left are tags that depend on Jaeger's version and on how this program was built.
var left = []string{"internal.span.format", "otel.scope.version"}

// render prints a trace with all of its tags, siblings by name, and what differs from run to run left out.
func render(trace *Trace, keyspace string) string {
	var b strings.Builder
	var add func(depth int, spans []*Span)
	add = func(depth int, spans []*Span) {
		indent := strings.Repeat("    ", depth)
		spans = slices.SortedFunc(slices.Values(spans), func(a, b *Span) int { return strings.Compare(a.Name, b.Name) })
		for _, span := range spans {
			fmt.Fprintf(&b, "%s%s\n", indent, span.Name)
			printTags(&b, indent+"  ", span.Tags)
			for _, event := range span.Events {
				fmt.Fprintf(&b, "%s  event %s\n", indent, event.Name)
				printTags(&b, indent+"    ", event.Tags)
			}
			add(depth+1, span.Children)
		}
	}
	add(0, trace.Roots)
	return strings.ReplaceAll(b.String(), keyspace, "KEYSPACE")
}

func printTags(b *strings.Builder, indent string, tags map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if slices.Contains(left, key) {
			continue
		}
		value := tags[key]
		if form := anyOf[key]; form != nil && form.MatchString(value) {
			value = "(one)"
		}
		fmt.Fprintf(b, "%s%s=%s\n", indent, key, value)
	}
}

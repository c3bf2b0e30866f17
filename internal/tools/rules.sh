#!/bin/sh
# Checks what docs/operations has for Prometheus: the alert rules, their tests, and that every expression of the dashboard is PromQL.
set -eu
cd "$(dirname "$0")/../../docs/operations"
if ! command -v promtool >/dev/null; then
	echo "make: the rules need promtool, which comes with Prometheus: brew install prometheus, or on Debian or Ubuntu" >&2
	echo "make: sudo apt-get install prometheus (it also starts a Prometheus), or https://prometheus.io/download/" >&2
	exit 1
fi
promtool check rules denorm.rules.yml
promtool test rules denorm.rules.test.yml denorm.drift.test.yml

# A string of JSON is one of YAML too, so each expression becomes a recording rule; Grafana's interval is any.
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
panels=$scratch/dashboard.yml
echo 'groups: [{name: dashboard, rules: [' >"$panels"
sed -n 's/\$__rate_interval/5m/g; s/^ *"expr": \(".*"\),*$/{record: "panel", labels: {line: "LINE"}, expr: \1},/p' denorm.dashboard.json |
	awk '{sub(/LINE/, NR); print}' >>"$panels"
echo ']}]' >>"$panels"
[ "$(grep -c record "$panels")" = "$(grep -c '"expr"' denorm.dashboard.json)" ] || { echo "denorm.dashboard.json: not each expr is on a line of its own" >&2; exit 1; }
promtool check rules "$panels"

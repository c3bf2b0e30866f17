//go:build planted

package simulation_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/planted"
)

// bugs are promises of the library broken.
var bugs = []struct{ name, file, text, wrong, finds string }{
	{
		"lists are written", "internal/declare/declare.go",
		"b.set.Columns[i].ReadOnly && !slices.Contains(t.Key, i)", "false && !slices.Contains(t.Key, i)",
		"Lists: the notes of order",
	},
	{
		"counters are sent again", "retry/verdict.go",
		"Retry: kind.Idempotent(),", "Retry: kind.Idempotent() || kind == Counter,",
		"no choice of",
	},
	{
		"counters are sent to two replicas", "internal/fanout/task.go",
		"if t.flight.sender.Hedge > 0 && t.request.Kind.Idempotent() {", "if t.flight.sender.Hedge > 0 {",
		"no choice of",
	},
	{
		"what may have happened is forgotten when it is refused later", "retry/outcome.go",
		"\t\treturn NotApplied\n\t}\n\treturn Unknown\n", "\t\treturn NotApplied\n\t}\n\treturn next\n",
		"(?:unsound outcome|one caller was told)",
	},
	{
		"what timed out has not happened", "retry/server.go",
		"v := unknown(kind, reasonWriteTimeout+", "v := safe(reasonWriteTimeout+",
		"(?:unsound outcome|one caller was told)",
	},
	{
		"what an overloaded node refused was not counted", "retry/server.go",
		"if kind == Partition {\n\t\treturn safe(ReasonOverloaded)", "if kind == Partition || kind == Counter {\n\t\treturn safe(ReasonOverloaded)",
		"Counters: page",
	},
	{
		"a row that moves is removed only where its writer has seen it", "internal/entity/place.go",
		"\tswept := t.Swept\n", "\tswept := t.Follows\n",
		"ghost",
	},
	{
		"a logged batch is not logged", "internal/fanout/executor.go",
		"kind = gocql.LoggedBatch", "kind = gocql.UnloggedBatch",
		"(missing|ghost)",
	},
	{
		"what a dead client has begun is not finished by the next one", "internal/decide/versioned/forward.go",
		"return store.ApplyToQueryTables(ctx, row, row.Current(), pending.Keys)", "return nil",
		"Versioned: account",
	},
	{
		"a refused transaction proves that an earlier attempt was not applied", "internal/decide/versioned/settle.go",
		"if s.sent {\n\t\treturn retry.Unknown\n\t}\n\treturn s.tried\n", "return retry.NotApplied\n",
		"Versioned: ",
	},
	{
		"what was not applied is believed of an error that is delivered again", "writer/resume.go",
		"p.Kind != retry.Counter && p.Outcome == NotApplied {", "p.Kind != retry.Counter && p.Outcome == NotApplied && p.Err == nil {",
		"(?:unsound outcome|one caller was told)",
	},
	{
		"a transaction that is delivered again was never sent", "writer/resume.go",
		"if next.known.Outcome == NotApplied {", "if next.known.Outcome == NotApplied && !next.decision.Versions {",
		"Versioned: (change .* one caller was told|account .* the register says)",
	},
	{
		"a change that is delivered again gives up the key that its row has got back", "internal/decide/versioned/change.go",
		"if c.Sent && !s.first {", "if c.Sent && !s.first && false {",
		"Versioned: .*(register|one address)",
	},
	{
		"the mark of a change that is delivered again is not looked at", "writer/resume.go",
		"if next.known.Outcome == NotApplied {", "if next.known.Outcome == NotApplied && next.decision.Versions {",
		"Compare, Mark: change ",
	},
	{
		"a stored change that takes a key over throws away what its owner has left", "internal/entity/claim.go",
		"\t\tout.Base.stored = c.base.stored\n", "",
		"Versioned: (account .* by status|[0-9]+ divergences of accounts)",
	},
	{
		"a Resume says that the query tables have what another client has left, and sends nothing", "internal/decide/versioned/base.go",
		"\t\tif row, err = whole.Read(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n", "\t\tif err == nil {\n\t\t\treturn nil\n\t\t}\n",
		"Versioned: (account .* by status|[0-9]+ divergences of accounts)",
	},
	{
		"a patch that comes after its end deletes the row", "internal/statement/mutation.go",
		"\tout := new(Mutation)\n\tm.compileMerge(out, keys, key, at, ended)\n",
		"\t_ = ended\n\tout := &Mutation{Args: AppendArgs([]any{at}, key)}\n\tout.Statement, out.Names = RemoveText(Qualified(m.Keyspace, m.Table), keys)\n",
		"ExpiresAt, Patch: login",
	},
	{
		"a bucket stays when what it follows from goes", "internal/declare/declare.go",
		"may(i) || d != nil && slices.ContainsFunc(d.Sources, may)", "may(i) || d != nil && false",
		"phantom",
	},
	{
		"query tables that anyone brings up to date are said to be without the write", "writer/error.go",
		"!r.Counter && e.decision.Follows(r.Keyspace, r.Table) {", "r.Counter && e.decision.Follows(r.Keyspace, r.Table) {",
		"to the table by status, and is there",
	},
	{
		"a later change of a process gets an earlier timestamp", "writer/clock.go",
		"given = max(given, floor+1); given > t {", "given > t && floor != 0 {",
		"a process has acknowledged a write at",
	},
	{
		"rows of query tables do not lead to their base rows", "internal/entity/place.go",
		"if v := &r.After[i]; v.Data != nil || r.nulls(i) {",
		"if v := &r.After[i]; (v.Data != nil || r.nulls(i)) && !slices.Contains(t.Leads, i) {",
		"ID, OneOf.*missing",
	},
	{
		"a row that is repaired gets the default_time_to_live of its table", "internal/statement/mutation.go",
		"m.Expires != 0 || m.ends != 0 {", "m.Expires != 0 || m.ends != 0 || true {",
		"left: repair: order",
	},
	{
		"a repair carries out what is from the future", "internal/repair/repair.go",
		"case l.ahead() != 0:", "case false:",
		"repair of what is from too far ahead",
	},
	{
		"a write without a permission is resumed for ever", "retry/server.go",
		"case gocql.ErrCodeUnauthorized:\n\t\treturn true", "case gocql.ErrCodeUnauthorized:\n\t\treturn false",
		"to be resumed without a permission",
	},
}

// ofWriter are promises broken, each with the test of package writer that finds it: a world would have to wait long for
// the error that matters.
var ofWriter = []struct{ name, file, text, wrong, finds string }{
	{
		"a condition whose commit had no quorum was never proposed", "retry/server.go",
		"if consistency == gocql.Consistency(gocql.Serial) || consistency == gocql.Consistency(gocql.LocalSerial) {", "if true {",
		"TestNoQuorumForACommit",
	},
	{
		"of a group that a coordinator found unavailable nothing was sent", "retry/server.go",
		"case Partition, Counter:\n\t\treturn safe(\"unavailable\")", "case Partition, Counter, UnloggedBatch:\n\t\treturn safe(\"unavailable\")",
		"TestWireGroupOutcomes/unavailable",
	},
	{
		"of a group that an overloaded node refused nothing was sent", "retry/server.go",
		"if kind == Partition {\n\t\treturn safe(ReasonOverloaded)", "if kind == Partition || kind == UnloggedBatch {\n\t\treturn safe(ReasonOverloaded)",
		"TestWireGroupOutcomes/overloaded",
	},
	{
		"what a group failed with is taken as if of a single request", "internal/request/retrier.go",
		"run.kind = retry.UnloggedBatch", "run.kind = kind",
		"TestWireGroupOutcomes/unavailable",
	},
	{
		"a request that goes on alone forgets its group", "internal/request/retrier.go",
		"\t\tif alone {\n\t\t\trun.ctx", "\t\tif alone {\n\t\t\trun.result.Outcome = retry.NotApplied\n\t\t\trun.ctx",
		"TestWireGroupOutcomes/timeout_UNLOGGED_BATCH,_applied",
	},
	{
		"the entry of a change goes although its group has failed", "writer/run.go",
		"p.decision.Conclude != nil && fanout.AllApplied(p.Requests) {", "p.decision.Conclude != nil {",
		"TestWireGroupOutcomesAfterACondition/unavailable",
	},
	{
		"the version of an insert is made before its claim of the ID", "writer/decisions.go",
		"if p.decision.Parts[0].ClaimsID() {", "if false {",
		"TestInsertResumedOverAClaimOfItsEntity/of_another_insert",
	},
}

// Every one of these promises that the library would break is found.
func TestPlantedInWriter(t *testing.T) {
	t.Parallel()
	for _, bug := range ofWriter {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			test, part, _ := strings.Cut(bug.finds, "/")
			args := []string{"-vet=off", "-cpu", "1", "-run", "^" + test + "$/^" + part + "$", "github.com/denorm-go/denorm/writer"}
			output := planted.Find(t, "../../../"+bug.file, bug.text, bug.wrong, args...)
			t.Logf("%s", find(t, output, `--- FAIL: `+bug.finds+` .*\n.*`)[0])
		})
	}
	t.Run("no groups are made", func(t *testing.T) {
		t.Parallel()
		output := planted.Find(t, "../../../internal/fanout/group.go", "if s.Group == 0 || n < 2", "if true || s.Group == 0 || n < 2",
			simulated("-writes", "10000", "-size", "1000")...)
		t.Logf("%s", find(t, output, `no write has met: group in part`)[0])
	})
}

// Every promise that the library would break is found, as a rule in the first worlds.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			output := planted.Find(t, "../../../"+bug.file, bug.text, bug.wrong, simulated("-writes", "100000", "-size", "1000")...)
			what := find(t, output, `seed \d+: (.*`+bug.finds+`.*)`)
			cost := find(t, output, `(\S+) of real time\n +(\d+) logical writes`)
			t.Logf("after %s writes and %s: %s", cost[2], cost[1], what[1])
		})
	}
	t.Run("what two goroutines resume at the same time is shared", func(t *testing.T) {
		t.Parallel()
		args := append([]string{"-race"}, simulated("-writes", "2000", "-size", "250")...)
		output := planted.Find(t, "../../../writer/resume.go", "next.requests = slices.Clone(e.requests)\n\tfor i := range next.requests {\n\t\tif p", "next.requests = e.requests\n\tfor i := range next.requests {\n\t\tif p", args...)
		find(t, output, `WARNING: DATA RACE(?:\n.*)*?\(\*Error\)\.doubted`)
		t.Logf("a data race after %s", find(t, output, `(\S+) of real time`)[1])
	})
}

// simulated are the arguments of a simulation on one processor: those of other bugs run at the same time.
func simulated(flags ...string) []string {
	return append([]string{"-vet=off", "-cpu", "1", "-run", "^TestSimulation$", "."}, flags...)
}

func find(t *testing.T, output []byte, pattern string) [][]byte {
	t.Helper()
	match := regexp.MustCompile(pattern).FindSubmatch(output)
	if match == nil {
		t.Fatalf("it is not found, but something else:\n%s", output)
	}
	return match
}

package cluster

import (
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
)

func TestRenderYAML(t *testing.T) {
	t.Parallel()
	got, err := render(`/home/a "b"/denorm/nodes/2`, loopback(2), tokens(2, 3), loopbacks(3), releases[0])
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "cassandra.yaml", string(got))
}

func TestTokensAreSpreadEvenly(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3} {
		var all []*big.Int
		for n := 1; n <= nodes; n++ {
			for _, text := range tokens(n, nodes) {
				token, ok := new(big.Int).SetString(text, 10)
				if !ok || !token.IsInt64() {
					t.Fatalf("token %q of node %d is no 64 bit number", text, n)
				}
				all = append(all, token)
			}
		}
		slices.SortFunc(all, (*big.Int).Cmp)
		if len(all) != nodes*tokensPerNode || all[0].String() != "-9223372036854775807" {
			t.Fatalf("%d tokens from %s", len(all), all[0])
		}
		step := new(big.Int).Sub(all[1], all[0])
		for i := 1; i < len(all); i++ {
			if new(big.Int).Sub(all[i], all[i-1]).Cmp(step) != 0 {
				t.Errorf("%d nodes: uneven at %s", nodes, all[i])
			}
		}
	}
}

func TestJarsAreFoundOnlyWhole(t *testing.T) {
	t.Parallel()
	home, stable := t.TempDir(), releases[0]
	if _, ok := stable.findJars(home); ok {
		t.Error("found in an empty directory")
	}
	if err := os.Mkdir(stable.jarDir(home), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"jamm-0.4.0.jar", "cassandra-all-" + stable.version + ".jar"} {
		if _, ok := stable.findJars(home); ok {
			t.Errorf("found with %d of 2 jars", i)
		}
		if err := os.WriteFile(stable.jarDir(home)+"/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if lib, ok := stable.findJars(home); !ok || !strings.HasSuffix(lib.agent, "jamm-0.4.0.jar") {
		t.Errorf("findJars = %+v, %t", lib, ok)
	}
}

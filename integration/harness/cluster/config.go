package cluster

import (
	"bytes"
	_ "embed" // the files of a node
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
)

var (
	//go:embed cassandra.yaml.tmpl
	yamlText     string
	yamlTemplate = template.Must(template.New("cassandra.yaml").Option("missingkey=error").
			Funcs(template.FuncMap{"quote": strconv.Quote, "path": filepath.Join}).Parse(yamlText))
)

//go:embed logback.xml
var logback []byte

// tokensPerNode keeps token ranges few, as every one of them costs time at start.
const tokensPerNode = 4

// renderYAML writes the cassandra.yaml of node n out of nodes, whose directory is dir.
func renderYAML(dir string, n, nodes int, r release) ([]byte, error) {
	return render(dir, loopback(n), tokens(n, nodes), loopbacks(nodes), r)
}

func render(dir, address string, tokens, seeds []string, r release) ([]byte, error) {
	var out bytes.Buffer
	err := yamlTemplate.Execute(&out, map[string]any{
		"Directory":   dir,
		"TokenCount":  tokensPerNode,
		"Tokens":      strings.Join(tokens, ","),
		"Seeds":       strings.Join(seeds, ","),
		"Address":     address,
		"StoragePort": storagePort,
		"CQLPort":     cqlPort,
		"Accord":      r.accord,
	})
	if err != nil {
		return nil, fmt.Errorf("cassandra.yaml: %w", err)
	}
	return out.Bytes(), nil
}

// tokens spreads the nodes' tokens evenly over the ring, in turns: node 1, 2, 3, 1, 2, 3...
func tokens(n, nodes int) []string {
	first := new(big.Int).Lsh(big.NewInt(-1), 63)
	step := new(big.Int).Lsh(big.NewInt(1), 64)
	step.Div(step, big.NewInt(int64(tokensPerNode*nodes)))
	list := make([]string, tokensPerNode)
	for i := range list {
		// The lowest possible token is reserved, so all are moved up by one.
		token := new(big.Int).Mul(step, big.NewInt(int64(i*nodes+n-1)))
		list[i] = token.Add(token, first).Add(token, big.NewInt(1)).String()
	}
	return list
}

// writeConfig fills the directory of node n.
func writeConfig(dir string, n, nodes int, r release) error {
	yaml, err := renderYAML(dir, n, nodes, r)
	if err != nil {
		return err
	}
	return writeFiles(dir, n, yaml)
}

func writeFiles(dir string, n int, yaml []byte) error {
	for _, sub := range []string{"conf", "data", "log", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return fmt.Errorf("node directory: %w", err)
		}
	}
	for name, content := range map[string][]byte{
		"cassandra.yaml":              yaml,
		"logback.xml":                 logback,
		"cassandra-rackdc.properties": fmt.Appendf(nil, "dc=dc1\nrack=rack%d\n", n),
	} {
		if err := os.WriteFile(filepath.Join(dir, "conf", name), content, 0o600); err != nil {
			return fmt.Errorf("node configuration: %w", err)
		}
	}
	return nil
}

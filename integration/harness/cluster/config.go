package cluster

import (
	"bytes"
	_ "embed" // the files of a node
	"fmt"
	"math"
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

// render writes the cassandra.yaml of a node whose directory is dir.
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
	step := math.MaxUint64 / uint64(tokensPerNode*nodes)
	list := make([]string, tokensPerNode)
	for i := range list {
		// The lowest possible token is reserved, so all are moved up by one.
		list[i] = strconv.FormatInt(math.MinInt64+int64(step*uint64(i*nodes+n-1))+1, 10)
	}
	return list
}

// twoDatacentres is how many nodes make two datacentres of three.
const twoDatacentres = 6

// datacentre is the datacentre of node n, counted from 1.
func datacentre(n int) string {
	if n > twoDatacentres/2 && n <= twoDatacentres {
		return "dc2"
	}
	return "dc1"
}

// writeFiles fills the directory of node n.
func writeFiles(dir string, n int, yaml []byte) error {
	for _, sub := range []string{"conf", "data", "log", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return fmt.Errorf("node directory: %w", err)
		}
	}
	for name, content := range map[string][]byte{
		"cassandra.yaml":              yaml,
		"logback.xml":                 logback,
		"cassandra-rackdc.properties": fmt.Appendf(nil, "dc=%s\nrack=rack%d\n", datacentre(n), n),
	} {
		if err := os.WriteFile(filepath.Join(dir, "conf", name), content, 0o600); err != nil {
			return fmt.Errorf("node configuration: %w", err)
		}
	}
	return nil
}

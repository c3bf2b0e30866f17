package reconcile

import (
	"math"
	"testing"
)

// A node reports the ranges that are its own. Those of nodes that do not answer are taken to have as much as the
// others.
func TestSizesOfAllNodes(t *testing.T) {
	t.Parallel()
	const least, quarter, half = "-9223372036854775808", "-4611686018427387904", "0"
	for name, c := range map[string]struct {
		of               map[[2]string]size
		vague            bool
		partitions, size float64
	}{
		"nothing":                    {map[[2]string]size{}, false, 0, 0},
		"nothing in data files":      {map[[2]string]size{{least, half}: {}, {half, least}: {}}, false, 0, 0},
		"all nodes":                  {map[[2]string]size{{least, half}: {10, 100}, {half, least}: {30, 200}}, false, 40, 7000},
		"half of the ring":           {map[[2]string]size{{least, half}: {10, 100}}, false, 20, 2000},
		"a quarter of the ring":      {map[[2]string]size{{least, quarter}: {10, 100}}, false, 40, 4000},
		"around the end of the ring": {map[[2]string]size{{half, quarter}: {30, 10}}, false, 40, 400},
		"too few to be counted":      {map[[2]string]size{{least, half}: {1, 50}, {half, least}: {1, 50}}, true, 2, 0},
	} {
		if partitions, size := (sizes{c.of, c.vague}).total(); math.Abs(partitions-c.partitions) > 0.001 || math.Abs(size-c.size) > 0.001 {
			t.Errorf("%s: %v partitions, %v bytes, want %v and %v", name, partitions, size, c.partitions, c.size)
		}
	}
}

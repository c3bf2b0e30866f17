package reconcile

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// What is added comes back once, records of one hash together, whether it is in memory, in the file, or in partitions
// that are split.
func TestSpool(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		chunk int
		whole int64
	}{{"memory", 1 << 20, 1 << 20}, {"file", 500, 1 << 20}, {"split", 500, 2000}, {"split to the end", 100, 1}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := newSpool(dir, test.chunk)
			defer s.close()
			want := make(map[string]int)
			var adding sync.WaitGroup
			for i := range 5000 {
				r := record{hash: rand.Uint64N(50) * 0x9e3779b97f4a7c15, base: i%2 == 0, query: i % 3, at: int64(i), ends: time.Unix(int64(i%2)*1e9, 0)}
				r.entity, r.key = bytes.Repeat([]byte{'e'}, rand.IntN(200)), fmt.Appendf(nil, "key %d", i)
				data := r.append(nil)
				want[string(data)]++
				adding.Go(func() {
					if err := s.add(r.hash, data); err != nil {
						t.Error(err)
					}
				})
			}
			adding.Wait()
			if files, _ := os.ReadDir(dir); len(files) > 0 {
				t.Errorf("%v has a name while the spool is open", files)
			}
			if inFile := s.file != nil; inFile != (test.chunk < 1000) {
				t.Errorf("it has a file: %t", inFile)
			}
			got, seen := make(map[string]int), make(map[uint64]bool)
			err := s.each(test.whole, func(records []byte) error {
				here := make(map[uint64]bool)
				for len(records) > 0 {
					r, rest := parseRecord(records)
					if seen[r.hash] {
						t.Errorf("hash %x is in two partitions", r.hash)
					}
					here[r.hash] = true
					got[string(records[:len(records)-len(rest)])]++
					records = rest
				}
				maps.Copy(seen, here)
				return nil
			})
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("%v, %d records, want %d", err, len(got), len(want))
			}
		})
	}
}

// A spool that cannot be written says so, and the next one removes what a dead process has left.
func TestSpoolFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, spoolName+"1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _ = newSpool(dir, 1); fileExists(left) {
		t.Error("the file of another process is still there")
	}
	s := newSpool(filepath.Join(dir, "none"), 1)
	record := (&record{}).append(nil)
	if err := s.add(0, record); err != nil {
		t.Error(err)
	}
	if err := s.add(0, record); err == nil {
		t.Error("there is no such folder, and no error")
	}
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// A record comes back as it was.
func TestRecord(t *testing.T) {
	t.Parallel()
	want := record{
		hash: 1 << 63, base: true, query: 300, at: -5, ends: time.Unix(1_900_000_000, 0), values: [16]byte{0: 1, 15: 2},
		entity: bytes.Repeat([]byte("e"), 70_000), key: []byte("k"),
	}
	got, rest := parseRecord(append(want.append(nil), "rest"...))
	want.ends = want.ends.Add(time.Second) // rounded up
	if fmt.Sprint(got) != fmt.Sprint(want) || string(rest) != "rest" {
		t.Errorf("%v", got)
	}
}

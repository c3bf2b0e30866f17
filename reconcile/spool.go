package reconcile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// spool keeps records in partitions by hash, in memory up to a bound and beyond it in a file. add is safe for
// concurrent use. The file has mode 0600 and no name once it is open, so that nothing is left of it when the process
// dies; where the system does not allow that, as on Windows, the next spool in the folder removes it.
type spool struct {
	dir   string
	level int // of spools within spools
	chunk int // bytes of a partition in memory
	parts [spoolParts]spoolPart

	mu   sync.Mutex
	file *os.File
	end  int64 // of the file
}

// spoolPart is one partition.
type spoolPart struct {
	mu     sync.Mutex
	memory []byte
	filed  []extent
	size   int64 // all of it
}

// extent is a part of the file.
type extent struct {
	at   int64
	size int
}

const (
	spoolBits  = 8
	spoolParts = 1 << spoolBits
	spoolChunk = 96 << 20 / spoolParts // of the spool of a run
	spoolWhole = 64 << 20              // the largest partition that is read as a whole
	spoolName  = "denorm-spool-"
)

// newSpool makes a spool in a folder, and removes what others have left there. The file of a live process has no name,
// or cannot be removed.
func newSpool(dir string, chunk int) *spool {
	left, _ := filepath.Glob(filepath.Join(dir, spoolName+"*"))
	for _, name := range left {
		_ = os.Remove(name)
	}
	return &spool{dir: dir, chunk: chunk}
}

// add adds a record.
func (s *spool) add(hash uint64, record []byte) error {
	p := &s.parts[hash<<(s.level*spoolBits)>>(64-spoolBits)]
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.memory)+len(record) > s.chunk && len(p.memory) > 0 {
		if err := s.flush(p); err != nil {
			return err
		}
	}
	p.memory = append(p.memory, record...)
	p.size += int64(len(record))
	return nil
}

// flush writes what a partition has in memory to the file.
func (s *spool) flush(p *spoolPart) error {
	f, at, err := s.reserve(len(p.memory))
	if err == nil {
		_, err = f.WriteAt(p.memory, at)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errSpool, err)
	}
	p.filed = append(p.filed, extent{at, len(p.memory)})
	p.memory = p.memory[:0]
	return nil
}

var errSpool = errors.New("the temporary file of hashes cannot be written or read; option Spool (--spool) gives another folder")

// reserve gives the file, and room in it.
func (s *spool) reserve(size int) (*os.File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, spoolName) // its mode is 0600
		if err != nil {
			return nil, 0, err
		}
		_ = os.Remove(f.Name()) // not on Windows, see close
		s.file = f
	}
	at := s.end
	s.end += int64(size)
	return s.file, at, nil
}

// close removes the file. Nobody may add any more.
func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}

// each gives f the records of each partition, all those of a hash at once, and releases them. What f is given is valid
// until it returns. A partition of more than whole bytes is spread over another spool before. Nobody may add any more.
func (s *spool) each(whole int64, f func(records []byte) error) error {
	var all []byte
	for i := range s.parts {
		p := &s.parts[i]
		if p.size > whole && s.level < 64/spoolBits-1 {
			if err := s.split(p, whole, f); err != nil {
				return err
			}
			continue
		}
		all = all[:0]
		for _, e := range p.filed {
			var err error
			if all, err = s.read(all, e); err != nil {
				return err
			}
		}
		all = append(all, p.memory...)
		*p = spoolPart{}
		if err := f(all); err != nil {
			return err
		}
	}
	return nil
}

// read appends a part of the file.
func (s *spool) read(to []byte, e extent) ([]byte, error) {
	start := len(to)
	to = slices.Grow(to, e.size)[:start+e.size]
	if _, err := s.file.ReadAt(to[start:], e.at); err != nil {
		return nil, fmt.Errorf("%w: %w", errSpool, err)
	}
	return to, nil
}

// split spreads a partition over a spool of its own.
func (s *spool) split(p *spoolPart, whole int64, f func([]byte) error) error {
	inner := newSpool(s.dir, s.chunk)
	inner.level = s.level + 1
	defer inner.close()
	var piece []byte
	for _, e := range p.filed {
		var err error
		if piece, err = s.read(piece[:0], e); err != nil {
			return err
		}
		if err = inner.addAll(piece); err != nil {
			return err
		}
	}
	if err := inner.addAll(p.memory); err != nil {
		return err
	}
	*p = spoolPart{}
	return inner.each(whole, f)
}

func (s *spool) addAll(records []byte) error {
	for len(records) > 0 {
		r, rest := parseRecord(records)
		if err := s.add(r.hash, records[:len(records)-len(rest)]); err != nil {
			return err
		}
		records = rest
	}
	return nil
}

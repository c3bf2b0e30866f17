// Package outbox is a queue of failed writes between processes: a directory in which each file is a stored error. Nobody holds a
// message while it is delivered, so two processes may have the same one at the same time, and one that is killed loses none.
package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/writer"
)

// Box is a directory, which exists.
type Box string

// Message is a failed write.
type Message struct {
	Of     history.Place `json:"of"`
	Stored []byte        `json:"stored"` // of MarshalBinary

	name string
}

const suffix = ".message"

// Put stores a failed write.
func (b Box) Put(of history.Place, failed *writer.Error) error {
	return b.Again(Message{Of: of, name: fmt.Sprintf("%016x%s", rand.Uint64(), suffix)}, failed)
}

// Again stores what is known of a message now in place of what was. It writes the whole of a file or nothing of it.
func (b Box) Again(m Message, failed *writer.Error) (err error) {
	if m.Stored, err = failed.MarshalBinary(); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	data, _ := json.Marshal(m) // never fails
	part := filepath.Join(string(b), fmt.Sprintf("%016x.part", rand.Uint64()))
	if err := os.WriteFile(part, data, 0o600); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if err := os.Rename(part, filepath.Join(string(b), m.name)); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// Take gives any message, and false if there is none. It stays where it is.
func (b Box) Take() (m Message, ok bool, err error) {
	for {
		names, err := b.names()
		if err != nil || len(names) == 0 {
			return Message{}, false, err
		}
		m := Message{name: names[rand.IntN(len(names))]}
		data, err := os.ReadFile(filepath.Join(string(b), m.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody else has done with it
		}
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			return Message{}, false, fmt.Errorf("outbox: %w", err)
		}
		return m, true, nil
	}
}

func (b Box) names() ([]string, error) {
	entries, err := os.ReadDir(string(b))
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Failed is the write.
func (m Message) Failed() (*writer.Error, error) {
	failed := new(writer.Error)
	if err := failed.UnmarshalBinary(m.Stored); err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return failed, nil
}

// Done takes a message out. It may be gone already.
func (b Box) Done(m Message) error {
	if err := os.Remove(filepath.Join(string(b), m.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

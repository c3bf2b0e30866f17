package history

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/writer"
)

// Queue is a queue of failed writes between processes: a directory that exists, in which each file is a stored error,
// named after the place of its write.
// Nobody holds a message while it is delivered, so two processes may have the same one at the same time, and one that
// is killed loses none. The empty queue is none.
type Queue string

// Message is a failed write.
type Message struct {
	Of     Place
	Failed *writer.Error

	name string
}

const suffix = ".message"

// Put stores a failed write.
func (q Queue) Put(of Place, failed *writer.Error) error {
	return q.Again(Message{name: fmt.Sprintf("%s,%d,%016x%s", of.History, of.N, rand.Uint64(), suffix)}, failed)
}

// Again stores what is known of a message now in place of what was. It writes the whole of a file or nothing of it.
func (q Queue) Again(m Message, failed *writer.Error) error {
	data, err := failed.MarshalBinary()
	part := filepath.Join(string(q), fmt.Sprintf("%016x.part", rand.Uint64()))
	if err == nil {
		err = os.WriteFile(part, data, 0o600)
	}
	if err == nil {
		err = os.Rename(part, filepath.Join(string(q), m.name))
	}
	return err
}

// Take gives any message, and false if there is none. It stays where it is.
func (q Queue) Take() (m Message, ok bool, err error) {
	for {
		entries, err := os.ReadDir(string(q))
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) != suffix })
		if err != nil || len(entries) == 0 {
			return m, false, err
		}
		name := entries[rand.IntN(len(entries))].Name()
		data, err := os.ReadFile(filepath.Join(string(q), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody else has done with it
		}
		m = Message{Failed: new(writer.Error), name: name}
		if err == nil {
			m.Of.History, name, _ = strings.Cut(name, ",")
			_, err = fmt.Sscanf(name, "%d,", &m.Of.N)
		}
		if err == nil {
			err = m.Failed.UnmarshalBinary(data)
		}
		return m, true, err
	}
}

// Done takes a message out. It may be gone already.
func (q Queue) Done(m Message) error {
	if err := os.Remove(filepath.Join(string(q), m.name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

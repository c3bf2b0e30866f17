package transcript

import (
	"compress/gzip"
	"encoding/json"
	"io"
)

// Recording is what a cluster has answered in some rounds, each of which has keys of its own.
type Recording struct {
	Definitions []string // of the types and tables
	Rounds      []Round
}

// Round is steps in their order, with the answers.
type Round []Exchange

// Exchange is a step and its answer.
type Exchange struct {
	Step  Step
	Reply Reply
}

// Write writes a recording, compressed.
func (r Recording) Write(to io.Writer) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(packed).Encode(r); err != nil {
		return err
	}
	return packed.Close()
}

// Read reads what [Recording.Write] has written.
func Read(from io.Reader) (r Recording, err error) {
	packed, err := gzip.NewReader(from)
	if err != nil {
		return r, err
	}
	return r, json.NewDecoder(packed).Decode(&r)
}

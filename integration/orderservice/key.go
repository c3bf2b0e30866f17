package orderservice

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// KeyHeader is the header with the key of a write, in requests and answers.
const KeyHeader = "Idempotency-Key"

const (
	// maxAhead is how far the time of a key may be ahead of the clock. It is less than writer.MaxClockSkew, so that the
	// writer takes what was accepted here.
	maxAhead = 5 * time.Second
	// maxAge is how old a key may be. It must be far below half of gc_grace_seconds (five days by default): after that
	// Cassandra may have forgotten a delete that followed the write, and a repeat would bring the row back.
	maxAge = 24 * time.Hour
)

// key is the key of a write: a UUID of version 1.
type key struct{ gocql.UUID }

// timestamp is that of the write, in microseconds.
func (k key) timestamp() int64 { return k.Time().UnixMicro() }

// keyOf returns the key of the request, or false if it has none.
func (s *Service) keyOf(r *http.Request) (k key, given bool, p *Problem) {
	values := r.Header.Values(KeyHeader)
	if len(values) == 0 {
		return key{}, false, nil
	}
	id, err := parseUUID(values[0])
	k.UUID = id
	if err != nil || len(values) > 1 || k.Version() != 1 || k.Variant() != gocql.VariantIETF {
		return key{}, false, malformed("%s must be one UUID of version 1, which holds the time it was made at", KeyHeader)
	}
	switch ahead := k.Time().Sub(s.now()); {
	case ahead > maxAhead:
		return key{}, false, malformed("%s was made %v ahead of the time here: check the clock of the client", KeyHeader, ahead.Round(time.Second))
	case ahead < -maxAge:
		return key{}, false, malformed("%s is older than %v: look whether the request was carried out, and make a new key", KeyHeader, maxAge)
	}
	return k, true, nil
}

// newKey makes a key for a request without one: of this moment, or right after a stamp that is ahead of it.
func (s *Service) newKey(stamp int64) key {
	return key{gocql.UUIDFromTime(time.UnixMicro(max(s.now().UnixMicro(), stamp+1)))}
}

// orderID is the id of the order that a request with this key creates: a time UUID with the time of the key. The rest
// is a hash of all that the order is made of.
func (k key) orderID(user gocql.UUID, total *inf.Dec) gocql.UUID {
	made := append(k.Bytes(), user.Bytes()...)
	if total != nil {
		made = append(made, total.String()...)
	}
	hash := sha256.Sum256(made)
	id := k.UUID
	copy(id[8:], hash[:8])
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	id[10] |= 0x01            // no network card's address
	return id
}

// parseUUID takes the usual form only.
func parseUUID(text string) (gocql.UUID, error) {
	id, err := gocql.ParseUUID(text)
	if err != nil || len(text) != 36 {
		return gocql.UUID{}, errors.New("not a UUID of 36 characters")
	}
	return id, nil
}

package orderservice

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
)

const (
	maxBody      = 4 << 10 // bytes
	defaultLimit = 50
	// MaxLimit is how many orders one list holds at most.
	MaxLimit = 5000
)

// decode reads the body, which must be one JSON object of the fields of v.
func decode(w http.ResponseWriter, r *http.Request, v any) *Problem {
	if !isJSON(r.Header.Get("Content-Type")) {
		return &Problem{
			Status: http.StatusUnsupportedMediaType, Outcome: Refused,
			Error: "the body must be JSON: send it with curl --json, or with -H 'Content-Type: application/json'",
		}
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("it holds more than one JSON value")
		}
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &Problem{Status: http.StatusRequestEntityTooLarge, Outcome: Refused, Error: "the body is larger than 4 KiB"}
	}
	return malformed("the body is not the JSON object that is wanted: %v", err)
}

// isJSON says whether a Content-Type can be that of JSON. None can, and so can that of a form, which is what curl -d
// says of any body. It protects from nothing: what browsers send for other sites never gets here.
func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || media == "application/x-www-form-urlencoded")
}

// pathID is a UUID in the path.
func pathID(r *http.Request, name string) (gocql.UUID, *Problem) {
	id, err := parseUUID(r.PathValue(name))
	if err != nil {
		return id, malformed("the %s in the path is not a UUID", name)
	}
	return id, nil
}

// orderID is the id in the path. The column would reject a UUID that holds no time, so no order has such an id.
func orderID(r *http.Request) (gocql.UUID, *Problem) {
	id, p := pathID(r, "id")
	if p == nil && id.Version() != 1 {
		return id, notFound
	}
	return id, p
}

// limitOf is how many orders are wanted.
func limitOf(r *http.Request) (uint, *Problem) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.ParseUint(text, 10, 16)
	if err != nil || limit < 1 || limit > MaxLimit {
		return 0, malformed("limit must be a number from 1 to %d", MaxLimit)
	}
	return uint(limit), nil
}

func checkStatus(status orders.Status) *Problem {
	if !slices.Contains(orders.Statuses, status) {
		return invalid("status must be one of %v", orders.Statuses)
	}
	return nil
}

var amount = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,4})?$`)

// parseTotal reads an amount of money; nil is one that is not known yet.
func parseTotal(text *string) (*inf.Dec, *Problem) {
	if text == nil {
		return nil, nil
	}
	if amount.MatchString(*text) {
		if total, ok := new(inf.Dec).SetString(*text); ok {
			return total, nil
		}
	}
	return nil, invalid("total must be a decimal number in a string, such as \"19.95\"")
}

package security

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// secrets are the forms in which a password or a key could be printed.
type secrets []string

func passwordForms(user, password string) secrets {
	forms := secrets{password}
	for _, data := range [][]byte{[]byte(password), []byte("\x00" + user + "\x00" + password)} { // as it is sent, too
		forms = append(forms, byteForms(data)...)
	}
	return forms
}

// byteForms are those in which bytes are printed.
func byteForms(data []byte) secrets {
	numbers := strings.Trim(fmt.Sprintf("%d", data), "[]")
	return secrets{
		hex.EncodeToString(data), base64.StdEncoding.EncodeToString(data)[:40], numbers, strings.ReplaceAll(numbers, " ", ", "),
	}
}

func keyForms(key keyPair) secrets {
	number, err := key.key.Bytes()
	must(err)
	return append(byteForms(number), "PRIVATE KEY", strings.Split(key.keyPEM(), "\n")[1])
}

// absent looks for the secrets in a text.
func (s secrets) absent(t *testing.T, what, text string) {
	t.Helper()
	lower := strings.ToLower(text)
	for _, form := range s {
		if strings.Contains(lower, strings.ToLower(form)) {
			t.Errorf("%s shows %s:\n%s", what, form, text)
		}
	}
}

// absentFrom looks for them in an error and all that it wraps, in whatever way they may be printed.
func (s secrets) absentFrom(t *testing.T, err error) {
	t.Helper()
	for _, format := range []string{"%v", "%+v", "%#v", "%q", "%x", "%d"} {
		s.absent(t, "error as "+format, fmt.Sprintf(format, err))
	}
	text, _ := json.Marshal(err)
	s.absent(t, "error as JSON", string(text))
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Error("failed", "err", err)
	}
	s.absent(t, "error in slog", log.String())
	switch wrapper := err.(type) { //nolint:errorlint // it is the tree itself that is walked
	case interface{ Unwrap() error }:
		if inner := wrapper.Unwrap(); inner != nil {
			s.absentFrom(t, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			s.absentFrom(t, inner)
		}
	}
}

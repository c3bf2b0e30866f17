package settings_test

import (
	"errors"
	"testing"

	"github.com/denorm-go/denorm/internal/settings"
)

// A derived writer keeps its budget if the session that it is given has none.
func TestUse(t *testing.T) {
	t.Parallel()
	own, shared, bad := settings.NewBudget(0, 0), settings.NewBudget(0, 0), errors.New("bad")
	s := settings.Shared{Budget: own, Keyspaces: map[string]string{"": "a"}}
	if err := s.Use(settings.Shared{Strict: true, Err: bad}); !errors.Is(err, bad) || s.Budget != own || !s.Strict ||
		s.Keyspaces != nil {
		t.Errorf("%v, %+v", err, s)
	}
	if err := s.Use(settings.Shared{Budget: shared}); err != nil || s.Budget != shared || s.Strict {
		t.Errorf("%v, %+v", err, s)
	}
}

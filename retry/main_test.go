package retry_test

import (
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/drivertest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if drivertest.Fork { // it leaves goroutines behind where a session cannot be opened
		m.Run()
		return
	}
	goleak.VerifyTestMain(m)
}

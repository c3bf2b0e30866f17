package leaks_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/denorm-go/denorm/integration/harness/leaks"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, others := time.Now(), goleak.IgnoreCurrent()
		var late, stuck sync.WaitGroup
		late.Add(1)
		stuck.Add(1)
		defer stuck.Done()
		time.AfterFunc(0, late.Wait) // a goroutine that nothing of ours is in
		time.AfterFunc(10*time.Second, late.Done)
		if err := leaks.Wait(others); err != nil || time.Since(began) < 10*time.Second {
			t.Errorf("a goroutine that ends late: %v after %v", err, time.Since(began))
		}
		time.AfterFunc(0, stuck.Wait)
		if err := leaks.Wait(others); err == nil || !strings.Contains(err.Error(), "sync.(*WaitGroup).Wait") {
			t.Errorf("one that does not end: %v", err)
		}
		end := make(chan struct{})
		defer close(end)
		go forgotten(end)
		began = time.Now()
		if err := leaks.Wait(others); err == nil || !strings.Contains(err.Error(), "leaks_test.forgotten") || time.Since(began) > 10*time.Second {
			t.Errorf("one of ours: %v after %v", err, time.Since(began))
		}
	})
}

func forgotten(end chan struct{}) { <-end }

package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// A signal ends a command that waits for its file.
func TestSignalEnds(t *testing.T) {
	t.Parallel()
	if os.Getenv("DENORM_TEST_RUN") != "" {
		os.Args = []string{"denorm", "lint", "/dev/stdin"}
		os.Exit(run())
	}
	c := exec.Command(os.Args[0], "-test.run=^TestSignalEnds$")
	c.Env = append(os.Environ(), "DENORM_TEST_RUN=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // the command has ended
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	time.Sleep(time.Second)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended well without its file")
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on after a signal")
		if err := c.Process.Kill(); err == nil {
			err = <-ended
			t.Log(err)
		}
	}
}

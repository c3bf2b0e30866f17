package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// Limits for the client CPU of an operation, as a multiple of the base.
const (
	warnAt  = 1.03
	blockAt = 1.08
)

// gateFor is how long a round takes at most.
const gateFor = 40 * time.Second

const countsFile = "cmd/bench/allocations.json"

// counts are allocations of each operation, which depend on the release of Go.
type counts struct {
	Go         string
	Operations map[string]turn.Allocated
}

var errGate = errors.New("an operation needs more than it may")

// gate compares without nodes: allocations with those in a file, which update writes, and client CPU with another
// commit.
func gate(ctx context.Context, dir, commit string, update bool) error {
	names := turn.Gated
	base, head, noBase := built(ctx, dir, commit)
	if noBase != nil && !errors.Is(noBase, errNoBase) {
		return noBase
	}
	now, err := exactly(ctx, head, names)
	if err != nil {
		return err
	}
	release := strings.Join(strings.SplitN(runtime.Version(), ".", 3)[:2], ".")
	if update {
		data, err := json.MarshalIndent(counts{release, now}, "", "\t")
		if err != nil {
			return err
		}
		return os.WriteFile(countsFile, append(data, '\n'), 0o600)
	}
	fits, err := fitsAllocations(ctx, names, now, release, base)
	if err != nil {
		return err
	}
	fast := true
	if noBase == nil {
		fast, err = fitsCPU(ctx, names, base, head, now)
	} else {
		fmt.Println("WARNING: client CPU is not compared:", noBase)
	}
	if err == nil && (!fits || !fast) {
		err = errGate
	}
	return err
}

// fitsAllocations compares with the file, or with the base if the file is of another release of Go. Base is empty if
// there is no driver.
func fitsAllocations(ctx context.Context, names []string, now map[string]turn.Allocated, release, base string) (fits bool, err error) {
	var want counts
	data, err := os.ReadFile(countsFile)
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil {
		return false, err
	}
	from := countsFile
	if want.Go != release {
		if base == "" {
			return false, fmt.Errorf("%s is of %s, this is %s, and the base cannot be measured: use %s", countsFile, want.Go, release, want.Go)
		}
		from = "the base"
		if want.Operations, err = exactly(ctx, base, names); err != nil {
			return false, err
		}
	}
	fits = true
	for _, name := range names {
		fmt.Printf("%-28s allocations: %s, %s in %s\n", name, now[name], want.Operations[name], from)
		fits = fits && !more(now[name], want.Operations[name]) && !more(want.Operations[name], now[name])
	}
	if !fits {
		fmt.Println("allocations differ: if it must be so, make benchgate ARGS=-update, and say why in the commit")
	}
	return fits, nil
}

// fitsCPU measures again what is too slow or may be.
func fitsCPU(ctx context.Context, names []string, base, head string, counts map[string]turn.Allocated) (bool, error) {
	slow, fits := names, true
	for round := 0; round < 2 && len(slow) > 0; round++ {
		heats, err := alone(ctx, gateFor, slow, []string{base, head}, counts)
		if err != nil {
			return false, err
		}
		var again []string
		for i, name := range slow {
			r, verdict := heats[i].versus(1, clientCPU), ""
			switch {
			case r.is >= blockAt:
				verdict, fits = fmt.Sprintf("  too slow: %.2f or more", blockAt), fits && round == 0
			case r.is >= warnAt:
				verdict = fmt.Sprintf("  WARNING: %.2f or more", warnAt)
			}
			if verdict != "" && r.high >= blockAt {
				again = append(again, name)
			}
			fmt.Printf("%-28s %s times the client CPU%s\n", name, r, verdict)
		}
		slow = again
	}
	return fits, nil
}

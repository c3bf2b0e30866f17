package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// process is a driver that does turns.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder

	patience time.Duration // with a turn and with the end
}

func startDriver(ctx context.Context, path string, hosts []string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, path, "-hosts", strings.Join(hosts, ",")), patience: 2 * time.Minute}
	p.cmd.Stderr, p.cmd.WaitDelay = os.Stderr, time.Second
	p.cmd.Env = os.Environ()
	if len(hosts) == 0 { // what the Go scheduler does on several processors is noise
		p.cmd.Env = append(p.cmd.Env, "GOMAXPROCS=1")
	}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, json.NewDecoder(out)
	return p, p.cmd.Start()
}

// turn has the driver do a turn. A driver that takes too long is killed.
func (p *process) turn(ctx context.Context, o turn.Order) (r turn.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	if err = json.NewEncoder(p.in).Encode(o); err == nil {
		err = p.out.Decode(&r)
	}
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("the driver did not finish a turn: %w", ctx.Err())
	}
	return r, err
}

func (p *process) stop() error {
	defer time.AfterFunc(p.patience, func() { _ = p.cmd.Process.Kill() }).Stop()
	return errors.Join(p.in.Close(), p.cmd.Wait())
}

// errNoBase means that nothing can be compared with the base, although nothing has failed.
var errNoBase = errors.New("no base to compare with")

// revision is a commit, by a name for it.
func revision(ctx context.Context, name string) (string, error) {
	return output(exec.CommandContext(ctx, "git", "rev-parse", "--verify", "--quiet", name+"^{commit}"))
}

func output(cmd *exec.Cmd) (string, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// chooseBase gives the commit that HEAD is compared with. If none is named, it is where the branch left origin/main; on
// main itself it is the commit before, or HEAD if there are changes that are not committed.
func chooseBase(ctx context.Context, name string) (string, error) {
	if name != "" {
		return revision(ctx, name)
	}
	head, err := revision(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	if base, err := output(exec.CommandContext(ctx, "git", "merge-base", "HEAD", "origin/main")); err == nil && base != head {
		return base, nil
	}
	if changed, err := output(exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no")); err != nil || changed != "" {
		return head, err
	}
	base, err := revision(ctx, "HEAD^")
	if err != nil {
		return "", fmt.Errorf("%w: no commit before HEAD: fetch the history, or give BASE", errNoBase)
	}
	return base, nil
}

// misfit matches the output of the compiler, or of the go command, where the driver uses what the library of the base
// does not have.
var misfit = regexp.MustCompile(`(?m)^# github\.com/denorm-go/denorm/integration/\S+\n\S+\.go:\d+:\d+: |[a-z] package github\.com/denorm-go/denorm/`)

// build compiles the driver into dir, with the library of a commit or, if base is empty, of the working tree. The
// working directory is the module integration.
func build(ctx context.Context, dir, base string) (path string, err error) {
	if base == "" {
		path = filepath.Join(dir, "driver")
		_, err = output(exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "./cmd/bench/driver"))
		return path, err
	}
	tree, mod := filepath.Join(dir, "base"), filepath.Join(dir, "base.mod")
	path = filepath.Join(dir, "driver-of-base")
	for _, args := range [][]string{
		{"mkdir", tree},
		{"cp", "go.mod", mod},
		{"cp", "go.sum", filepath.Join(dir, "base.sum")},
		{"git", "-C", "..", "archive", "--output", tree + ".tar", base},
		{"tar", "-xf", tree + ".tar", "-C", tree},
		{"go", "mod", "edit", "-replace=github.com/denorm-go/denorm=" + tree, mod},
		{"go", "build", "-trimpath", "-mod=mod", "-modfile=" + mod, "-o", path, "./cmd/bench/driver"},
	} {
		if _, err := output(exec.CommandContext(ctx, args[0], args[1:]...)); err != nil {
			if args[1] == "build" && misfit.MatchString(err.Error()) {
				err = fmt.Errorf("%w: the driver does not compile with its library: %w", errNoBase, err)
			}
			return "", err
		}
	}
	return path, nil
}

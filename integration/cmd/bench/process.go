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
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
)

// process is a driver that does turns.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func startDriver(ctx context.Context, path string, hosts []string) (*process, error) {
	args := []string{"-hosts", strings.Join(hosts, ",")}
	if len(hosts) == 1 {
		args = append(args, "-rf", "1")
	}
	p := &process{cmd: exec.CommandContext(ctx, path, args...)}
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

// turn has the driver do a turn.
func (p *process) turn(_ context.Context, o turn.Order) (r turn.Result, err error) {
	if err = json.NewEncoder(p.in).Encode(o); err == nil {
		err = p.out.Decode(&r)
	}
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	return r, err
}

// of is the driver as a contender.
func (p *process) of(name string) contender {
	return contender{name, func(ctx context.Context, o turn.Order) (turn.Result, error) {
		o.Name = name
		return p.turn(ctx, o)
	}}
}

func (p *process) stop() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// errMisfit is what a driver cannot be built for.
var errMisfit = errors.New("the driver of this commit does not compile with the library of the base")

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

// chooseBase gives the commit that HEAD is compared with. If none is named, it is where the branch left origin/main; on main itself it is
// the commit before, or HEAD if there are changes that are not committed.
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
		return "", errors.New("no commit before HEAD to compare with: fetch the history, or give BASE")
	}
	return base, nil
}

// build compiles the driver of the working tree with the library of a commit, or, if base is empty, of the working tree. The working
// directory is the module integration.
func build(ctx context.Context, base string) (path string, err error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(root, "bin")
	args := []string{"build", "-trimpath", "-o"}
	if base == "" {
		path = filepath.Join(bin, "driver")
		_, err = output(exec.CommandContext(ctx, "go", append(args, path, "./cmd/bench/driver")...))
		return path, err
	}
	tree := filepath.Join(bin, "base-"+base[:12])
	path = filepath.Join(bin, "driver-"+base[:12])
	if _, err := output(exec.CommandContext(ctx, "git", "worktree", "add", "--force", "--detach", tree, base)); err != nil {
		return "", err
	}
	defer func() {
		_, failed := output(exec.CommandContext(context.WithoutCancel(ctx), "git", "worktree", "remove", "--force", tree))
		err = errors.Join(err, failed)
	}()
	mod := filepath.Join(bin, "base-"+base[:12]+".mod")
	for _, file := range []string{"mod", "sum"} {
		data, err := os.ReadFile("go." + file)
		if err != nil {
			return "", err
		}
		text := strings.Replace(string(data), "=> ../", "=> "+tree, 1)
		if err := os.WriteFile(strings.TrimSuffix(mod, "mod")+file, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	if _, err = output(exec.CommandContext(ctx, "go", append(args, path, "-mod=mod", "-modfile="+mod, "./cmd/bench/driver")...)); err != nil {
		err = fmt.Errorf("%w: %w", errMisfit, err)
	}
	return path, err
}

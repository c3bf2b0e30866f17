package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const composeName = "docker-compose.yml"

func findCompose() (string, error) { return FindUp(composeName, ", or set "+ModeEnv+"="+string(Local)) }

// FindUp looks for a file of the repository from the working directory upwards. otherwise is what else can be done
// where it is not found, as the end of a sentence.
func FindUp(name, otherwise string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no %s in %s or above: run this inside the repository%s", name, start, otherwise)
		}
	}
}

// composeServices names the Cassandra services; the file may have others, which the harness ignores.
func composeServices(nodes int) []string {
	return numbered(nodes, func(number int) string { return "cassandra" + strconv.Itoa(number) })
}

func composeCommand(ctx context.Context, s *state, args ...string) *exec.Cmd {
	cmd := command(ctx, "docker", append([]string{"compose", "-f", s.Compose, "--profile", "three"}, args...)...)
	cmd.Env = append(os.Environ(), VersionEnv+"="+s.release().version) // the tag of the image
	return cmd
}

func compose(ctx context.Context, s *state, args ...string) ([]byte, error) {
	out, err := Run(ctx, composeCommand(ctx, s, args...))
	if err != nil {
		err = fmt.Errorf("docker compose %s: %w", args[0], err)
	}
	return out, err
}

func startCompose(ctx context.Context, home string, s *state, log *progress) error {
	file, err := findCompose()
	if err != nil {
		return err
	}
	r, err := wantedRelease()
	switch {
	case err != nil:
		return err
	case r.accord:
		return fmt.Errorf("%s=%s: set %s=%s, as %s does not enable transactions", VersionEnv, r.version, ModeEnv, Local, composeName)
	}
	s.Compose, s.Hosts, s.Version = file, loopbacks(s.Nodes), r.version
	if err := s.save(home); err != nil { // so that it can be stopped
		return err
	}
	services := composeServices(s.Nodes)
	done := log.step("starting Cassandra %s, %s, with docker compose", r.version, strings.Join(services, ", "))
	args := append([]string{"up", "--detach", "--quiet-pull", "--wait", "--wait-timeout", "600"}, services...)
	if _, err := compose(ctx, s, args...); err != nil {
		if ctx.Err() != nil {
			return err
		}
		logs, _ := compose(ctx, s, append([]string{"logs", "--no-color", "--tail", "15"}, services...)...)
		return fmt.Errorf("%w\nthe nodes' last lines:\n%s\n"+
			"on macOS nodes 2 and 3 need: sudo ifconfig lo0 alias 127.0.0.2; sudo ifconfig lo0 alias 127.0.0.3", err, LastLines(logs, 30))
	}
	if err := awaitReady(ctx, nil, s.Hosts, s.Nodes); err != nil {
		return err
	}
	done("ready")
	return nil
}

func stopCompose(ctx context.Context, s *state) error {
	if s.Compose == "" { // it did not come that far
		return nil
	}
	// All three: a start that was interrupted may have come further than the state says.
	_, err := compose(ctx, s, append([]string{"rm", "--stop", "--force", "--volumes"}, composeServices(3)...)...)
	return err
}

// composeNode does something with the container of a node: kill or start.
func composeNode(ctx context.Context, s *state, what string, number int) error {
	_, err := compose(ctx, s, what, composeServices(number)[number-1])
	return err
}

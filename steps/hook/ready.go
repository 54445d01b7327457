package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Pauses between two questions, growing from the first to the last, and the most
// that one HTTP answer may take.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
	oneAnswer  = 10 * time.Second
)

// awaitReady asks until the answer is yes or the deadline has passed (PLN-32).
func (r runner) awaitReady(ctx context.Context, ready spec.Ready) error {
	r.say(ReadyHook)
	limited, cancel := context.WithTimeout(ctx, milliseconds(ready.DeadlineMS))
	defer cancel()
	last := "nothing was asked"
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		answer, yes, err := r.ask(limited, ready)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case yes:
			return nil
		case answer != "":
			last = answer
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("ready was cancelled: %w", context.Cause(ctx))
			}
			return &Error{ReadyDeadline, fmt.Errorf("not ready within %d ms, last answer: %s", ready.DeadlineMS, last)}
		case <-time.After(pause):
		}
	}
}

func (r runner) ask(ctx context.Context, ready spec.Ready) (answer string, yes bool, err error) {
	if ready.Hook != nil {
		return r.askProgram(ctx, *ready.Hook)
	}
	return r.askHTTP(ctx, ready.HTTP)
}

// askHTTP wants status 200 from the address itself: redirects are not followed
// and no proxy answers for it.
func (r runner) askHTTP(ctx context.Context, address string) (answer string, yes bool, err error) {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       oneAnswer,
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", false, &Error{ReadyFailed, err}
	}
	response, err := client.Do(request)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			return "", false, nil // cut short by the deadline, which is no answer
		}
		return err.Error(), false, nil
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, shown))
	return fmt.Sprintf("status %d, %q", response.StatusCode, body), response.StatusCode == http.StatusOK, nil
}

// askProgram runs the program once. Only the last try is kept.
func (r runner) askProgram(ctx context.Context, hook spec.Hook) (answer string, yes bool, err error) {
	if err := os.RemoveAll(filepath.Join(r.env.Dir, ReadyHook)); err != nil {
		return "", false, fmt.Errorf("prepare ready: %w", err)
	}
	dir, err := r.folder(ReadyHook)
	if err != nil {
		return "", false, err
	}
	went, err := r.run(ctx, invocation{name: ReadyHook, dir: dir, hook: hook, deadline: hook.DeadlineMS, limit: streamLimit})
	switch {
	case err != nil:
		return "", false, err
	case went.SpawnError != "":
		return "", false, &Error{ReadyFailed, fmt.Errorf("%s cannot be started: %s", hook.Program, went.SpawnError)}
	case went.Cancelled:
		return "", false, nil
	case went.Deadline:
		return fmt.Sprintf("one try of %s took longer than %d ms", hook.Program, hook.DeadlineMS), false, nil
	case went.ExitCode != nil && *went.ExitCode == 0:
		return "", true, nil
	}
	return fmt.Sprintf("%s ended with %s, %s", hook.Program, ending(went), r.lastWords(ReadyHook, hook, dir)), false, nil
}

func ending(went evidence.Invocation) string {
	if went.Signal != "" {
		return went.Signal
	}
	return fmt.Sprintf("exit code %d", *went.ExitCode)
}

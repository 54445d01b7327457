package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/grill-plan/grill-plan/executor"
)

// interruptible gives a context that the first SIGINT or SIGTERM cancels with
// executor.ErrInterrupted as its cause, after saying so; the second ends the
// process at once with the given code (PLN-25, CAP-22). What a sudden end leaves
// running is found and ended by the next run (PLN-26). Call release when done.
func (a *app) interruptible(ctx context.Context, code int, say func(text string)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel(executor.ErrInterrupted)
			say("interrupted: ending what runs and keeping its record; interrupt again to end at once")
		case <-done:
			return
		}
		select {
		case <-signals:
			a.exit(code)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

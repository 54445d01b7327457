package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/capture"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/preflight"
)

type captureFlags struct {
	workload   string
	runner     string
	deployment string
	slot       string
	out        string
}

func (a *app) newCapture() *cobra.Command {
	var flags captureFlags
	first := quickstartNodes + ".capture.a/attempt-1/"
	cmd := &cobra.Command{
		Use:   "capture --workload FILE --runner FILE --deployment FILE --slot SLOT --out DIR",
		Short: "Captures one slot into a new directory",
		Long: `Runs the samples of one slot and keeps what happened as evidence. DIR must not exist
yet. It waits while another grill-plan measures on this machine.

Child processes are no sandbox: a program that leaves its process group is out of
reach. A complete capture exits 0, also with failed samples, which are shown.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n" +
			"  grill-plan media capture --workload " + first + "workload.json \\\n" +
			"    --runner " + first + "runner.json \\\n" +
			"    --deployment " + first + "deployment.json --slot a --out capture-a",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireFlags(cmd, "workload", "runner", "deployment", "slot", "out"); err != nil {
				return err
			}
			return a.capture(cmd.Context(), flags)
		},
	}
	cmd.Flags().StringVar(&flags.workload, "workload", "", "workload document `FILE`")
	cmd.Flags().StringVar(&flags.runner, "runner", "", "runner document `FILE`")
	cmd.Flags().StringVar(&flags.deployment, "deployment", "", "deployment document `FILE`; {} declares nothing")
	cmd.Flags().StringVar(&flags.slot, "slot", "", "id of the workload's `SLOT` to capture")
	cmd.Flags().StringVar(&flags.out, "out", "", "new directory `DIR` for the evidence")
	return cmd
}

// captureDocument is what capture prints (CAP-33).
type captureDocument struct {
	Kind    string `json:"kind"` // media-capture
	Version int    `json:"version"`
	Dir     string `json:"directory"` // as given
	capture.Outcome
}

func (a *app) capture(ctx context.Context, flags captureFlags) error {
	request, err := a.captureRequest(ctx, flags)
	if err != nil {
		return err
	}
	outcome, err := a.captureWatched(ctx, request)
	if err != nil {
		return a.captureError(err)
	}
	if err := a.printJSON(captureDocument{Kind: "media-capture", Version: 1, Dir: flags.out, Outcome: outcome}); err != nil {
		return err
	}
	if outcome.Status == evidence.Complete {
		return nil
	}
	view.Error(a.err, view.WithHint(fmt.Errorf("capture %s: %s", flags.out, describeStatus(outcome)), captureEnded(outcome, flags.out)))
	return exitWith(exitError)
}

func (a *app) captureRequest(ctx context.Context, flags captureFlags) (capture.Request, error) {
	documents, err := a.readDocuments(flags.workload, flags.runner, flags.deployment)
	if err != nil {
		return capture.Request{}, err
	}
	folder, self, err := here()
	if err != nil {
		return capture.Request{}, err
	}
	collector, err := capture.CollectorIdentity(ctx)
	if err != nil {
		return capture.Request{}, err
	}
	return capture.Request{
		Names:    capture.Names{Workload: flags.workload, Runner: flags.runner, Deployment: flags.deployment},
		Workload: documents[0], Runner: documents[1], Deployment: documents[2],
		Slot: flags.slot, Dir: flags.out, CreateDir: true,
		Folder: folder, Self: self, Collector: collector,
		// A name of env_secret takes its value from here (PLN-07).
		Secrets: environment(a.environ),
	}, nil
}

// environment makes NAME=VALUE strings into a map; the last of a name counts, as
// it does for a child.
func environment(environ []string) map[string]string {
	values := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			values[name] = value
		}
	}
	return values
}

// captureWatched makes the capture with the host to itself, shows how far it is
// and ends it properly at the first interrupt.
func (a *app) captureWatched(ctx context.Context, request capture.Request) (outcome capture.Outcome, err error) {
	name := "slot " + request.Slot
	progress := view.NewProgress(a.err, nil, time.Now)
	defer progress.Close()
	ctx, release := a.interruptible(ctx, exitError, func(text string) {
		progress.Above(func(out *view.Output) { view.Note(out, text) })
	})
	defer release()
	if err := refusedAtOnce(request); err != nil {
		return outcome, err
	}
	lock, err := a.lockHost(ctx, request.Dir, progress)
	if err != nil {
		return outcome, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	started := false // not before the documents are admitted
	request.Progress = func(done, total int, text string) {
		if !started {
			progress.Show(view.Happening{Address: name, What: view.Started})
			started = true
		}
		progress.Show(view.Happening{Address: name, What: view.Advanced, Done: done, Total: total, Text: text})
	}
	return capture.Run(ctx, request)
}

// refusedAtOnce finds what needs no machine, so that nobody waits for a host only
// to hear of it. The capture itself checks everything again.
func refusedAtOnce(request capture.Request) error {
	_, problems := preflight.Documents(preflight.Input{
		WorkloadName: request.Names.Workload, RunnerName: request.Names.Runner,
		Workload: request.Workload, Runner: request.Runner,
		Folder: request.Folder, Self: request.Self,
	})
	_, more := document.ParseDeployment(request.Names.Deployment, request.Deployment)
	if problems = append(problems, more...); len(problems) > 0 {
		return &capture.Rejected{Problems: problems}
	}
	if _, err := os.Lstat(request.Dir); err == nil {
		return &capture.Error{Code: capture.DirectoryExists, Err: fmt.Errorf("%s exists: name a directory that does not", request.Dir)}
	}
	return nil
}

// lockHost waits until nobody else measures on this machine (PLN-18).
func (a *app) lockHost(ctx context.Context, dir string, progress *view.Progress) (*checkpoint.HostLock, error) {
	holder := checkpoint.Self(time.Now())
	if path, err := filepath.Abs(dir); err == nil {
		holder.Run = path
	}
	path, err := a.hostLock()
	if err != nil {
		return nil, err
	}
	return checkpoint.LockHost(ctx, checkpoint.HostLockOptions{
		Path:   path,
		Holder: holder,
		Waiting: func(holder *checkpoint.Holder, waited time.Duration) {
			progress.Show(view.Happening{What: view.Waiting, Text: waitingText(holder, waited)})
		},
	})
}

// waitingText tells who waits who holds the host, and since when.
func waitingText(holder *checkpoint.Holder, waited time.Duration) string {
	text := "for this machine, which somebody holds who cannot be read"
	if holder != nil {
		text = "for this machine, held by " + holder.String()
		if holder.Run != "" {
			text += " for " + holder.Run
		}
	}
	return fmt.Sprintf("%s (%s so far)", text, waited.Truncate(time.Second))
}

func (a *app) captureError(err error) error {
	var rejected *capture.Rejected
	var coded *capture.Error
	switch {
	case errors.As(err, &rejected):
		return a.reject(rejected.Problems)
	case errors.As(err, &coded) && coded.Code == capture.EvidenceFailed:
		return view.WithHint(err, "Free space or mend the disk, then capture the slot again into a new directory.")
	}
	return err
}

func describeStatus(outcome capture.Outcome) string {
	if len(outcome.Setup) > 0 {
		return outcome.Status + " (" + strings.Join(outcome.Setup, ", ") + ")"
	}
	return outcome.Status
}

func captureEnded(outcome capture.Outcome, dir string) string {
	if outcome.Status == evidence.SetupFailed {
		return "Look at " + filepath.Join(dir, evidence.SetupDir, evidence.StderrFile) + ", then capture the slot again into a new directory."
	}
	return captureAgain
}

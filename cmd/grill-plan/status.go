package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/view"
)

type statusFlags struct {
	json bool
}

func (a *app) newStatus() *cobra.Command {
	var flags statusFlags
	cmd := &cobra.Command{
		Use:   "status RUN",
		Short: "Shows how far a run is; also while it goes on",
		Long: `Shows each node's state, attempt and time spent. RUN is a run directory or the
plan whose default run directory is meant. Reading it disturbs nothing.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n  grill-plan status examples/plans/quickstart.hcl",
		Args:    exactArgs("RUN"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.status(ctx, args[0], flags)
		}),
	}
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

func (a *app) status(ctx context.Context, path string, flags statusFlags) error {
	run, err := a.openRun(ctx, path)
	if err != nil {
		return err
	}
	status, err := readStatus(run, time.Now())
	if err != nil {
		return err
	}
	if flags.json {
		return a.printJSON(status)
	}
	view.Status(a.out, status)
	return nil
}

// readStatus reads a run as it stands on disk, without its lock (PLN-28).
func readStatus(run *checkpoint.Run, now time.Time) (view.RunStatus, error) {
	status := view.RunStatus{Kind: "run-status", Version: 1, Plan: run.Manifest.Plan, Dir: run.Dir, Nodes: []view.NodeStatus{}}
	holder := run.CurrentHolder()
	if holder != nil {
		status.HeldBy = holder.String()
	}
	graph, err := run.Graph()
	if err != nil {
		return status, err
	}
	events, _, err := run.ReadEvents() // a torn line is no news
	if err != nil {
		return status, err
	}
	latest := map[string]checkpoint.Event{}
	for _, event := range events {
		if event.Node != "" {
			latest[event.Node] = event
		}
	}
	for _, planned := range graph.Nodes() {
		node, err := run.ReadNode(planned.Address)
		if err != nil {
			return status, err
		}
		entry, err := nodeStatus(run, node, latest[planned.Address], holder != nil, now)
		if err != nil {
			return status, err
		}
		status.Nodes = append(status.Nodes, entry)
	}
	return status, nil
}

// nodeStatus says of one node what the latest of its attempts and events tell.
func nodeStatus(run *checkpoint.Run, node *checkpoint.Node, latest checkpoint.Event, held bool, now time.Time) (view.NodeStatus, error) {
	entry := view.NodeStatus{Address: node.Address, State: view.StatePending, Attempt: node.Attempt}
	if last := len(node.Open) - 1; last >= 0 && node.Open[last] > node.Attempt {
		entry.Attempt, entry.State = node.Open[last], view.StateInterrupted
		if held && latest.Event == checkpoint.NodeStarted {
			entry.State = view.StateRunning
			entry.SpentMS = now.Sub(latest.Time).Milliseconds()
		}
		return entry, nil
	}
	switch {
	case latest.Event == checkpoint.NodeSkipped:
		entry.State, entry.Note = view.StateSkipped, latest.Text
		return entry, nil
	case latest.Event == checkpoint.NodeLeft:
		entry.State, entry.Note = view.StateLeft, latest.Code
		return entry, nil
	case node.Attempt == 0:
		return entry, nil
	}
	record, err := run.Record(node.Address, node.Attempt)
	if err != nil {
		return entry, err
	}
	entry.SpentMS = record.Finished.Sub(record.Started).Milliseconds()
	switch {
	case node.Superseded:
		entry.State = view.StateRedo
	case node.State == checkpoint.Done:
		entry.State, entry.Note = view.StateDone, node.Outcome
	case node.State == checkpoint.Failed:
		entry.State = view.StateFailed
		if record.Error != nil {
			entry.Note = record.Error.Error()
		}
	case node.State == checkpoint.Interrupted:
		entry.State = view.StateInterrupted
	}
	return entry, nil
}

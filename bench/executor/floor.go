package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// empty does nothing at all: what is left of a node is its checkpoint.
type empty struct{ trivial }

func (empty) Run(context.Context, executor.Work) (executor.Result, error) {
	return executor.Result{}, nil
}

// checkpointCost takes nodes that do nothing beside the bare floor, in turn in
// batches, since one run of the executor has costs of its own.
func checkpointCost(ctx context.Context, out io.Writer, work string, count int) error {
	const batches = 10
	size := max(1, count/batches)
	run, err := checkpoint.Create(filepath.Join(work, "checkpoints"), checkpoint.Manifest{Plan: "bench", Created: time.Now()})
	if err != nil {
		return err
	}
	floorDir := filepath.Join(work, "floor")
	if err := os.Mkdir(floorDir, 0o700); err != nil {
		return err
	}
	var nodes, floors []time.Duration
	for batch := range batches {
		taken, err := nodeBatch(ctx, run, size, batch)
		if err != nil {
			return err
		}
		nodes = append(nodes, taken/time.Duration(size))
		start := time.Now()
		for i := range size {
			if err := floor(floorDir, batch*size+i); err != nil {
				return err
			}
		}
		floors = append(floors, time.Since(start)/time.Duration(size))
	}
	node, bare := medianOf(nodes), medianOf(floors)
	fmt.Fprintf(out, "\none durable node that does nothing: %d µs; write, fsync, rename, fsync of the folder: %d µs; ratio %.2f (medians of %d batches of %d)\n",
		node.Microseconds(), bare.Microseconds(), ratio(node, bare), batches, size)
	_, err = fmt.Fprintln(out, "goal: at most 2")
	return err
}

// nodeBatch times from the start of the first node to the end of the last.
func nodeBatch(ctx context.Context, run *checkpoint.Run, size, batch int) (time.Duration, error) {
	var b graph.Builder
	for i := range size {
		b.Add(graph.Node{Address: fmt.Sprintf("batch%d.node%d", batch, i), Kind: graph.Toy, Effect: graph.Pure})
	}
	g, err := b.Build()
	if err != nil {
		return 0, err
	}
	var start, end time.Time
	summary, err := executor.Run(ctx, executor.Options{
		Run: run, Graph: g, Runner: empty{}, HostLock: filepath.Join(run.Dir, "host.lock"),
		Event: func(event checkpoint.Event) {
			switch event.Event {
			case checkpoint.NodeStarted:
				if start.IsZero() {
					start = time.Now()
				}
			case checkpoint.NodeDone:
				end = time.Now()
			}
		},
	})
	if err != nil {
		return 0, err
	}
	if summary.Ran != size {
		return 0, fmt.Errorf("%d of %d nodes ran", summary.Ran, size)
	}
	return end.Sub(start), nil
}

// floor is the least that a durable file costs.
func floor(dir string, i int) error {
	path := filepath.Join(dir, fmt.Sprintf("file%d", i))
	file, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 512))
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

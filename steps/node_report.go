package steps

import (
	"context"

	"github.com/grill-plan/grill-plan/executor"
)

// runReport writes what people read, from evidence alone (PLN-36).
func (r *Runner) runReport(ctx context.Context, work executor.Work) (executor.Result, error) {
	outcome, err := r.Reports(ctx, work.RunDir)
	if err != nil {
		return executor.Result{}, interrupted(ctx, err)
	}
	return executor.Result{Outcome: outcome}, nil
}

package steps

import (
	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/sight"
)

// Advice says what the gates of an experiment can see and where its design works
// against itself (PLN-47). It looks at the plan only. The plan was compiled.
func (l *Loaded) Advice(e *plan.Experiment) []sight.Advice {
	return sight.Advise((&lister{loaded: l}).design(e))
}

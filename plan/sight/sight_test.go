package sight_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/sight"
)

// The table of the verdicts page, to the printed digits (PLN-47).
func TestTable(t *testing.T) {
	const table = `
0.1 0.1 A/B/A2    50.7 52.8 1.51/2.52 1.03/2.03 100.0/100.0 0.00/0.00
0.1 0.1 A/B/B2/A2 55.2 52.8 1.56/2.56 0.93/1.93 100.0/100.0 0.00/0.00
0.3 0.3 A/B/A2    153.0 159.4 2.55/3.56 1.08/2.08 71.5/99.5 0.02/0.00
0.3 0.3 A/B/B2/A2 166.4 159.4 2.68/3.70 0.79/1.78 55.9/99.2 0.00/0.00
0.3 1   A/B/A2    332.6 332.0 4.36/5.39 2.12/3.13 47.3/74.9 5.87/1.05
0.3 1   A/B/B2/A2 369.9 332.0 4.74/5.77 1.31/2.31 28.8/60.4 1.31/0.12
1   0.3 A/B/A2    394.2 429.1 4.98/6.02 0.57/1.56 13.5/43.7 0.13/0.00
1   0.3 A/B/B2/A2 423.7 429.1 5.28/6.32 none/0.93 4.4/25.4 0.01/0.00
1   1   A/B/A2    519.1 541.1 6.24/7.29 1.27/2.27 19.3/39.8 1.81/0.34
1   1   A/B/B2/A2 565.4 541.1 6.71/7.77 0.29/1.29 7.4/22.1 0.25/0.02`
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		fields := strings.Fields(line)
		var noise sight.Noise
		fmt.Sscan(fields[0], &noise.Within)
		fmt.Sscan(fields[1], &noise.Between)
		noise.Within, noise.Between = noise.Within/100, noise.Between/100
		sampling := sight.Sampling{Runs: 3, B2: fields[2] == "A/B/B2/A2"}
		at100, at200 := sight.See(sampling, 100, noise), sight.See(sampling, 200, noise)
		hidden := func(x float64) string {
			if x <= 0 {
				return "none"
			}
			return fmt.Sprintf("%.2f", 100*x)
		}
		got := []string{
			fmt.Sprintf("%.1f", 1e4*at100.T95), fmt.Sprintf("%.1f", 1e4*at100.S95),
			fmt.Sprintf("%.2f/%.2f", 100*at100.D95, 100*at200.D95),
			hidden(at100.X05) + "/" + hidden(at200.X05),
			fmt.Sprintf("%.1f/%.1f", 100*at100.Unchanged, 100*at200.Unchanged),
			fmt.Sprintf("%.2f/%.2f", 100*at100.False, 100*at200.False),
		}
		if want := fields[3:]; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s %s %s: got %v, want %v", fields[0], fields[1], fields[2], got, want)
		}
	}
}

// Package sight says what a gate can and cannot see before anything is
// measured: the slowdown it would call, how often an unchanged candidate passes,
// and in which ways a design works against itself (PLN-47).
//
// It owns the formulas and the texts of the verdicts page. It gives advice only:
// nothing here changes an outcome or an exit code, and floating point is used
// freely. The formulas were fitted to simulations of the gate rule with normal,
// independent noise and no drift; the tests hold them against the gate itself.
package sight

import "math"

// Noise is the standard deviation of samples within a slot and between slots,
// as fractions of the run time (0.01 is one per cent).
type Noise struct {
	Within, Between float64
}

// Ladder is what is shown while nothing has been measured: from a quiet machine
// to an ordinary one.
func Ladder() []Noise {
	return []Noise{{0.001, 0.001}, {0.003, 0.003}, {0.003, 0.01}, {0.01, 0.003}, {0.01, 0.01}}
}

// Sampling is the shape of an experiment: samples per slot, and whether there
// is a second candidate slot (A/B/B2/A2) or not (A/B/A2).
type Sampling struct {
	Runs int // measured_runs of the cell, 2 to 100; outside it the end value serves
	B2   bool
}

// Sight is what one gate sees at one noise. Fractions, except the chances,
// which are 0 to 1.
type Sight struct {
	// D95: slowdowns from here are REGRESSION in 19 of 20 runs.
	D95 float64
	// T95: tolerance from which an unchanged candidate passes in 19 of 20.
	T95 float64
	// X05: a slowdown this big still passes in 1 of 20; zero or less for none.
	X05 float64
	// S95: spread bound that 19 of 20 undisturbed A/A2 pools keep.
	S95 float64
	// Unchanged is the chance that an unchanged candidate passes, False that it
	// is REGRESSION.
	Unchanged, False float64
}

// See computes what a gate with a tolerance, in basis points, sees.
func See(sampling Sampling, toleranceBPS uint64, noise Noise) Sight {
	m := newModel(sampling, noise)
	t := float64(toleranceBPS) / 10000
	sight := Sight{
		D95: (1+t)*math.Exp(m.width(z95)) - 1,
		T95: math.Exp(m.width(z95)) - 1,
		X05: (1+t)*math.Exp(-m.width(-z95)) - 1,
		S95: m.spread(),
	}
	if m.kappa == 0 { // without noise an unchanged candidate equals the reference
		sight.Unchanged = 1
		return sight
	}
	sight.Unchanged, sight.False = m.beyond(t, 0), m.beyond(0, t)
	return sight
}

// z95 is the normal quantile of 0.95. The verdicts page prints it as 1.645; two
// cells of its table come out only with more digits.
const z95 = 1.6448536

// model holds what the formulas share: kappa is the noise of a slot's extreme,
// c and d are mean and width of what the slots add.
type model struct {
	noise       Noise
	e, r, kappa float64
	c, d        float64
}

func newModel(sampling Sampling, noise Noise) model {
	v := interpolate(sampling.Runs, variances())
	m := model{
		noise: noise,
		e:     interpolate(sampling.Runs, maxima()),
		r:     interpolate(sampling.Runs, ranges()),
		kappa: math.Sqrt(noise.Between*noise.Between + v*noise.Within*noise.Within),
		c:     0.5642, d: 1.2968,
	}
	if sampling.B2 {
		m.c, m.d = 1.1284, 1.1676
	}
	return m
}

// width is W(p), given the quantile of p.
func (m model) width(z float64) float64 {
	return 2*m.e*m.noise.Within + m.c*m.kappa + z*m.d*m.kappa
}

// beyond is the chance that the rule tells x from y: P(REGRESSION) for an effect
// x and a tolerance y, P(PASS) for a tolerance x and an effect y.
func (m model) beyond(x, y float64) float64 {
	distance := math.Log((1+x)/(1+y)) - 2*m.e*m.noise.Within - m.c*m.kappa
	return 0.5 * math.Erfc(-distance/(m.d*m.kappa)/math.Sqrt2)
}

func (m model) spread() float64 {
	tau, rs := m.noise.Between, m.r*m.noise.Within
	return math.Exp(2*m.e*m.noise.Within+1.1284*m.kappa+1.8*math.Sqrt(0.727*tau*tau+rs*rs)) - 1
}

// sizes are the sample counts of the columns below.
func sizes() [12]float64 { return [12]float64{2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100} }

// maxima is e: the mean of the largest of n normals.
func maxima() [12]float64 {
	return [12]float64{.5642, .8463, 1.0294, 1.1630, 1.2672, 1.4236, 1.5388, 1.7359, 1.8675, 2.0428, 2.2491, 2.5076}
}

// variances is v: the variance of the largest of n normals.
func variances() [12]float64 {
	return [12]float64{.6817, .5595, .4917, .4475, .4159, .3729, .3443, .3010, .2757, .2458, .2157, .1844}
}

// ranges is r: the standard deviation of the range of 2n normals.
func ranges() [12]float64 {
	return [12]float64{.881, .851, .819, .800, .778, .750, .731, .691, .668, .641, .605, .566}
}

// interpolate reads a table linearly in ln n.
func interpolate(n int, values [12]float64) float64 {
	at := sizes()
	x := math.Min(math.Max(float64(n), at[0]), at[len(at)-1])
	for i := 1; i < len(at); i++ {
		if x <= at[i] {
			share := math.Log(x/at[i-1]) / math.Log(at[i]/at[i-1])
			return values[i-1] + share*(values[i]-values[i-1])
		}
	}
	return values[len(values)-1]
}

package document

import (
	"slices"
	"strconv"
	"strings"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// use is one occurrence of a placeholder in args.
type use struct {
	name string
	arg  int
}

// uses lists all placeholders of args and reports templates that are not closed.
func uses(at place, args []string) []use {
	var found []use
	for i, template := range args {
		pieces, err := split(template)
		if err != nil {
			at.item(i).report(NoOffset, "TPL-03", "%s", err)
			continue
		}
		for _, p := range pieces {
			if p.placeholder {
				found = append(found, use{p.text, i})
			}
		}
	}
	return found
}

// admitSampleTemplates holds the TPL rules of the runner's args, for every cell
// (TPL-18).
func admitSampleTemplates(at place, w *Workload, r *Runner) {
	before := len(at.c.problems)
	found := uses(at, r.Args)
	known := samplePlaceholders(r)
	for _, u := range found {
		if !slices.Contains(known, u.name) {
			at.item(u.arg).report(NoOffset, "TPL-02", "has the unknown placeholder {%s}; known: %s%s",
				boundedName(u.name), braced(known), suggestion(u.name, known))
			continue
		}
		if cells := cellsWithout(w, u.name); len(cells) > 0 {
			at.item(u.arg).report(NoOffset, "TPL-09", "uses {%s}, which the request does not have in cell %s", u.name, quoteList(cells))
		}
	}
	if len(at.c.problems) > before {
		// What is counted below cannot be told from templates that are wrong.
		return
	}
	admitOutputs(at, w, found)
	exactlyOnce(at, found, "marker_file", "TPL-17", r.Markers != nil, "markers")
	exactlyOnce(at, found, "array_dir", "MED-22", r.Arrays != nil, "arrays")
}

// admitOutputs holds TPL-13 to TPL-15.
func admitOutputs(at place, w *Workload, found []use) {
	outputOnce(at, found)
	declared := declaredPlaceholders(w)
	used := func(name string) bool {
		return slices.ContainsFunc(found, func(u use) bool { return u.name == name })
	}
	for _, name := range []string{"output", "output_dir"} {
		switch {
		case used(name) && !slices.Contains(declared, name):
			at.report(NoOffset, "TPL-14", "uses {%s}, which the workload's outputs do not declare; declared: %s", name, orNone(declared))
		case !used(name) && slices.Contains(declared, name):
			at.report(NoOffset, "TPL-14", "does not use {%s}, which the workload's outputs declare", name)
		}
	}
	if cells := cellsWithSeveralImages(w); len(cells) > 0 && (used("output") || !used("output_dir")) {
		at.report(NoOffset, "TPL-15", "has to use {output_dir} and not {output}: images_per_run is above 1 in cell %s", quoteList(cells))
	}
}

func outputOnce(at place, found []use) {
	count := 0
	for _, u := range found {
		if u.name != "output" {
			continue
		}
		if count++; count > 1 {
			at.item(u.arg).report(NoOffset, "TPL-13", "repeats {output}, which may occur once in all arguments together")
		}
	}
}

func exactlyOnce(at place, found []use, name, rule string, declared bool, field string) {
	count := 0
	for _, u := range found {
		if u.name == name {
			count++
		}
	}
	if declared && count != 1 {
		at.report(NoOffset, rule, "has {%s} %d times; with %s it occurs exactly once", name, count, field)
	}
}

// admitSetupTemplates holds TPL-16 and TPL-17 of the setup's args.
func admitSetupTemplates(at place, w *Workload, r *Runner) {
	declared := declaredPlaceholders(w)
	found := uses(at, r.Setup.Args)
	for _, u := range found {
		switch {
		case u.name == "marker_file":
			at.item(u.arg).report(NoOffset, "TPL-17", "uses {marker_file}; setup has no markers")
		case !slices.Contains(declared, u.name):
			at.item(u.arg).report(NoOffset, "TPL-16", "has the placeholder {%s}; setup has no cell and no seed, known: %s",
				boundedName(u.name), orNone(declared))
		}
	}
	outputOnce(at, found)
}

// cellsWithout lists the cells whose request has no value for a placeholder.
func cellsWithout(w *Workload, placeholder string) []string {
	if placeholder == "seed" || !slices.Contains(requestPlaceholders(), placeholder) {
		return nil
	}
	var missing []string
	for i := range w.Cells {
		if _, ok := requestValue(placeholder, cellRequest(w, &w.Cells[i])); !ok {
			missing = append(missing, w.Cells[i].ID)
		}
	}
	return missing
}

func cellsWithSeveralImages(w *Workload) []string {
	var cells []string
	for i := range w.Cells {
		if n := cellRequest(w, &w.Cells[i]).ImagesPerRun; n != nil && *n > 1 {
			cells = append(cells, w.Cells[i].ID)
		}
	}
	return cells
}

func braced(names []string) string {
	return "{" + strings.Join(names, "}, {") + "}"
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return braced(names)
}

// boundedName shows what stood between braces: printable, and only so much.
func boundedName(name string) string {
	quoted := shown(name)
	if plain := quoted[1 : len(quoted)-1]; plain == name {
		return name
	}
	return quoted
}

// requestPath is the path of the request of cell i, or of the workload's (-1).
func requestPath(root place, cell int) place {
	if cell < 0 {
		return root.member("request")
	}
	return place{root.c, strictjson.JoinName("cells["+strconv.Itoa(cell)+"]", "request")}
}

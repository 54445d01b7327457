package plan

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format gives the canonical form of a plan file. A file that does not parse is
// refused with all its syntax errors, since hclwrite formats broken text without
// complaint. Formatting twice changes nothing more.
func Format(filename string, src []byte) ([]byte, hcl.Diagnostics) {
	diags := newDiagnostics()
	parseFile(sourceFile{name: filename, display: filename, data: src}, diags)
	if found := diags.sorted(nil); found.HasErrors() {
		return nil, found
	}
	return hclwrite.Format(src), nil
}

package document

import "github.com/grill-plan/grill-plan/internal/strictjson"

// deploymentTable is DOC-52. A null field means the same as an absent one, here
// and nowhere else.
func deploymentTable() []field[Deployment] {
	declared := func(name string, get func(*Deployment) **string) field[Deployment] {
		row := optionalText(name, "DOC-52", plain("DOC-53", 1, maxPlainBytes), get)
		read := row.read
		row.read = func(at place, v *strictjson.Value, into *Deployment) {
			if v.Kind != strictjson.Null {
				read(at, v, into)
			}
		}
		return row
	}
	return []field[Deployment]{
		declared("model_revision", func(d *Deployment) **string { return &d.ModelRevision }),
		declared("runtime", func(d *Deployment) **string { return &d.Runtime }),
		declared("hardware", func(d *Deployment) **string { return &d.Hardware }),
		declared("settings", func(d *Deployment) **string { return &d.Settings }),
	}
}

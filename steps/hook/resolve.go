package hook

import (
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/program"
)

// resolve finds what is executed for a hook and the directory it runs in. Hooks
// are not hashed: they are no part of what is compared.
func (r runner) resolve(hook spec.Hook) (path, dir string, err error) {
	if path, err = program.Declared(r.env.Folder, hook.Program); err != nil {
		return "", "", err
	}
	if path == program.Self {
		path = r.env.Self
	}
	dir, err = program.ResolveCwd(r.env.Folder, hook.Cwd)
	return path, dir, err
}

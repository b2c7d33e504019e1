package undo

import (
	"slices"
	"syscall"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A selector finds the calls that an undo takes back, and their steps.
type selector struct {
	tx     *tree.Tx
	levels []history.Level // of the branch
	what   string          // undo or redo
	own    int64           // the call of the undo itself
	by     *vfs.Call       // the same
}

// capOf returns the level of a branch in the lineage, and the epoch up to which it counts.
func (s *selector) capOf(branch int64) (level int, epoch int64, ok bool) {
	for i, l := range s.levels {
		if l.Branch == branch {
			return i, l.Cap, true
		}
	}
	return 0, 0, false
}

// window is how many steps are read at once.
const window = 256

// each calls fn for each call that changed the branch, the latest step first, until it returns false. A call with several
// steps comes once. The call of the undo itself is left out.
func (s *selector) each(fn func(call int64) (bool, error)) error {
	seen := map[int64]bool{s.own: true}
	for _, l := range s.levels {
		for below := l.Cap + 1; ; {
			steps, err := journal.StepsOn(s.tx.DB(), l.Branch, below, window)
			if err != nil {
				return err
			}

			for _, step := range steps {
				below = step.Epoch
				if seen[step.Call] {
					continue
				}
				seen[step.Call] = true
				if more, err := fn(step.Call); err != nil || !more {
					return err
				}
			}
			if len(steps) < window {
				break
			}
		}
	}
	return nil
}

// eachOfSession is each for the calls of the session of the undo. The last of them is near the end as a rule, so it looks among
// the latest steps first; some calls may come twice.
func (s *selector) eachOfSession(fn func(call int64) (bool, error)) error {
	head := s.levels[0]
	for _, read := range []func() ([]journal.Step, error){
		func() ([]journal.Step, error) { return journal.StepsOn(s.tx.DB(), head.Branch, head.Cap+1, window) },
		func() ([]journal.Step, error) { return journal.StepsOfSession(s.tx.DB(), s.by.Session) },
	} {
		steps, err := read()
		if err != nil {
			return err
		}
		for _, call := range s.callsOf(steps) {
			if more, err := fn(call); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// eachUndo is each for the calls that took others back, the last of these first. It reads nothing of the others.
func (s *selector) eachUndo(fn func(call int64) (bool, error)) error {
	seen := map[int64]bool{s.own: true}
	for _, l := range s.levels {
		for below := l.Cap + 1; ; {
			epoch, call, err := journal.LastUndo(s.tx.DB(), l.Branch, below)
			if err != nil {
				return err
			}
			if call == 0 {
				break
			}

			below = epoch
			if seen[call] {
				continue
			}
			seen[call] = true
			if more, err := fn(call); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// callsOf returns the calls of those of some steps that the branch has, the latest step first. The call of the undo itself is
// left out.
func (s *selector) callsOf(steps []journal.Step) (calls []int64) {
	steps = slices.DeleteFunc(steps, func(step journal.Step) bool { return !s.within(step) })
	slices.SortFunc(steps, s.later)
	seen := map[int64]bool{s.own: true}
	for _, step := range steps {
		if !seen[step.Call] {
			seen[step.Call] = true
			calls = append(calls, step.Call)
		}
	}
	return calls
}

// undoneBy returns the call that took a call back on the branch; 0 if none did, or that was taken back itself.
func (s *selector) undoneBy(call int64) (int64, error) { return s.standing(call, make(map[int64]bool)) }

func (s *selector) standing(call int64, seen map[int64]bool) (int64, error) {
	if seen[call] { // only a damaged file has such a circle
		return 0, nil
	}
	seen[call] = true
	for _, l := range s.levels {
		by, err := journal.UndoneBy(s.tx.DB(), l.Branch, l.Cap, call)
		if err != nil || by == 0 {
			if err != nil {
				return 0, err
			}
			continue
		}
		if later, err := s.standing(by, seen); err != nil || later != 0 {
			return 0, err
		}
		return by, nil
	}
	return 0, nil
}

// isUndo reports whether a call took back another that is no undo itself: the undo of nothing but undos is a redo. some says
// whether it took back any.
func (s *selector) isUndo(call int64) (undo, some bool, err error) {
	return s.tookBack(call, make(map[int64]bool))
}

func (s *selector) tookBack(call int64, seen map[int64]bool) (undo, some bool, err error) {
	if seen[call] { // only a damaged file has such a circle
		return false, false, nil
	}
	seen[call] = true
	list, err := journal.TakenBack(s.tx.DB(), call)
	if err != nil {
		return false, false, err
	}
	for _, target := range list {
		of, _, err := s.tookBack(target, seen)
		if err != nil || !of {
			return err == nil, true, err
		}
	}
	return false, len(list) > 0, nil
}

// toUndo returns the calls that the options select, the latest first.
func (s *selector) toUndo(o Options) ([]int64, error) {
	switch {
	case o.Call != 0:
		return s.one(o.Call)
	case o.Session == "" && o.Actor == "" && o.Since.IsZero():
		walk := s.each
		if o.Own {
			walk = s.eachOfSession
		}
		return s.last(o.Own, walk, func(call int64) (bool, error) {
			_, some, err := s.isUndo(call)
			return !some, err
		})
	}

	var steps []journal.Step
	var err error
	switch {
	case o.Session != "":
		steps, err = journal.StepsOfSession(s.tx.DB(), o.Session)
	case o.Actor != "":
		steps, err = journal.StepsOfActor(s.tx.DB(), o.Actor)
	default:
		steps, err = journal.StepsSince(s.tx.DB(), o.Since)
	}
	if err != nil {
		return nil, err
	}
	chosen, err := s.effective(s.callsOf(steps))
	if err != nil {
		return nil, err
	}
	return chosen, s.some(chosen)
}

// effective returns those of some calls, the latest first, whose changes are in the head. An undo is left out with what it took
// back, if that is among them too; if not, it counts, and so does what it took back.
func (s *selector) effective(calls []int64) (list []int64, err error) {
	among, chosen := make(map[int64]bool), make(map[int64]bool)
	for _, call := range calls {
		among[call] = true
	}
	for _, call := range calls {
		by, err := s.undoneBy(call)
		if err != nil {
			return nil, err
		}
		if by != 0 && !chosen[by] {
			continue
		}

		taken, err := journal.TakenBack(s.tx.DB(), call)
		if err != nil {
			return nil, err
		}
		if len(taken) == 0 || slices.ContainsFunc(taken, func(c int64) bool { return !among[c] }) {
			chosen[call] = true
			list = append(list, call)
		}
	}
	return list, nil
}

// toRedo returns the undo that the options select.
func (s *selector) toRedo(o RedoOptions) ([]int64, error) {
	if o.Call == 0 {
		return s.last(o.Own, s.eachUndo, func(call int64) (bool, error) {
			undo, _, err := s.isUndo(call)
			return undo, err
		})
	}

	found, err := s.one(o.Call)
	if err != nil {
		return nil, err
	}
	undo, _, err := s.isUndo(o.Call)
	if err == nil && !undo {
		err = refuse(s.what, syscall.EINVAL, "call %d is no undo", o.Call)
	}
	return found, err
}

// last returns the first call that walk comes to, that fits and is not undone; own: of those alone that have the session and the
// actor of the undo.
func (s *selector) last(own bool, walk func(func(int64) (bool, error)) error, fits func(int64) (bool, error)) (found []int64, err error) {
	if own && s.by.Session == "" {
		return nil, refuse(s.what, syscall.EINVAL, "without a session no call is known to be its own: name one by its number")
	}

	err = walk(func(call int64) (bool, error) {
		if ok, err := fits(call); err != nil || !ok {
			return true, err
		}
		if own {
			c, there, err := journal.ReadCall(s.tx.DB(), call)
			if err != nil || !there || c.Session != s.by.Session || c.Actor != s.by.Actor {
				return true, err
			}
		}

		by, err := s.undoneBy(call)
		if err != nil || by != 0 {
			return true, err
		}
		found = []int64{call}
		return false, nil
	})

	switch {
	case err != nil:
		return nil, err
	case own && len(found) == 0:
		return nil, refuse(s.what, syscall.ENOENT, "this session has no %s on the branch that can be taken back", s.noun())
	}
	return found, s.some(found)
}

// some refuses to take back nothing.
func (s *selector) some(calls []int64) error {
	if len(calls) == 0 {
		return refuse(s.what, syscall.ENOENT, "there is no %s on the branch that can be taken back", s.noun())
	}
	return nil
}

// noun is what the selector looks for: a redo takes back an undo.
func (s *selector) noun() string {
	if s.what == "redo" {
		return "undo"
	}
	return "call"
}

// one checks a call that was asked for by its number.
func (s *selector) one(call int64) ([]int64, error) {
	steps, err := journal.StepsOf(s.tx.DB(), call)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(steps, s.within) || call == s.own {
		return nil, s.without(call, steps)
	}
	by, err := s.undoneBy(call)
	if err != nil {
		return nil, err
	}
	if by != 0 {
		return nil, refuse(s.what, syscall.EALREADY, "call %d is undone, by call %d", call, by)
	}
	return []int64{call}, nil
}

// within reports whether the branch has a step.
func (s *selector) within(step journal.Step) bool {
	_, epoch, ok := s.capOf(step.Branch)
	return ok && step.Epoch <= epoch
}

// without returns the reason why a call has nothing that could be taken back.
func (s *selector) without(call int64, steps []journal.Step) error {
	record, there, err := journal.ReadCall(s.tx.DB(), call)
	switch {
	case err != nil:
		return err
	case !there || call == s.own:
		oldest, newest, err := journal.CallSpan(s.tx.DB())
		if err != nil {
			return err
		}
		if call == s.own {
			newest--
		}
		if newest < oldest {
			return refuse(s.what, syscall.ENOENT, "call %d is not in the log, which has no call", call)
		}
		return refuse(s.what, syscall.ENOENT, "call %d is not in the log, which has calls %d to %d", call, oldest, newest)
	case len(steps) == 0:
		return refuse(s.what, syscall.EINVAL, "call %d changed no tree", call)
	case record.Branch == "":
		return refuse(s.what, syscall.EINVAL, "call %d changed another branch, which was dropped", call)
	}
	return refuse(s.what, syscall.EINVAL, "call %d changed another branch, %s", call, record.Branch)
}

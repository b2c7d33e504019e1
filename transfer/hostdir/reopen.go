package hostdir

// A Reopener opens directories by their path below Top, and holds the last one.
type Reopener struct {
	Top  *Dir
	name string
	in   *Dir
}

// Dir opens a directory, or returns the one that it holds, until the next call.
func (r *Reopener) Dir(name string) (*Dir, error) {
	if r.in != nil && r.name == name {
		return r.in, nil
	}
	r.Close()
	in, err := r.Top.Below(name)
	if err != nil {
		return nil, err
	}
	r.name, r.in = name, in
	return in, nil
}

// Close closes the directory that it holds.
func (r *Reopener) Close() {
	if r.in != nil {
		r.in.Done()
		r.in = nil
	}
}

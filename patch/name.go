package patch

import "vfsdb/internal/gitname"

// Name returns a path as a line of a patch has it. That of a renamed file shows both paths, as git diff --stat does.
func (f *File) Name() string {
	if f.From == "" {
		return gitname.Quote(f.Path)
	}
	if quoted := gitname.Quote(f.From + f.Path); quoted[0] == '"' {
		return gitname.Quote(f.From) + " => " + gitname.Quote(f.Path)
	}

	// The common directories in front and behind stand once: dir/{old => new}/file.
	a, b := f.From, f.Path
	front := 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			front = i + 1
		}
	}
	least := max(front-1, 0) // the slash in front may be the one behind
	back := 0
	for i := 1; len(a)-i >= least && len(b)-i >= least && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == '/' {
			back = i
		}
		if i == len(a) || i == len(b) {
			break
		}
	}
	middle := func(s string) string { return s[front:max(front, len(s)-back)] }
	if front+back == 0 {
		return a + " => " + b
	}
	return a[:front] + "{" + middle(a) + " => " + middle(b) + "}" + a[len(a)-back:]
}

package merge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// A preference leaves no conflicts of contents.
func TestMergePrefers(t *testing.T) {
	for side, want := range map[merge.Side]string{merge.Ours: "a=2|2|3|4|9|", merge.Theirs: "a=3|2|3|4|9|"} {
		main := vfstest.New(t)
		change(t, main, "w a "+five, "w b 1")
		try := fork(t, main, "try")
		change(t, main, "w a 2\n2\n3\n4\n5\n", "rm b")
		change(t, try, "w a 3\n2\n3\n4\n9\n", "w b 2")
		r, err := merge.Into(t.Context(), main, try, &merge.Options{Prefer: side})
		require.NoError(t, err)
		require.Empty(t, r.Conflicts)
		require.Contains(t, texts(t, main), want)
		require.Equal(t, side == merge.Theirs, len(texts(t, main)) == 2)
	}
}

// A preference decides for its own merge. What an earlier one conflicted about stays, whether this merge changes the same
// register of the file, another one, or nothing of it.
func TestMergePrefersForItself(t *testing.T) {
	for _, tt := range []struct {
		step         string
		ours, theirs string
	}{
		{"chmod a", "2\n", "2\n"},
		{"w a 5\n", "2\n", "5\n"},
		{"w b 5\n", "2\n", "2\n"},
	} {
		for side, want := range map[merge.Side]string{merge.Ours: tt.ours, merge.Theirs: tt.theirs} {
			ctx := t.Context()
			main := vfstest.New(t)
			change(t, main, "w a 1\n", "w b 1\n")
			one, two := fork(t, main, "one"), fork(t, main, "two")
			change(t, one, "w a 3\n")
			change(t, main, "w a 2\n")
			into(t, main, one)
			change(t, two, tt.step)
			r, err := merge.Into(ctx, main, two, &merge.Options{Prefer: side})
			require.NoError(t, err)
			require.Equal(t, []string{"a: content"}, conflicted(t, main), tt.step)
			require.Equal(t, "one", r.Conflicts[0].TheirsLabel, tt.step)
			for side, text := range []string{"1\n", want, "3\n"} {
				data, err := merge.Content(ctx, main, "a", merge.Side(side))
				require.NoError(t, err)
				require.Equal(t, text, string(data), tt.step)
			}
			require.NoError(t, merge.Resolve(ctx, main, "a", merge.Take{Side: merge.Theirs}))
			require.Equal(t, "a=3|", texts(t, main)[0])
		}
	}
}

// Where both sides changed some of the same attributes, the preference is about these alone.
func TestMergePrefersAttributes(t *testing.T) {
	ctx := t.Context()
	for side, want := range map[merge.Side]string{merge.Ours: "2", merge.Theirs: "3"} {
		main := vfstest.New(t)
		change(t, main, "w a 1")
		try := fork(t, main, "try")
		set := func(fsys *vfs.FS, name, value string) {
			require.NoError(t, xattr.Set(ctx, fsys, "a", true, "user."+name, []byte(value), 0))
		}
		set(main, "both", "2")
		set(main, "ours", "2")
		set(try, "both", "3")
		set(try, "theirs", "3")
		_, err := merge.Into(ctx, main, try, &merge.Options{Prefer: side})
		require.NoError(t, err)
		require.Empty(t, conflicted(t, main))
		for name, want := range map[string]string{"both": want, "ours": "2", "theirs": "3"} {
			value, err := xattr.Get(ctx, main, "a", true, "user."+name)
			require.NoError(t, err)
			require.Equal(t, want, string(value), name)
		}
	}
}

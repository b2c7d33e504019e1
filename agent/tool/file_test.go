package tool_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest/agentkit"
)

func filePaths(list []tool.File) (paths []string) {
	for _, f := range list {
		paths = append(paths, f.Path)
	}
	return paths
}

// Pages of files hold what the policy shows, each file once, whatever their number.
func TestFiles(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Paths: []string{"/a", "/d/deep"}, Deny: []string{"/a/secret"}}},
		"a/b/1", "a/b/2", "a/c", "a/secret/key", "a.txt", "d/deep/er/x", "d/shallow", "z")
	require.NoError(t, fsys.Symlink(t.Context(), "../z", "a/link"))
	want := []string{"/a/b/1", "/a/b/2", "/a/c", "/d/deep/er/x"}
	for limit := 1; limit <= 5; limit++ {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			var all []string
			for after := ""; ; {
				page, err := b.Files(t.Context(), after, limit)
				require.NoError(t, err)
				all = append(all, filePaths(page)...)
				if len(page) < limit {
					break
				}
				after = all[len(all)-1]
			}
			require.Equal(t, want, all)
		})
	}
	// A cursor may have been removed since, or a directory have come in its place.
	require.NoError(t, fsys.Remove(t.Context(), "a/b/1"))
	require.NoError(t, fsys.MkdirAll(t.Context(), "a/b/1", 0o755))
	require.NoError(t, fsys.WriteFile(t.Context(), "a/b/1/in", nil, 0o644))
	page, err := b.Files(t.Context(), "/a/b/1", 1)
	require.NoError(t, err)
	require.Equal(t, []string{"/a/b/2"}, filePaths(page))
	require.NoError(t, fsys.RemoveAll(t.Context(), "a/b"))
	page, err = b.Files(t.Context(), "/a/b/1", 9)
	require.NoError(t, err)
	require.Equal(t, []string{"/a/c", "/d/deep/er/x"}, filePaths(page))
}

// A file is read under the policy, symlinks followed, and no more of it than is wanted.
func TestReadFile(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Paths: []string{"/a"}}}, "a/dir/", "out")
	require.NoError(t, fsys.WriteFile(t.Context(), "a/f", []byte("12345"), 0o644))
	require.NoError(t, fsys.Symlink(t.Context(), "f", "a/in"))
	require.NoError(t, fsys.Symlink(t.Context(), "../out", "a/away"))
	for _, tt := range []struct {
		name string
		max  int64
		want error
	}{
		{"/a/f", 5, nil},
		{"a/in", 5, nil},
		{"/a/f", 4, syscall.EFBIG},
		{"/a/none", 5, syscall.ENOENT},
		{"/a/dir", 5, syscall.EISDIR},
		{"/a/away", 5, syscall.EACCES},
		{"/out", 5, syscall.EACCES},
		{"/a/../out", 5, syscall.EACCES},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := b.ReadFile(t.Context(), tt.name, tt.max)
			require.ErrorIs(t, err, tt.want)
			if err == nil {
				require.Equal(t, "/a/f", f.Path)
				require.Equal(t, "12345", string(f.Data))
			}
		})
	}
}

func TestComplete(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Paths: []string{"/src", "/deep/er"}}}, "src/main.go", "src/main_test.go", "src/sub/x", "deep/er/y", "deep/z", "other")
	for _, tt := range []struct {
		typed string
		want  []string
		more  bool
	}{
		{"", []string{"deep/", "src/"}, false},
		{"/s", []string{"src/"}, false},
		{"src/ma", []string{"src/main.go", "src/main_test.go"}, false},
		{"src/", []string{"src/main.go", "src/main_test.go"}, true},
		{"deep/", []string{"deep/er/"}, false},
		{"other", nil, false},
		{"none/x", nil, false},
	} {
		paths, more, err := b.Complete(t.Context(), tt.typed, 2)
		require.NoError(t, err)
		require.Equal(t, tt.want, paths, tt.typed)
		require.Equal(t, tt.more, more, tt.typed)
	}
}

// Narrowing a policy never widens it.
func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		name          string
		policy        *policy.Policy
		bounds        []string
		shown, hidden []string
	}{
		{"of everything", nil, []string{"/a"}, []string{"/a", "/a/b"}, []string{"/", "/ab", "/c"}},
		{"deeper", &policy.Policy{Paths: []string{"/a"}}, []string{"/a/b"}, []string{"/a/b/c"}, []string{"/a", "/a/c"}},
		{"wider", &policy.Policy{Paths: []string{"/a/b"}}, []string{"/"}, []string{"/a/b"}, []string{"/a"}},
		{"elsewhere", &policy.Policy{Paths: []string{"/a"}}, []string{"/b"}, nil, []string{"/", "/a", "/b"}},
		{"nothing", nil, nil, nil, []string{"/", "/a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused, err := tt.policy.Within(tt.bounds)
			require.NoError(t, err)
			b, _ := agentkit.Box(t, &tool.Config{Policy: refused})
			for _, p := range tt.shown {
				require.True(t, b.Shows(p), p)
			}
			for _, p := range tt.hidden {
				require.False(t, b.Shows(p), p)
			}
		})
	}
}

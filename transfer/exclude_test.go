package transfer

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

func TestExclude(t *testing.T) {
	src := t.TempDir()
	write(t, src, "a.o", "b.c", "d/a.o", "d/b.c", "d/e/a.o", "node_modules/x", "d/node_modules/y", "tmp", "d/tmp/z")
	for _, tt := range []struct {
		patterns []string
		want     []string
	}{
		{nil, []string{"a.o", "b.c", "d/a.o", "d/b.c", "d/e/a.o", "d/node_modules/y", "d/tmp/z", "node_modules/x", "tmp"}},
		{[]string{"*.o"}, []string{"b.c", "d/b.c", "d/node_modules/y", "d/tmp/z", "node_modules/x", "tmp"}},
		{[]string{"node_modules", "tmp/"}, []string{"a.o", "b.c", "d/a.o", "d/b.c", "d/e/a.o", "tmp"}},
		{[]string{"/node_modules", "d/*/"}, []string{"a.o", "b.c", "d/a.o", "d/b.c", "tmp"}},
		{[]string{"d/**/*.o", "{tmp,node_modules}"}, []string{"a.o", "b.c", "d/b.c"}},
		{[]string{"d"}, []string{"a.o", "b.c", "node_modules/x", "tmp"}},
	} {
		t.Run(fmt.Sprint(tt.patterns), func(t *testing.T) {
			want := tt.want
			o := &ImportOptions{Exclude: tt.patterns}
			fsys := vfstest.New(t)
			_, err := ImportDir(t.Context(), fsys, src, "/", o)
			require.NoError(t, err)
			require.Equal(t, want, fileNames(t, fsys))

			all, again := vfstest.New(t), vfstest.New(t)
			_, err = ImportDir(t.Context(), all, src, "/", nil)
			require.NoError(t, err)
			var archive bytes.Buffer
			_, err = ExportTar(t.Context(), all, "/", &archive, nil)
			require.NoError(t, err)
			_, err = ImportTar(t.Context(), again, &archive, "/", o)
			require.NoError(t, err)
			require.Equal(t, want, fileNames(t, again))
		})
	}
}

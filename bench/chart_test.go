package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"vfsdb/bench/figures"
)

var update = flag.Bool("update", false, "write golden files anew")

// madeUp is a report with a bar of each sort.
func madeUp() report {
	b := bench{}
	for _, of := range []struct {
		kind, name string
		rows       []row
	}{
		{"files", "create", []row{
			versus("create 10,000 x 1 KiB, one Update", 231e6, "os.WriteFile", 362e6, 5).aim(8),
			versus("create 1 KiB, durable, one by one", 490e3, "create+write+fsync", 681e3, 1.39),
			versus("64 writers, durable, 1 KiB", 54e3, "a commit for each", 437e3, 8).itself(),
			versus("the same, in no time", 1e6, "os.WriteFile", 0, 0),
		}},
		{"streams", "stream", []row{
			versus("stream in 1 GiB, durable", 5.28e9, "file+blake3+fsync", 1.39e9, 0.3),
			versus("stream in 2 GiB, durable", 5.28e9, "file+blake3+fsync", 1.39e9, 0.26),
			versus("stream in 3 GiB, durable", 5.28e9, "file+blake3+fsync", 1.39e9, 0.2),
			versus("readdir of 100, cold", 53e6, "depth 1", 28e6, 0.5).itself(),
			versus("readdir of 100, warm", 28e6, "depth 1", 53e6, 1.85).itself(),
			under("peak RSS", "B", 60<<20, 64<<20).aim(32 << 20),
		}},
		{"trees", "import", []row{
			versus("import <all> of 11,478 files, 122 MiB", 1e9, "cp -r & more", 5.4e9, 0),
			absent("import 11,478 files, 122 MiB", 1e9, "borg create").atLeast(2),
			versus("read its files in order", 36e3, "plain", 17e3, 0).itself(),
			versus("drop a branch of 10,000 x 10 KiB", 1e6, "os.RemoveAll", 448e6, 0),
			versus("as fast", 1e6, "tar", 1e6, 1),
		}},
	} {
		b.kind, b.name = of.kind, of.name
		b.add(of.rows...)
	}
	return report{Machine: figures.Machine{Cores: 2, System: "linux/amd64", Go: "go1.26"}, Rounds: 3, Rows: b.rows}
}

// Equal figures make equal drawings. Run with -update after the drawing was changed, and look at it.
func TestChart(t *testing.T) {
	golden := filepath.Join("testdata", "ratios.svg")
	if *update {
		require.NoError(t, os.WriteFile(golden, madeUp().chart(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(madeUp().chart()))
	require.NotContains(t, string(want), "read its files in order", "what is compared with ourselves has no bar without a goal")
	require.NotContains(t, string(want), "borg create", "nor has what is absent")
	require.NotContains(t, string(want), "in no time", "nor what has no ratio")
}

// A box is the place of a part of the drawing.
type box struct {
	what                  string
	left, right, up, down float64
}

func (b box) meets(c box) bool {
	return b.left < c.right && c.left < b.right && b.up < c.down && c.up < b.down
}

// boxes returns the boxes of all texts, by a generous guess of their width, and of the ticks of goals.
func boxes(t *testing.T, drawing []byte) (texts, ticks []box) {
	t.Helper()
	attr := func(e xml.StartElement, name string, fallback float64) float64 {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				v, err := strconv.ParseFloat(a.Value, 64)
				require.NoError(t, err, "%s of %s", name, e.Name.Local)
				return v
			}
		}
		return fallback
	}
	var text *box
	var anchor string
	for d := xml.NewDecoder(bytes.NewReader(drawing)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, ticks
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			switch x, y := attr(e, "x", 0), attr(e, "y", 0); {
			case e.Name.Local == "text":
				size := attr(e, "font-size", 12)
				text, anchor = &box{left: x, right: size, up: y - 0.75*size, down: y + 0.2*size}, ""
				for _, a := range e.Attr {
					if a.Name.Local == "text-anchor" {
						anchor = a.Value
					}
				}
			case e.Name.Local == "rect" && attr(e, "width", 0) == 3:
				ticks = append(ticks, box{"tick", x, x + 3, y, y + attr(e, "height", 0)})
			}
		case xml.CharData:
			if text == nil {
				continue
			}
			x, width := text.left, 0.62*text.right*float64(utf8.RuneCount(e))
			text.what = string(e)
			switch anchor {
			case "end":
				text.left, text.right = x-width, x
			case "middle":
				text.left, text.right = x-width/2, x+width/2
			default:
				text.right = x + width
			}
			texts, text = append(texts, *text), nil
		}
	}
}

// No text covers another, or a tick, or leaves the drawing.
func TestChartIsLegible(t *testing.T) {
	drawing := madeUp().chart()
	size := regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`).FindSubmatch(drawing)
	require.NotNil(t, size)
	width, _ := strconv.ParseFloat(string(size[1]), 64)
	height, _ := strconv.ParseFloat(string(size[2]), 64)
	require.Equal(t, 860.0, width)
	texts, ticks := boxes(t, drawing)
	require.Greater(t, len(texts), 30)
	require.Len(t, ticks, 1+9, "the legend's, and one for each goal of a ratio")
	for i, a := range texts {
		require.True(t, a.left >= 0 && a.right <= width && a.up >= 0 && a.down <= height, "%q leaves the drawing: %+v", a.what, a)
		for _, b := range texts[:i] {
			require.False(t, a.meets(b), "%q and %q", a.what, b.what)
		}
		for _, b := range ticks {
			require.False(t, a.meets(b), "%q and a tick: %+v %+v", a.what, a, b)
		}
	}
}

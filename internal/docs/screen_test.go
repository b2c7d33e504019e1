package docs

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A screen is 80 columns wide, and dark on any page. Sizes are in pixels.
const (
	screenWidth  = 748
	screenRows   = 22
	screenTop    = 46 // above the first row, for the title
	rowHeight    = 19
	screenMargin = 20
)

// inks are the colours of the escape sequences that vfsctl uses, as classes.
var inks = map[string]string{
	"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "1;34": "blue", "35": "purple", "36": "cyan",
}

const screenStyle = `
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d1d7e0; white-space: pre }
.bold { font-weight: bold; fill: #f0f6fc } .dim { fill: #9198a1 } .red { fill: #ff7b72 } .green { fill: #56d364 }
.yellow { fill: #e3b341 } .blue { font-weight: bold; fill: #79c0ff } .purple { fill: #d2a8ff } .cyan { fill: #76e3ea }
.step, #paper { animation-iteration-count: infinite; animation-timing-function: ease-out }
@media (prefers-reduced-motion: reduce) { .step, #paper { animation: none !important } }
`

// screen draws a terminal in which a command prints its output paragraph by paragraph, over and over. A viewer that does
// not move pictures, or is asked not to, shows the first rows.
func screen(command, printed string) []byte {
	steps := append([]string{"$ " + command}, strings.Split(strings.TrimSpace(printed), "\n\n")...)

	// When each paragraph appears, in seconds, and which row is the first of the screen then. There is time to read it.
	starts, tops := make([]float64, len(steps)), make([]int, len(steps))
	now, rows := 0.0, 0
	for i, step := range steps {
		count := strings.Count(step, "\n") + 1
		starts[i], tops[i] = now, max(0, rows+count-screenRows)
		rows += count + 1
		now += 1.2 + 0.3*float64(count)
	}
	total := now + 4

	var b bytes.Buffer
	height := screenTop + screenRows*rowHeight + screenMargin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" xml:space="preserve">`+"\n", screenWidth, height)
	fmt.Fprintf(&b, "<title>A recording of %s</title>\n<style>%s", command, screenStyle)
	percent := func(seconds float64) string { return fmt.Sprintf("%.2f%%", 100*seconds/total) }
	for i := range steps {
		if i > 0 {
			fmt.Fprintf(&b, "@keyframes step%d { 0%%, %s { opacity: 0 } %s, 100%% { opacity: 1 } }\n", i, percent(starts[i]-0.01), percent(starts[i]))
			fmt.Fprintf(&b, "#step%d { animation-name: step%[1]d; animation-duration: %.1fs }\n", i, total)
		}
	}
	b.WriteString("@keyframes scroll { 0% { transform: translateY(0) }")
	for i := 1; i < len(steps); i++ {
		fmt.Fprintf(&b, " %s { transform: translateY(%dpx) } %s { transform: translateY(%dpx) }",
			percent(starts[i]), -tops[i-1]*rowHeight, percent(starts[i]+0.3), -tops[i]*rowHeight)
	}
	fmt.Fprintf(&b, " 100%% { transform: translateY(%dpx) } }\n", -tops[len(tops)-1]*rowHeight)
	fmt.Fprintf(&b, "#paper { animation-name: scroll; animation-duration: %.1fs }\n</style>\n", total)

	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%d" height="%d" rx="9" fill="#0d1117" stroke="#3d444d"/>`+"\n", screenWidth-1, height-1)
	for i, fill := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="19" r="6" fill="%s"/>`+"\n", screenMargin+6+20*i, fill)
	}
	fmt.Fprintf(&b, `<svg x="0" y="%d" width="%d" height="%d">`+"\n"+`<g id="paper">`+"\n", screenTop-rowHeight+4, screenWidth, screenRows*rowHeight+1)
	row := 0
	for i, step := range steps {
		fmt.Fprintf(&b, `<g class="step" id="step%d">`+"\n", i)
		for line := range strings.SplitSeq(step, "\n") {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", screenMargin, (row+1)*rowHeight-4, spans(line))
			row++
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"></text>`+"\n</g>\n", screenMargin, (row+1)*rowHeight-4)
		row++
	}
	b.WriteString("</g>\n</svg>\n</svg>\n")
	return b.Bytes()
}

var painted = regexp.MustCompile("\x1b\\[([0-9;]+)m(.*?)\x1b\\[0m")

// spans turns a line with escape sequences into text with classes.
func spans(line string) string {
	var b strings.Builder
	last := 0
	for _, m := range painted.FindAllStringSubmatchIndex(line, -1) {
		b.WriteString(escape(line[last:m[0]]))
		fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, inks[line[m[2]:m[3]]], escape(line[m[4]:m[5]]))
		last = m[1]
	}
	b.WriteString(escape(line[last:]))
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}

// Every line that is printed is in the drawing, and nothing else.
func TestScreen(t *testing.T) {
	drawn := string(screen("run", "\x1b[1mtitle\x1b[0m\n  <a> & \x1b[32mb\x1b[0m\n\nlast\n"))
	require.Equal(t, []string{"$ run", "", "title", "  <a> & b", "", "last", ""}, linesOf(t, drawn))
	require.Contains(t, drawn, `  &lt;a&gt; &amp; <tspan class="green">b</tspan>`)
	require.NotContains(t, drawn, "\x1b")
}

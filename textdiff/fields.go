package textdiff

// Fields compares two texts by what stands between blanks, as git diff --word-diff does. Blanks are spaces, tabs and line ends;
// texts that differ in nothing else have no hunks. The ranges of the hunks count bytes, from the beginning of a field to the
// end of one, and an empty one is behind the field before. The bounds are those of Compare.
func Fields(a, b []byte) []Hunk {
	textA, placesA := fields(a)
	textB, placesB := fields(b)
	hunks := compare(textA, textB, false)
	for i, h := range hunks {
		hunks[i] = Hunk{spanOf(placesA, h.A), spanOf(placesB, h.B)}
	}
	return hunks
}

// fields returns a text with a line for each field of data, and where the fields are.
func fields(data []byte) (Text, []Range) {
	var lines []byte
	var places []Range
	for at := 0; at < len(data); at++ {
		from := at
		for at < len(data) && !isBlank(data[at]) {
			at++
		}
		if at > from {
			lines = append(append(lines, data[from:at]...), '\n')
			places = append(places, Range{from, at})
		}
	}
	return Lines(lines), places
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// spanOf returns the bytes of the fields in r.
func spanOf(places []Range, r Range) Range {
	switch {
	case r.Len() > 0:
		return Range{places[r.From].From, places[r.To-1].To}
	case r.From > 0:
		end := places[r.From-1].To
		return Range{end, end}
	}
	return Range{}
}

package tool_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

type noteIn struct {
	Title string `json:"title" jsonschema:"the title of the note"`
	Text  string `json:"text,omitempty" jsonschema:"its text"`
}

// keep writes a note. The guard resolves the path and asks the policy.
func keep(g *tool.Guard, in noteIn) (tool.Text, error) {
	w, err := g.Write("/notes/"+in.Title, []byte(in.Text), true, tool.Precondition{})
	if err != nil {
		return "", err
	}
	return tool.Text("kept as " + w.Path()), nil
}

// show reads a note.
func show(g *tool.Guard, in noteIn) (tool.Text, error) {
	n, err := g.Open("/notes/" + in.Title)
	if err != nil {
		return "", err
	}
	data, err := g.Content(n)
	return tool.Text(data), err
}

// A profile is a name and a list of tools. Policy, schemas, the log and the words of errors are the same for all.
func ExampleProfile() {
	notes := &tool.Profile{
		Name: "notes",
		Tools: func(*tool.Toolbox) []*tool.Tool {
			return []*tool.Tool{
				tool.Change("keep", "Write a note.", tool.Puts, keep),
				tool.View("show", "Read a note.", tool.Reads, show),
			}
		},
	}

	dir, err := os.MkdirTemp("", "vfsdb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	box, err := tool.New(fsys, &tool.Config{Profile: notes})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(box.Call(ctx, "keep", []byte(`{"title": "milk", "text": "two litres"}`)).Text)
	fmt.Println(box.Call(ctx, "show", []byte(`{"title": "milk"}`)).Text)
	fmt.Println(box.Call(ctx, "show", []byte(`{"title": "eggs"}`)).Text)
	fmt.Println(box.Call(ctx, "show", []byte(`{"name": "milk"}`)).Text)
	// Output:
	// kept as /notes/milk
	// two litres
	// '/notes/eggs': no such file or directory
	// arguments of show: "title" is missing; they are: text, title
}

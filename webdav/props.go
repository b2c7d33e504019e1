package webdav

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"syscall"

	dav "golang.org/x/net/webdav"

	"vfsdb/vfs"
)

// A property is a dead property at rest: its name in its namespace, and its value as XML.
type property struct {
	Space string `json:"space,omitempty"`
	Local string `json:"local"`
	Lang  string `json:"lang,omitempty"`
	XML   string `json:"xml,omitempty"`
}

type properties map[xml.Name]dav.Property

// parseProps returns the properties that a stored text stands for.
func parseProps(text string) (properties, error) {
	all := properties{}
	if text == "" {
		return all, nil
	}
	var list []property
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("dead properties: %w: %w", syscall.EIO, err)
	}
	for _, p := range list {
		name := xml.Name{Space: p.Space, Local: p.Local}
		all[name] = dav.Property{XMLName: name, Lang: p.Lang, InnerXML: []byte(p.XML)}
	}
	return all, nil
}

// text returns what is stored; "" if there are no properties.
func (all properties) text() (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	var list []property
	for name, p := range all {
		list = append(list, property{name.Space, name.Local, p.Lang, string(p.InnerXML)})
	}
	slices.SortFunc(list, func(a, b property) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Local, b.Local))
	})
	text, err := json.Marshal(list)
	return string(text), err
}

// DeadProps returns the properties of a file, as they are now.
func (f *file) DeadProps() (map[xml.Name]dav.Property, error) {
	var text string
	err := f.request.fsys.View(f.ctx, func(tx *vfs.Tx) (err error) {
		text, err = loadProps(tx, f.name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return parseProps(text)
}

// Patch changes the properties of a file, all or none. Without room for them the status of each is 507.
func (f *file) Patch(patches []dav.Proppatch) ([]dav.Propstat, error) {
	err := f.request.fsys.Update(f.ctx, func(tx *vfs.Tx) error {
		text, err := loadProps(tx, f.name)
		if err != nil {
			return err
		}
		all, err := parseProps(text)
		if err != nil {
			return err
		}

		for _, patch := range patches {
			for _, p := range patch.Props {
				if patch.Remove {
					delete(all, p.XMLName)
				} else {
					all[p.XMLName] = p
				}
			}
		}
		if text, err = all.text(); err != nil {
			return err
		}
		return storeProps(tx, f.name, text)
	})

	stat := dav.Propstat{Status: http.StatusOK}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		stat.Status = dav.StatusInsufficientStorage
	case absent(err): // others have removed the file since it was opened
		return nil, f.request.note(fmt.Errorf("%w: %w", errNoSource, err))
	case err != nil:
		return nil, f.request.note(err)
	}
	for _, patch := range patches {
		for _, p := range patch.Props {
			stat.Props = append(stat.Props, dav.Property{XMLName: p.XMLName})
		}
	}
	return []dav.Propstat{stat}, nil
}

package policy

// A Permission is a right that a tool needs and a [Policy] grants.
type Permission string

// The permissions.
const (
	List     Permission = "fs.list"
	Read     Permission = "fs.read"
	Write    Permission = "fs.write"
	Delete   Permission = "fs.delete"
	Snapshot Permission = "snapshot" // name moments of the branch, fork it, bring it back
	Run      Permission = "run"      // run programs of the host in the branch, see [Programs]
)

// permissions are all there are.
var permissions = []Permission{List, Read, Write, Delete, Snapshot, Run}

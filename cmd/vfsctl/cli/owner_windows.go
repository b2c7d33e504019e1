package cli

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// sameDevice reports whether two directories are in one file system: a search upwards leaves no volume.
func sameDevice(_, _ fs.FileInfo) bool { return true }

// belongsToUser reports whether a file belongs to the user, or to the administrators if the user is one, as for git.
func belongsToUser(name string) (bool, error) {
	security, err := windows.GetNamedSecurityInfo(name, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false, err
	}
	owner, _, err := security.Owner()
	if err != nil {
		return false, err
	}

	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil || owner.Equals(user.User.Sid) {
		return err == nil, err
	}
	if !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
		return false, nil
	}
	return windows.Token(0).IsMember(owner)
}

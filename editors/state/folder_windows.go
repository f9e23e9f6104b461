//go:build windows

package state

import "io/fs"

// On Windows the folder inherits the access list of the user's profile.

func ownedByUser(fs.FileInfo) bool { return true }

func othersMayEnter(fs.FileInfo) bool { return false }

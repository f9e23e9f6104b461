package fileop

import "os"

// openWithoutWaiting is no flag here: named pipes have no names in a folder.
const openWithoutWaiting = 0

// keepOwner does nothing: a new file has the owner and the rights that its folder
// hands down.
func keepOwner(*os.File, os.FileInfo) {}

// mine is true: who may not remove a file will not.
func mine(os.FileInfo) bool { return true }

// syncDir does nothing: a directory cannot be flushed.
func syncDir(*os.Root, string) {}

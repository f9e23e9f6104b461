//go:build !linux && !darwin

package fileop

import "os"

// exchange cannot be done here.
func exchange(*os.Root, string, string) error { return errNoExchange }

// renameFree cannot be done here.
func renameFree(*os.Root, string, string) error { return errNoExchange }

//go:build !linux

package usage

import "os"

// syncData writes a file to the disk.
func syncData(file *os.File) error { return file.Sync() }

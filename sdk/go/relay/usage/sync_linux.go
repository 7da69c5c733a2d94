package usage

import (
	"os"
	"syscall"
)

// syncData writes a file's bytes and length to the disk, without its times.
func syncData(file *os.File) error {
	connection, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = connection.Control(func(fd uintptr) {
		for {
			failure = syscall.Fdatasync(int(fd))
			if failure != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError("fdatasync", failure)
}

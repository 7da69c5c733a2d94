package usage

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

const lockPrefix = "lock."

// acceptAgainWait: so that a process without free file descriptors does not try all the time.
const acceptAgainWait = 100 * time.Millisecond

// folderLock is exclusive ownership of a folder, for the lifetime of a process.
//
// The owner listens on a Unix socket in the folder. The operating system closes it with the process, however it ends and
// in any container, so a dead owner holds nothing and pids are not needed. A process that wants the folder listens first
// and then connects to the other sockets: of two at once, the later one to connect finds the other listening. So at most
// one gets the folder. Reporters of the other SDKs do the same.
type folderLock struct {
	listener net.Listener
	over     chan struct{}
}

// lockFolder returns [SpoolInUse] while another reporter owns the folder. directory is the folder, open until release.
func lockFolder(folder string, directory *os.File) (*folderLock, error) {
	name := make([]byte, 6)
	_, _ = rand.Read(name)
	mine := lockPrefix + hex.EncodeToString(name)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socketPath(folder, directory, mine), Net: "unix"})
	if err != nil {
		return nil, err
	}
	lock := &folderLock{listener: listener, over: make(chan struct{})}
	go lock.answer()
	if err := displaceDead(folder, directory, mine); err != nil {
		lock.release()
		return nil, err
	}
	return lock, nil
}

// displaceDead removes the sockets of dead owners. It returns [SpoolInUse] if an owner lives.
func displaceDead(folder string, directory *os.File, mine string) error {
	names, err := locksIn(folder)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(names, func(name string) bool { return name == mine })
	for _, name := range others {
		if isAlive(socketPath(folder, directory, name)) {
			return inUse(folder)
		}
	}
	// An earlier owner may have mistaken our socket for a dead one and removed it.
	names, err = locksIn(folder)
	if err != nil {
		return err
	}
	if !slices.Contains(names, mine) {
		return inUse(folder)
	}
	for _, name := range others {
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l *folderLock) answer() {
	defer close(l.over)
	for {
		connection, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptAgainWait)
			continue
		}
		connection.Close()
	}
}

func (l *folderLock) release() {
	l.listener.Close()
	<-l.over
}

// socketPath returns the path of a socket. Such paths are limited to about 100 bytes; Linux offers a short one for an
// open folder.
func socketPath(folder string, directory *os.File, name string) string {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("/proc/self/fd/%d/%s", directory.Fd(), name)
	}
	return filepath.Join(folder, name)
}

func locksIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), lockPrefix) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// isAlive reports whether an owner listens. The two errors mean that the socket is dead or gone. Any other error comes
// from a live owner.
func isAlive(path string) bool {
	connection, err := net.Dial("unix", path)
	if err == nil {
		connection.Close()
		return true
	}
	return !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist)
}

func inUse(folder string) error {
	return &Error{Code: SpoolInUse, message: fmt.Sprintf("the spool %s is in use by another reporter", folder)}
}

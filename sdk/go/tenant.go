package boxoffice

import (
	"context"
	"errors"
	"sync"
)

// tenantLookup finds the tenant of the key once for all callers, and again after a failure. Each caller may
// stop waiting; when the last one does, the lookup is cancelled.
type tenantLookup struct {
	find func(context.Context) (string, error)

	mutex   sync.Mutex
	known   string
	running *lookup
}

// lookup is one attempt that all callers wait for.
type lookup struct {
	done    chan struct{}
	cancel  context.CancelCauseFunc
	waiting int
	tenant  string
	err     error
}

func (t *tenantLookup) get(ctx context.Context) (string, error) {
	known, running := t.join()
	if running == nil {
		return known, nil
	}
	defer t.leave(running)
	select {
	case <-ctx.Done():
		return "", errorOfContext(ctx)
	case <-running.done:
	}
	// REST refuses relay keys like unknown ones. The control plane distinguishes them, and checks the key
	// before the tenant.
	if errors.Is(running.err, ErrUnauthenticated) {
		return "", nil
	}
	return running.tenant, running.err
}

// join returns the tenant if it is known, or else the lookup to wait for.
func (t *tenantLookup) join() (string, *lookup) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.known != "" {
		return t.known, nil
	}
	if t.running == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		t.running = &lookup{done: make(chan struct{}), cancel: cancel}
		go t.run(ctx, t.running)
	}
	t.running.waiting++
	return "", t.running
}

func (t *tenantLookup) run(ctx context.Context, running *lookup) {
	tenant, err := t.find(ctx)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	running.tenant, running.err = tenant, err
	if err == nil {
		t.known = tenant
	}
	if t.running == running {
		t.running = nil
	}
	close(running.done)
	running.cancel(nil)
}

func (t *tenantLookup) leave(running *lookup) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	running.waiting--
	if running.waiting > 0 {
		return
	}
	running.cancel(nil)
	// A later caller must not join a cancelled lookup.
	if t.running == running {
		t.running = nil
	}
}

func (t *tenantLookup) close() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.running != nil {
		t.running.cancel(closedError())
	}
}

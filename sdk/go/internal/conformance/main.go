// Command conformance is the driver of the conformance suite for Go: it reads operations from standard input,
// and prints what this SDK makes of them. sdk/conformance/README.md has the protocol.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"sync"
	"time"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
	"boxoffice.example/boxoffice/sdk/go/internal/vectors"
)

// operation is a line of the input.
type operation struct {
	ID      int64           `json:"id"`
	Op      string          `json:"op"`
	Client  string          `json:"client"`
	Method  string          `json:"method"`
	Target  int64           `json:"target"`
	File    string          `json:"file"`
	JWKSURL string          `json:"jwks_url"`
	Request json.RawMessage `json:"request"`
	Options options         `json:"options"`
}

// options are those of clients and of calls.
type options struct {
	URL              string   `json:"url"`
	ControlURL       string   `json:"control_url"`
	APIKey           string   `json:"api_key"`
	Tenant           string   `json:"tenant"`
	TimeoutMS        *float64 `json:"timeout_ms"`
	AttemptTimeoutMS *float64 `json:"attempt_timeout_ms"`
	Retries          *int     `json:"retries"`
	IdempotencyKey   *string  `json:"idempotency_key"`
	SilentMS         *float64 `json:"silent_ms"`
}

// message is a line of the output. One member is set beside the id.
type message struct {
	ID    int64    `json:"id"`
	OK    any      `json:"ok,omitempty"`
	Error *failure `json:"error,omitempty"`
	Page  any      `json:"page,omitempty"`
	Event any      `json:"event,omitempty"`
}

// driver runs operations side by side.
type driver struct {
	output  chan message
	mutex   sync.Mutex
	clients map[string]*boxoffice.Client
	running map[int64]*run
	ended   sync.WaitGroup
}

// run is an operation in progress.
type run struct {
	cancel context.CancelFunc
	// next lets a list read its next page.
	next chan struct{}
}

func main() {
	// net/http reports the second copy of an answer, which the suite sends on purpose.
	log.SetOutput(io.Discard)
	d := &driver{output: make(chan message), clients: map[string]*boxoffice.Client{}, running: map[int64]*run{}}
	printed := make(chan error)
	go func() { printed <- d.print(os.Stdout) }()
	err := d.read(os.Stdin)
	d.end()
	if err = errors.Join(err, <-printed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (d *driver) print(to io.Writer) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	var failed error
	for each := range d.output {
		if err := encoder.Encode(each); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func (d *driver) read(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var op operation
		if err := json.Unmarshal(line, &op); err != nil {
			return fmt.Errorf("not an operation: %w", err)
		}
		d.start(op)
	}
}

// end cancels everything, and waits a little for it.
func (d *driver) end() {
	d.mutex.Lock()
	for _, each := range d.running {
		each.cancel()
	}
	for _, client := range d.clients {
		client.Close()
	}
	d.mutex.Unlock()
	done := make(chan struct{})
	go func() {
		d.ended.Wait()
		close(d.output)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(1500 * time.Millisecond):
		fmt.Fprintln(os.Stderr, "operations are still running")
		os.Exit(1)
	}
}

func (d *driver) start(op operation) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	switch op.Op {
	case "cancel":
		if target := d.running[op.Target]; target != nil {
			target.cancel()
		}
		return
	case "next":
		if target := d.running[op.Target]; target != nil {
			target.next <- struct{}{}
		}
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	// Room for the turns that the suite may ask for ahead.
	running := &run{cancel: cancel, next: make(chan struct{}, 1000)}
	d.running[op.ID] = running
	d.ended.Add(1)
	go func() {
		defer d.ended.Done()
		defer cancel()
		answer, err := d.work(ctx, op, running)
		d.mutex.Lock()
		delete(d.running, op.ID)
		d.mutex.Unlock()
		if err != nil {
			d.output <- message{ID: op.ID, Error: describe(err)}
			return
		}
		d.output <- message{ID: op.ID, OK: orEmpty(answer)}
	}()
}

func orEmpty(answer any) any {
	if answer == nil {
		return struct{}{}
	}
	return answer
}

func (d *driver) client(name string) (*boxoffice.Client, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	client := d.clients[name]
	if client == nil {
		return nil, fmt.Errorf("there is no client %q", name)
	}
	return client, nil
}

func (d *driver) work(ctx context.Context, op operation, running *run) (any, error) {
	switch op.Op {
	case "open":
		return nil, d.open(op)
	case "close":
		return nil, d.close(op)
	case "tasks":
		return map[string]int{"count": runtime.NumGoroutine()}, nil
	case "report":
		return report(ctx, op.Request)
	case "follow":
		return nil, follow(ctx, op.Request, func(event any) { d.output <- message{ID: op.ID, Event: event} })
	case "vectors":
		return vectors.Tokens(op.File, op.JWKSURL)
	case "revocation_vectors":
		return vectors.Revocations(op.File)
	case "webhook_vectors":
		return vectors.Webhooks(op.File)
	case "statement_vectors":
		return vectors.Statements(op.File)
	}
	client, err := d.client(op.Client)
	if err != nil {
		return nil, err
	}
	switch op.Op {
	case "call":
		method, err := find(calls(), op.Method)
		if err != nil {
			return nil, err
		}
		answer, err := method(ctx, client, op.Request, op.Options.ofCall())
		if err != nil {
			return nil, err
		}
		return revealed(answer)
	case "pages":
		method, err := find(lists(), op.Method)
		if err != nil {
			return nil, err
		}
		return nil, method(ctx, client, op.Request, op.Options.ofCall(), func(page any) error {
			d.output <- message{ID: op.ID, Page: page}
			select {
			case <-running.next:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	case "watch":
		method, err := find(watches(), op.Method)
		if err != nil {
			return nil, err
		}
		return nil, method(ctx, client, op.Request, op.Options.ofCall(), func(event any) {
			d.output <- message{ID: op.ID, Event: event}
		})
	}
	return nil, fmt.Errorf("there is no operation %q", op.Op)
}

func (d *driver) open(op operation) error {
	given := op.Options
	client, err := boxoffice.New(boxoffice.Options{
		URL:            given.URL,
		ControlURL:     given.ControlURL,
		APIKey:         boxoffice.NewSecret(given.APIKey),
		Tenant:         given.Tenant,
		Timeout:        milliseconds(given.TimeoutMS),
		AttemptTimeout: milliseconds(given.AttemptTimeoutMS),
		Retries:        given.Retries,
	})
	if err != nil {
		return err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.clients[op.Client] = client
	return nil
}

func (d *driver) close(op operation) error {
	client, err := d.client(op.Client)
	if err != nil {
		return err
	}
	client.Close()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.clients, op.Client)
	return nil
}

func milliseconds(number *float64) time.Duration {
	if number == nil {
		return 0
	}
	return time.Duration(*number * float64(time.Millisecond))
}

func (o options) ofCall() []boxoffice.CallOption {
	var result []boxoffice.CallOption
	if o.IdempotencyKey != nil {
		result = append(result, boxoffice.IdempotencyKey(*o.IdempotencyKey))
	}
	if o.TimeoutMS != nil {
		result = append(result, boxoffice.Timeout(milliseconds(o.TimeoutMS)))
	}
	if o.SilentMS != nil {
		result = append(result, boxoffice.SilenceLimit(milliseconds(o.SilentMS)))
	}
	return result
}

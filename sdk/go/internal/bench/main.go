// Command bench compares the SDK with a bare client of connect-go: calls of Rooms.Get per second, and the CPU
// time of each.
//
//	BOXOFFICE_URL=... BOXOFFICE_CONTROL_URL=... BOXOFFICE_API_KEY=... go run ./internal/bench -for 5s -side-by-side 16
//
// It creates the room "bench" and leaves it.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"connectrpc.com/connect"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
	controlv1 "boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1"
	"boxoffice.example/boxoffice/sdk/go/internal/gen/boxoffice/control/v1/controlv1connect"
)

const room = "bench"

func main() {
	length := flag.Duration("for", 5*time.Second, "how long each round takes")
	sideBySide := flag.Int("side-by-side", 16, "calls in flight")
	rounds := flag.Int("rounds", 3, "rounds of each client")
	flag.Parse()
	if err := compare(context.Background(), *rounds, *length, *sideBySide); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, rounds int, length time.Duration, sideBySide int) error {
	options := boxoffice.Options{
		URL:        os.Getenv("BOXOFFICE_URL"),
		ControlURL: os.Getenv("BOXOFFICE_CONTROL_URL"),
		APIKey:     boxoffice.NewSecret(os.Getenv("BOXOFFICE_API_KEY")),
	}
	client, err := boxoffice.New(options)
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.Rooms.Create(ctx, boxoffice.CreateRoom{Room: room})
	if err != nil && !errors.Is(err, boxoffice.ErrExists) {
		return err
	}
	account, err := client.Billing.Get(ctx)
	if err != nil {
		return err
	}
	ofSDK := func(ctx context.Context) error {
		_, err := client.Rooms.Get(ctx, boxoffice.GetRoom{Room: room})
		return err
	}
	bare := bareClient(options, account.Tenant.ID)
	for range rounds {
		for _, each := range []struct {
			name string
			call func(context.Context) error
		}{{"bare connect-go", bare}, {"SDK", ofSDK}} {
			if err := measure(ctx, each.name, each.call, length, sideBySide); err != nil {
				return fmt.Errorf("%s: %w", each.name, err)
			}
		}
	}
	return nil
}

// bareClient makes the same call with what buf generates, and nothing else.
func bareClient(options boxoffice.Options, tenant string) func(context.Context) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		Protocols:       protocols,
		DialContext:     new(net.Dialer).DialContext,
		TLSClientConfig: new(tls.Config),
	}
	key := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			request.Header().Set("Authorization", "Bearer "+options.APIKey.Reveal())
			return next(ctx, request)
		}
	})
	client := controlv1connect.NewRoomServiceClient(&http.Client{Transport: transport}, options.ControlURL,
		connect.WithGRPC(), connect.WithInterceptors(key))
	return func(ctx context.Context) error {
		_, err := client.GetRoom(ctx, &controlv1.GetRoomRequest{Tenant: tenant, Room: room})
		return err
	}
}

// measure calls for a while, side by side, and prints the result.
func measure(ctx context.Context, name string, call func(context.Context) error, length time.Duration, sideBySide int) error {
	if err := call(ctx); err != nil {
		return err
	}
	var count atomic.Int64
	var failed atomic.Pointer[error]
	var callers sync.WaitGroup
	begun, used := time.Now(), cpuTime()
	for range sideBySide {
		callers.Add(1)
		go func() {
			defer callers.Done()
			for time.Since(begun) < length {
				if err := call(ctx); err != nil {
					failed.Store(&err)
					return
				}
				count.Add(1)
			}
		}()
	}
	callers.Wait()
	took, cpu := time.Since(begun), cpuTime()-used
	if err := failed.Load(); err != nil {
		return *err
	}
	fmt.Printf("%-15s %7.0f calls/s %6.1f µs CPU a call\n", name, float64(count.Load())/took.Seconds(),
		float64(cpu.Microseconds())/float64(count.Load()))
	return nil
}

// cpuTime is the CPU time of this process so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

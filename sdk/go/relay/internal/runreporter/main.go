// Command runreporter is a relay in a process of its own, for tests that kill it:
//
//	runreporter <spool> <url> <name> <seed>
//
// It records until it is killed and prints what was acknowledged, a line each: id, seconds, bytes out, bytes in. The name
// drain records nothing: it sends the rest and prints how many records remain.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

// unacknowledgedMax is the number of records that wait for the disk at once.
const unacknowledgedMax = 200

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("usage: runreporter <spool> <url> <name> <seed>")
	}
	seed, err := strconv.ParseUint(args[3], 10, 64)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	reporter, err := usage.Open(usage.Options{
		URL:          args[1],
		Key:          usage.Key("relay-key"),
		Spool:        args[0],
		RelayID:      "relay-7",
		BatchRecords: 40,
		BatchWait:    30 * time.Millisecond,
		// Almost no backoff: retries are immediate.
		Random: func() float64 { return rand.Float64() / 100 },
	})
	if err != nil {
		return err
	}
	fmt.Println("open")
	if args[2] == "drain" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		fmt.Println(reporter.Close(ctx))
		return nil
	}
	return record(reporter, args[2], random)
}

// record records until the process is killed, or a record is refused.
func record(reporter *usage.Reporter, name string, random *rand.Rand) error {
	failures := make(chan error, unacknowledgedMax)
	free := make(chan struct{}, unacknowledgedMax)
	for count := 0; ; count++ {
		measured := usage.Record{
			Room:         "main",
			Participant:  fmt.Sprintf("%s-%d", name, count),
			Role:         usage.Audience,
			Tier:         usage.HD,
			Seconds:      random.Int64N(60),
			EgressBytes:  random.Int64N(1e9),
			IngressBytes: random.Int64N(1e6),
		}
		select {
		case free <- struct{}{}:
		case err := <-failures:
			return err
		}
		go func() {
			ids, err := reporter.Record(context.Background(), measured)
			if err != nil {
				failures <- err
				return
			}
			fmt.Println(ids[0], measured.Seconds, measured.EgressBytes, measured.IngressBytes)
			<-free
		}()
		if random.Float64() < 0.05 {
			time.Sleep(time.Millisecond)
		}
	}
}

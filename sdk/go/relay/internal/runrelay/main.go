// Command runrelay is a relay in a process of its own, for tests with a real service:
//
//	runrelay <url> <issuer> <audience> <tenant> <relay key> <spool>
//
// It answers each line of stdin with a line:
//
//	challenge                            a challenge
//	verify <token> <proof> <challenge>   "admitted <user>", or the code of the refusal, and the reason if there is one
//	admitted                             whether the tenant has credit: true, false or unknown
//	report <participant> <bytes>         the id of a record, once it is on disk
//	close                                the number of records that are left; then it ends
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 6 {
		return errors.New("usage: runrelay <url> <issuer> <audience> <tenant> <relay key> <spool>")
	}
	url, issuer, audience, tenant, key, spool := args[0], args[1], args[2], args[3], args[4], args[5]
	reporter, err := usage.Open(usage.Options{
		URL: url, Key: usage.Key(key), Spool: spool, RelayID: "relay-7", BatchWait: 50 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	defer reporter.Close(ctx)
	keys := url + "/.well-known/jwks.json"
	feed, err := relay.Follow(ctx, relay.FeedOptions{
		URL: url, Tenants: []string{tenant}, Issuer: issuer, Audience: audience, JWKSURL: keys,
	})
	if err != nil {
		return err
	}
	defer feed.Close()
	verifier, err := relay.NewVerifier(relay.VerifierOptions{
		Issuer: issuer, Audience: audience, JWKSURL: keys, Revocations: feed.Get,
		Admitted: func(string) bool { return reporter.Admitted() != usage.NotAdmitted },
	})
	if err != nil {
		return err
	}
	defer verifier.Close()

	r := runner{verifier: verifier, reporter: reporter}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer, err := r.answer(ctx, strings.Fields(lines.Text()))
		if err != nil {
			return err
		}
		fmt.Println(answer)
	}
	return nil
}

type runner struct {
	verifier *relay.Verifier
	reporter *usage.Reporter
}

func (r runner) answer(ctx context.Context, words []string) (string, error) {
	switch strings.Join(words[:min(1, len(words))], "") {
	case "challenge":
		return r.verifier.Challenge(), nil
	case "verify":
		return r.verify(ctx, words[1:])
	case "admitted":
		return string(r.reporter.Admitted()), nil
	case "report":
		return r.report(ctx, words[1:])
	case "close":
		return strconv.Itoa(r.reporter.Close(ctx)), nil
	}
	return "", fmt.Errorf("no such command: %q", words)
}

func (r runner) verify(ctx context.Context, words []string) (string, error) {
	if len(words) != 3 {
		return "", errors.New("verify <token> <proof> <challenge>")
	}
	admission, err := r.verifier.Verify(ctx, relay.Attempt{
		Token:           words[0],
		Proof:           words[1],
		Challenge:       words[2],
		URL:             "https://relay.example/connect",
		Method:          "CONNECT",
		DTLSFingerprint: strings.TrimSuffix(strings.Repeat("0a:", 32), ":"),
	})
	var refused *relay.RefusedError
	if errors.As(err, &refused) {
		return strings.TrimSpace(fmt.Sprintf("%s %s", refused.Code, refused.Reason)), nil
	}
	if err != nil {
		return "", err
	}
	return "admitted " + admission.Username, nil
}

func (r runner) report(ctx context.Context, words []string) (string, error) {
	if len(words) != 2 {
		return "", errors.New("report <participant> <bytes>")
	}
	bytes, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return "", err
	}
	ids, err := r.reporter.Record(ctx, usage.Record{
		Room: "lobby", Participant: words[0], Role: usage.Host, Tier: usage.HD, Seconds: 60, EgressBytes: bytes,
	})
	return strings.Join(ids, " "), err
}

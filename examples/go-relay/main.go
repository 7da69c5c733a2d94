// A relay without media: it admits devices by their tokens, ends their sessions when Boxoffice says so, and reports what
// they used. Put your media in place of the bytes that devices upload and download here.
//
//	POST   /sessions       Authorization: DPoP <token>, DPoP: <proof>; without a challenge, 401 with DPoP-Nonce
//	PATCH  /sessions/{id}  the same with a later token: the session goes on until that one expires
//	PUT    /sessions/{id}  bytes that the participant sends
//	GET    /sessions/{id}  a kilobyte that the participant receives; 410 once the session was ended
//	DELETE /sessions/{id}  the participant leaves
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

const (
	// pieceBytes is what a GET sends to a participant.
	pieceBytes = 1_000
	// A device has to show the certificate of its DTLS connection. This relay has none, so it knows one fingerprint.
	fingerprint = "0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a"
)

// session is a participant who was admitted. A renewal puts another one in its place, with the same usage.
type session struct {
	admission *relay.Admission
	address   netip.Addr
	usage     *usage.Session
}

type server struct {
	url      string
	tenant   string
	feed     *relay.Feed
	verifier *relay.Verifier
	reporter *usage.Reporter

	mu       sync.Mutex
	sessions map[string]*session
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		return err
	}
	s := &server{url: "http://" + listener.Addr().String(), tenant: os.Getenv("TENANT"), sessions: map[string]*session{}}
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.close()
	routes := http.NewServeMux()
	routes.HandleFunc("POST /sessions", s.admit)
	routes.HandleFunc("PATCH /sessions/{id}", s.renew)
	routes.HandleFunc("PUT /sessions/{id}", s.receive)
	routes.HandleFunc("GET /sessions/{id}", s.send)
	routes.HandleFunc("DELETE /sessions/{id}", s.leave)
	fmt.Println(s.url)
	web := &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { web.Close() })
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// open starts what the relay half of the SDK has: the reporter, the feed and the verifier.
func (s *server) open(ctx context.Context) (err error) {
	service, key := os.Getenv("BOXOFFICE_URL"), os.Getenv("BOXOFFICE_RELAY_KEY")
	issuer, audience := os.Getenv("ISSUER"), os.Getenv("AUDIENCE")
	jwks := service + "/.well-known/jwks.json"
	s.reporter, err = usage.Open(usage.Options{
		URL: service, Key: usage.Key(key), Spool: os.Getenv("SPOOL"), RelayID: "example", Logger: slog.Default(),
	})
	if err != nil {
		return err
	}
	s.feed, err = relay.Follow(ctx, relay.FeedOptions{
		URL: service, Tenants: []string{s.tenant}, Issuer: issuer, Audience: audience, JWKSURL: jwks,
		RelayKey: func(context.Context, string) (string, error) { return key, nil },
		OnChange: s.endRevoked,
	})
	if err != nil {
		return errors.Join(err, s.closeReporter())
	}
	s.verifier, err = relay.NewVerifier(relay.VerifierOptions{
		Issuer: issuer, Audience: audience, JWKSURL: jwks,
		ServesTenant:  func(tenant string) bool { return tenant == s.tenant },
		Revocations:   s.feed.Get,
		Admitted:      s.isAdmitted,
		BudgetReached: s.feed.BudgetReached,
	})
	if err != nil {
		s.feed.Close()
		return errors.Join(err, s.closeReporter())
	}
	return nil
}

// isAdmitted asks the feed, which hears of it at once, and the reporter if the feed does not know.
func (s *server) isAdmitted(tenant string) bool {
	if admitted, isKnown := s.feed.Admitted(tenant); isKnown {
		return admitted
	}
	return s.reporter.Admitted() != usage.NotAdmitted
}

func (s *server) close() {
	s.verifier.Close()
	s.feed.Close()
	if err := s.closeReporter(); err != nil {
		log.Print(err)
	}
}

func (s *server) closeReporter() error {
	if left := s.reporter.Close(context.Background()); left > 0 {
		return fmt.Errorf("%d records are sent at the next start", left)
	}
	return nil
}

// attemptOf returns what a device shows. Its first request gets a challenge, which the proof of its second one answers.
func (s *server) attemptOf(w http.ResponseWriter, r *http.Request) (attempt relay.Attempt, isAnswer bool) {
	token, isToken := strings.CutPrefix(r.Header.Get("Authorization"), "DPoP ")
	proof, challenge := r.Header.Get("DPoP"), r.Header.Get("DPoP-Nonce")
	if !isToken || proof == "" || challenge == "" {
		w.Header().Set("DPoP-Nonce", s.verifier.Challenge())
		http.Error(w, "answer the challenge", http.StatusUnauthorized)
		return attempt, false
	}
	// Behind a proxy, the device's address is what the proxy says.
	device, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return attempt, false
	}
	return relay.Attempt{
		Token: token, Proof: proof, Challenge: challenge, URL: s.url + r.URL.Path, Method: r.Method,
		DTLSFingerprint: fingerprint, Address: device.Addr(),
	}, true
}

// admit decides about a device.
func (s *server) admit(w http.ResponseWriter, r *http.Request) {
	attempt, isAnswer := s.attemptOf(w, r)
	if !isAnswer {
		return
	}
	admission, err := s.verifier.Verify(r.Context(), attempt)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	measured, err := s.reporter.StartSession(usage.SessionStart{
		Room: admission.Room, Participant: admission.Username, Role: usage.Role(admission.Role), Tier: usage.Audio,
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	if !s.put(nil, &session{admission, attempt.Address, measured}) {
		http.Error(w, "the session was ended", http.StatusForbidden)
		return
	}
	w.Header().Set("Location", "/sessions/"+measured.ID())
	w.WriteHeader(http.StatusCreated)
}

// renew lets a session go on with a later token of its participant. Credit is needed only to come in.
func (s *server) renew(w http.ResponseWriter, r *http.Request) {
	found := s.find(w, r, false)
	if found == nil {
		return
	}
	attempt, isAnswer := s.attemptOf(w, r)
	if !isAnswer {
		return
	}
	admission, err := s.verifier.Renew(r.Context(), found.admission.Participant(), attempt)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if !s.put(found, &session{admission, attempt.Address, found.usage}) {
		http.Error(w, "the session was ended", http.StatusGone)
		return
	}
	if err := found.usage.Change(usage.Role(admission.Role), ""); err != nil {
		log.Print(err)
	}
	w.WriteHeader(http.StatusNoContent)
}

// put lets a session run until its token expires, in place of the one that it renews. It reports whether it runs.
func (s *server) put(previous, next *session) (isRunning bool) {
	id := next.usage.ID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] != previous {
		return false
	}
	s.sessions[id] = next
	time.AfterFunc(time.Until(next.admission.ExpiresAt), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sessions[id] == next {
			s.stop(id, next, relay.TokenExpired)
		}
	})
	// Revocations that came after the verifier had looked did not end it.
	return s.check(id, next, s.feed.Get(s.tenant))
}

// endRevoked ends the sessions to which new revocations apply. Participants who are only muted stay.
func (s *server) endRevoked(_ string, revocations *relay.Revocations) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, each := range s.sessions {
		s.check(id, each, revocations)
	}
}

// check ends a session to which revocations apply, with mu held. It reports whether it goes on.
func (s *server) check(id string, each *session, revocations *relay.Revocations) (goesOn bool) {
	_, err := relay.CheckRevocations(revocations, each.admission.Subject(each.address), time.Now())
	if err != nil {
		s.stop(id, each, err)
	}
	return err == nil
}

// stop ends a session that the participant did not leave, with mu held.
func (s *server) stop(id string, each *session, cause error) {
	fmt.Printf("%s ended: %v\n", each.admission.Username, cause)
	delete(s.sessions, id)
	go s.end(each)
}

// find returns a session that runs.
func (s *server) find(w http.ResponseWriter, r *http.Request, isLast bool) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PathValue("id")
	found := s.sessions[id]
	if found == nil {
		http.Error(w, "there is no such session", http.StatusGone)
		return nil
	}
	if isLast {
		delete(s.sessions, id)
	}
	return found
}

func (s *server) receive(w http.ResponseWriter, r *http.Request) {
	found := s.find(w, r, false)
	if found == nil {
		return
	}
	bytes, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, 1<<20))
	if err := errors.Join(err, found.usage.Add(0, bytes)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (s *server) send(w http.ResponseWriter, r *http.Request) {
	found := s.find(w, r, false)
	if found == nil {
		return
	}
	bytes, err := w.Write(make([]byte, pieceBytes))
	if err := errors.Join(err, found.usage.Add(int64(bytes), 0)); err != nil {
		log.Print(err)
	}
}

func (s *server) leave(w http.ResponseWriter, r *http.Request) {
	if found := s.find(w, r, true); found != nil {
		s.end(found)
		w.WriteHeader(http.StatusNoContent)
	}
}

// end records what is left to report. If the disk does not take it, the reporter tries again.
func (s *server) end(ended *session) {
	if err := ended.usage.End(context.Background()); err != nil {
		log.Print(err)
	}
}

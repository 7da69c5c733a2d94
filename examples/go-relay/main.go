// A relay without media: it admits devices by their tokens, ends their sessions when Boxoffice says so, and reports what
// they used. Put your media in place of the bytes that devices upload and download here.
//
//	POST   /sessions       Authorization: DPoP <token>, DPoP: <proof>; without a challenge, 401 with DPoP-Nonce
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
	method = "POST"
	// pieceBytes is what a GET sends to a participant.
	pieceBytes = 1_000
	// A device has to show the certificate of its DTLS connection. This relay has none, so it knows one fingerprint.
	fingerprint = "0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a:0a"
)

// session is a participant who was admitted.
type session struct {
	admission *relay.Admission
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

// admit decides about a device. Its first request gets a challenge, which the proof of its second one answers.
func (s *server) admit(w http.ResponseWriter, r *http.Request) {
	token, isToken := strings.CutPrefix(r.Header.Get("Authorization"), "DPoP ")
	proof, challenge := r.Header.Get("DPoP"), r.Header.Get("DPoP-Nonce")
	if !isToken || proof == "" || challenge == "" {
		w.Header().Set("DPoP-Nonce", s.verifier.Challenge())
		http.Error(w, "answer the challenge", http.StatusUnauthorized)
		return
	}
	admission, err := s.verifier.Verify(r.Context(), relay.Attempt{
		Token: token, Proof: proof, Challenge: challenge,
		URL: s.url + "/sessions", Method: method, DTLSFingerprint: fingerprint,
	})
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
	s.mu.Lock()
	s.sessions[measured.ID()] = &session{admission, measured}
	s.mu.Unlock()
	w.Header().Set("Location", "/sessions/"+measured.ID())
	w.WriteHeader(http.StatusCreated)
}

// endRevoked ends the sessions to which new revocations apply. Participants who are only muted stay.
func (s *server) endRevoked(_ string, revocations *relay.Revocations) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, each := range s.sessions {
		subject := each.admission.Subject(netip.Addr{})
		if _, err := relay.CheckRevocations(revocations, subject, time.Now()); err != nil {
			fmt.Printf("%s ended: %v\n", each.admission.Username, err)
			delete(s.sessions, id)
			go s.end(each)
		}
	}
}

// find returns a session that runs. Tokens end, too: a device renews its session with a new one before.
func (s *server) find(w http.ResponseWriter, r *http.Request, isLast bool) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PathValue("id")
	found := s.sessions[id]
	if found == nil || time.Now().After(found.admission.ExpiresAt) {
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

package examples

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"boxoffice.example/boxoffice/sdk/go/internal/leaks"
	"boxoffice.example/boxoffice/sdk/go/relay"
	"boxoffice.example/boxoffice/sdk/go/relay/usage"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestTheReadmeShowsTheseFiles(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"admit.go", "follow.go", "report.go"} {
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(readme), "```go\n"+string(code)+"```\n") {
			t.Errorf("README.md does not show %s", name)
		}
	}
}

type object = map[string]any

const (
	tenant      = "t_e3131c22f12898a2"
	fingerprint = "4a:2e:1a:6a:42:e5:b1:1d:31:50:1e:28:ee:e4:af:52:fb:50:01:1c:cc:f3:cf:e4:98:6e:9e:c6:09:d0:4e:58"
)

func encode(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }

// key signs as the service, or as a device.
type key struct{ private *ecdsa.PrivateKey }

func newKey(t *testing.T) key {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key{private}
}

func (k key) jwk(t *testing.T) object {
	public, err := k.private.PublicKey.ECDH()
	if err != nil {
		t.Fatal(err)
	}
	point := public.Bytes()
	return object{"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:])}
}

func (k key) sign(t *testing.T, header, claims object) string {
	t.Helper()
	header["alg"] = "ES256"
	input := encode(render(t, header)) + "." + encode(render(t, claims))
	digest := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return input + "." + encode(signature)
}

func render(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// service has the keys, the revocations and the usage of a tenant.
type service struct {
	*httptest.Server
	key       key
	snapshots chan object
	reported  chan string
}

func startService(t *testing.T) *service {
	s := &service{key: newKey(t), snapshots: make(chan object, 2), reported: make(chan string, 100)}
	jwk := s.key.jwk(t)
	jwk["kid"] = "current"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/jwks.json", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(render(t, object{"keys": []any{jwk}}))
	})
	mux.HandleFunc("GET /v1/revocations/"+tenant, func(w http.ResponseWriter, r *http.Request) {
		select {
		case claims := <-s.snapshots:
			header := object{"typ": "revocations+jwt", "kid": "current"}
			_, _ = w.Write([]byte(s.key.sign(t, header, claims)))
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /v1/usage", func(w http.ResponseWriter, r *http.Request) {
		var batch struct {
			Records []struct{ Participant string }
		}
		if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
			t.Error(err)
		}
		for _, record := range batch.Records {
			s.reported <- record.Participant
		}
		fmt.Fprintf(w, `{"charged":%d,"duplicates":0,"unbilled":0,"admitted":true}`, len(batch.Records))
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// publish answers the open poll.
func (s *service) publish(seq int, closed ...string) {
	now := time.Now().Unix()
	s.snapshots <- object{
		"iss": s.URL, "aud": "relay:boxoffice.example", "tid": tenant, "seq": seq, "iat": now, "exp": now + 60,
		"epochs": []any{}, "bans": []any{}, "mutes": []any{}, "closed": append([]string{}, closed...),
	}
}

// device has a token for the lobby.
type device struct {
	t       *testing.T
	service *service
	key     key
}

func (d device) DTLSFingerprint() string { return fingerprint }
func (d device) Address() netip.Addr     { return netip.MustParseAddr("192.0.2.7") }

func (d device) Ask(_ context.Context, challenge string) (token, proof string, err error) {
	jwk, now := d.key.jwk(d.t), time.Now().Unix()
	members := fmt.Sprintf(`{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}`, jwk["x"], jwk["y"])
	thumbprint := sha256.Sum256([]byte(members))
	token = d.service.key.sign(d.t, object{"typ": "participant+jwt", "kid": "current"}, object{
		"iss": d.service.URL, "aud": "relay:boxoffice.example", "sub": "ann", "tid": tenant, "iat": now, "nbf": now,
		"exp": now + 600, "jti": "1", "cnf": object{"jkt": encode(thumbprint[:])}, "room": "lobby", "rid": "room_1",
		"role": "host", "cap": []string{}, "rank": 80, "ep": 0, "key": "k", "salt": "s",
	})
	ath := sha256.Sum256([]byte(token))
	proof = d.key.sign(d.t, object{"typ": "dpop+jwt", "jwk": jwk}, object{
		"jti": "1", "htm": "CONNECT", "htu": "https://relay.example/connect", "iat": now, "ath": encode(ath[:]),
		"nonce": challenge, "dtls_fp": fingerprint,
	})
	return token, proof, nil
}

func TestTheExamplesWorkTogether(t *testing.T) {
	ctx := context.Background()
	service := startService(t)
	folder := t.TempDir()
	keyFile := filepath.Join(folder, "relay.key")
	if err := os.WriteFile(keyFile, []byte("svc_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reporter, err := OpenReporter(service.URL, keyFile, filepath.Join(folder, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	sessions := make(chan Session, 1)
	feed, err := FollowRevocations(ctx, service.URL, []string{tenant}, func(string) []Session {
		select {
		case session := <-sessions:
			return []Session{session}
		default:
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	verifier, err := NewVerifier(service.URL, feed, reporter)
	if err != nil {
		t.Fatal(err)
	}
	connection := device{t, service, newKey(t)}
	if _, err := Admit(ctx, verifier, connection); !errors.Is(err, relay.RevocationsStale) {
		t.Errorf("without a snapshot: %v", err)
	}
	service.publish(1)
	for feed.Get(tenant) == nil {
		time.Sleep(time.Millisecond)
	}
	admission, err := Admit(ctx, verifier, connection)
	if err != nil {
		t.Fatal(err)
	}
	if admission, err = Renew(ctx, verifier, connection, admission); err != nil || admission.Username != "ann" {
		t.Fatalf("renewed: %+v %v", admission, err)
	}

	ended := make(chan relay.RefusalCode, 1)
	sessions <- Session{
		Device:    connection,
		Admission: admission,
		Mute:      func([]string) {},
		End:       func(code relay.RefusalCode, _ relay.RevocationReason) { ended <- code },
	}
	service.publish(2, roomHash("room_1"))
	if code := <-ended; code != relay.RoomClosed {
		t.Errorf("ended by %s", code)
	}

	if err := Report(ctx, reporter); err != nil {
		t.Fatal(err)
	}
	Stop(ctx, reporter)
	if left := reporter.Pending(); left != (usage.Pending{}) || <-service.reported != "ann" {
		t.Errorf("left: %+v", left)
	}
}

func roomHash(uid string) string {
	sum := sha256.Sum256([]byte("room\x00" + uid))
	return encode(sum[:16])
}

// Package vectors runs the test vectors of docs/vectors through this SDK.
package vectors

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"boxoffice.example/boxoffice/sdk/go/relay"
)

// tokenFile is participant-tokens.json. docs/tokens.md explains its members.
type tokenFile struct {
	Now      int64           `json:"now"`
	Issuer   string          `json:"issuer"`
	Audience string          `json:"audience"`
	JWKS     json.RawMessage `json:"jwks"`
	Served   struct {
		Tenant  string `json:"tenant"`
		Room    string `json:"room"`
		RoomUID string `json:"room_uid"`
	} `json:"served"`
	Connection json.RawMessage `json:"connection"`
	Vectors    []tokenVector   `json:"vectors"`
	jwksURL    string
}

type tokenVector struct {
	Name            string             `json:"name"`
	Code            *string            `json:"code"`
	Token           text               `json:"token"`
	Proof           text               `json:"proof"`
	Connection      json.RawMessage    `json:"connection"`
	ChallengeIssued *bool              `json:"challenge_issued"`
	Revocations     *relay.Revocations `json:"revocations"`
	Admitted        *bool              `json:"admitted"`
	ReachedBudgets  []string           `json:"reached_budgets"`
	Renews          *session           `json:"renews"`
}

// text is empty for a value that is no text, which Go cannot present to a verifier.
type text string

func (t *text) UnmarshalJSON(given []byte) error {
	var value any
	err := json.Unmarshal(given, &value)
	read, _ := value.(string)
	*t = text(read)
	return err
}

type connection struct {
	Challenge       text   `json:"challenge"`
	Method          string `json:"method"`
	URL             string `json:"url"`
	DTLSFingerprint string `json:"dtls_fingerprint"`
	Address         string `json:"address"`
}

type session struct {
	Tenant   string `json:"tenant"`
	Username string `json:"username"`
	RoomUID  string `json:"room_uid"`
	Device   string `json:"device"`
}

// Tokens returns by the name of each vector of a file the code of its refusal; nil if the participant is admitted. With a
// jwksURL, keys come from there and not from the file.
func Tokens(path, jwksURL string) (map[string]*string, error) {
	var file tokenFile
	if err := readFile(path, &file); err != nil {
		return nil, err
	}
	if jwksURL != "" {
		file.JWKS, file.jwksURL = nil, jwksURL
	}
	codes := map[string]*string{}
	for _, vector := range file.Vectors {
		code, err := file.codeOf(vector)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", vector.Name, err)
		}
		codes[vector.Name] = code
	}
	return codes, nil
}

func (f *tokenFile) codeOf(vector tokenVector) (*string, error) {
	given, err := f.connectionOf(vector)
	if err != nil {
		return nil, err
	}
	challenge := string(given.Challenge)
	verifier, err := f.verifierFor(vector, challenge)
	if err != nil {
		return nil, err
	}
	defer verifier.Close()
	if vector.ChallengeIssued == nil || *vector.ChallengeIssued {
		if issued := verifier.Challenge(); issued != challenge {
			return nil, fmt.Errorf("the challenge is %s", issued)
		}
	}
	// Without an address, the result is the zero value: the address is not known.
	address, _ := netip.ParseAddr(given.Address)
	attempt := relay.Attempt{
		Token:           string(vector.Token),
		Proof:           string(vector.Proof),
		Challenge:       challenge,
		URL:             given.URL,
		Method:          given.Method,
		DTLSFingerprint: given.DTLSFingerprint,
		Address:         address,
	}
	if vector.Renews == nil {
		_, err = verifier.Verify(context.Background(), attempt)
	} else {
		renewed := relay.Participant{
			Tenant:           vector.Renews.Tenant,
			Username:         vector.Renews.Username,
			RoomUID:          vector.Renews.RoomUID,
			DeviceThumbprint: vector.Renews.Device,
		}
		_, err = verifier.Renew(context.Background(), renewed, attempt)
	}
	return codeOf(err)
}

// connectionOf returns the connection of the file with the members that a vector replaces.
func (f *tokenFile) connectionOf(vector tokenVector) (given connection, err error) {
	err = json.Unmarshal(f.Connection, &given)
	if err == nil && vector.Connection != nil {
		err = json.Unmarshal(vector.Connection, &given)
	}
	return given, err
}

// verifierFor returns a relay whose next challenge is the given one.
func (f *tokenFile) verifierFor(vector tokenVector, challenge string) (*relay.Verifier, error) {
	// A challenge that is not base64url was not issued.
	random, _ := base64.RawURLEncoding.DecodeString(challenge)
	options := relay.VerifierOptions{
		Issuer:         f.Issuer,
		Audience:       f.Audience,
		JWKS:           f.JWKS,
		JWKSURL:        f.jwksURL,
		ServesTenant:   func(tenant string) bool { return tenant == f.Served.Tenant },
		ServesRoom:     func(room string) bool { return room == f.Served.Room },
		CurrentRoomUID: func(string, string) string { return f.Served.RoomUID },
		Admitted:       func(string) bool { return vector.Admitted == nil || *vector.Admitted },
		BudgetReached: func(_ string, budgets []string) bool {
			return slices.ContainsFunc(budgets, func(each string) bool { return slices.Contains(vector.ReachedBudgets, each) })
		},
		Clock:  stoppedClock{time.Unix(f.Now, 0)},
		Random: func(bytes []byte) { copy(bytes, random) },
	}
	if vector.Revocations != nil {
		options.Revocations = func(string) *relay.Revocations { return vector.Revocations }
	}
	return relay.NewVerifier(options)
}

// codeOf returns the code of a refusal; nil for no error.
func codeOf(err error) (*string, error) {
	var refused *relay.RefusedError
	if !errors.As(err, &refused) {
		return nil, err
	}
	code := string(refused.Code)
	return &code, nil
}

func readFile(path string, to any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, to)
}

// stoppedClock does not advance.
type stoppedClock struct{ wall time.Time }

func (c stoppedClock) Now() time.Duration                         { return 0 }
func (c stoppedClock) Wall() time.Time                            { return c.wall }
func (c stoppedClock) AfterFunc(time.Duration, func()) (_ func()) { return func() {} }

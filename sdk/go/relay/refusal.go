package relay

import (
	"maps"
	"slices"
)

// RefusalCode says why a participant may not come in. Codes are stable and meant for programs.
//
// A code is an error that [errors.Is] finds in the error of [Verifier.Verify]. Errors and messages never contain a part of
// a token or a proof. docs/tokens.md says which check has which code.
type RefusalCode string

// The reasons for which a relay refuses a participant.
const (
	TokenMalformed          RefusalCode = "TOKEN_MALFORMED"
	TokenTooLarge           RefusalCode = "TOKEN_TOO_LARGE"
	TokenWrongType          RefusalCode = "TOKEN_WRONG_TYPE"
	TokenWrongAlgorithm     RefusalCode = "TOKEN_WRONG_ALGORITHM"
	TokenHeaderInvalid      RefusalCode = "TOKEN_HEADER_INVALID"
	TokenUnknownKey         RefusalCode = "TOKEN_UNKNOWN_KEY"
	KeysUnavailable         RefusalCode = "KEYS_UNAVAILABLE"
	TokenBadSignature       RefusalCode = "TOKEN_BAD_SIGNATURE"
	TokenWrongIssuer        RefusalCode = "TOKEN_WRONG_ISSUER"
	TokenWrongAudience      RefusalCode = "TOKEN_WRONG_AUDIENCE"
	TokenClaimsInvalid      RefusalCode = "TOKEN_CLAIMS_INVALID"
	TokenExpired            RefusalCode = "TOKEN_EXPIRED"
	TokenNotYetValid        RefusalCode = "TOKEN_NOT_YET_VALID"
	TokenLivesTooLong       RefusalCode = "TOKEN_LIVES_TOO_LONG"
	TokenNotBound           RefusalCode = "TOKEN_NOT_BOUND"
	TenantNotServed         RefusalCode = "TENANT_NOT_SERVED"
	RoomNotServed           RefusalCode = "ROOM_NOT_SERVED"
	RoomNotCurrent          RefusalCode = "ROOM_NOT_CURRENT"
	RevocationsStale        RefusalCode = "REVOCATIONS_STALE"
	RoomClosed              RefusalCode = "ROOM_CLOSED"
	TokenRevoked            RefusalCode = "TOKEN_REVOKED"
	Banned                  RefusalCode = "BANNED"
	AddressUnknown          RefusalCode = "ADDRESS_UNKNOWN"
	ProofMalformed          RefusalCode = "PROOF_MALFORMED"
	ProofTooLarge           RefusalCode = "PROOF_TOO_LARGE"
	ProofWrongType          RefusalCode = "PROOF_WRONG_TYPE"
	ProofWrongAlgorithm     RefusalCode = "PROOF_WRONG_ALGORITHM"
	ProofHeaderInvalid      RefusalCode = "PROOF_HEADER_INVALID"
	ProofKeyInvalid         RefusalCode = "PROOF_KEY_INVALID"
	ProofBadSignature       RefusalCode = "PROOF_BAD_SIGNATURE"
	ProofClaimsInvalid      RefusalCode = "PROOF_CLAIMS_INVALID"
	ProofOtherMethod        RefusalCode = "PROOF_OTHER_METHOD"
	ProofOtherURL           RefusalCode = "PROOF_OTHER_URL"
	ProofOtherToken         RefusalCode = "PROOF_OTHER_TOKEN"
	ProofOtherChallenge     RefusalCode = "PROOF_OTHER_CHALLENGE"
	ProofOtherDevice        RefusalCode = "PROOF_OTHER_DEVICE"
	ChallengeUnusable       RefusalCode = "CHALLENGE_UNUSABLE"
	DTLSOtherCertificate    RefusalCode = "DTLS_OTHER_CERTIFICATE"
	NotAdmitted             RefusalCode = "NOT_ADMITTED"
	RenewalOtherParticipant RefusalCode = "RENEWAL_OTHER_PARTICIPANT"
)

// refusals has the message of each code.
var refusals = map[RefusalCode]string{
	TokenMalformed:          "the token is not a compact JWS of three canonical base64url segments holding JSON",
	TokenTooLarge:           "the token is longer than 4 KiB",
	TokenWrongType:          "the token is not of type participant+jwt",
	TokenWrongAlgorithm:     "the token is not signed with ES256",
	TokenHeaderInvalid:      "the header of the token holds something else than typ, alg and kid",
	TokenUnknownKey:         "the token names a signing key that is not published",
	KeysUnavailable:         "the signing keys could not be fetched",
	TokenBadSignature:       "the signature of the token is wrong",
	TokenWrongIssuer:        "the token is from another issuer",
	TokenWrongAudience:      "the token is for another audience",
	TokenClaimsInvalid:      "the token lacks a claim, or has one of a wrong type",
	TokenExpired:            "the token has expired",
	TokenNotYetValid:        "the token is from the future",
	TokenLivesTooLong:       "the token lives longer than 15 minutes, or ends before it begins",
	TokenNotBound:           "the token is not bound to exactly one device key",
	TenantNotServed:         "the tenant of the token is not served here",
	RoomNotServed:           "the room of the token is not served here",
	RoomNotCurrent:          "the token is for an earlier room of the same name",
	RevocationsStale:        "there are no current revocations to check the token against",
	RoomClosed:              "the room has been closed",
	TokenRevoked:            "the token has been revoked",
	Banned:                  "the user, the device or the address is banned",
	AddressUnknown:          "addresses are banned, and the address of the participant is not known",
	ProofMalformed:          "the proof is not a compact JWS of three canonical base64url segments holding JSON",
	ProofTooLarge:           "the proof is longer than 4 KiB",
	ProofWrongType:          "the proof is not of type dpop+jwt",
	ProofWrongAlgorithm:     "the proof is not signed with ES256",
	ProofHeaderInvalid:      "the header of the proof holds something else than typ, alg and jwk",
	ProofKeyInvalid:         "the key in the proof is not a public P-256 key of kty, crv, x and y alone",
	ProofBadSignature:       "the signature of the proof is wrong",
	ProofClaimsInvalid:      "the proof lacks a claim, or has one of a wrong type",
	ProofOtherMethod:        "the proof is for another method (htm)",
	ProofOtherURL:           "the proof is for another relay (htu)",
	ProofOtherToken:         "the proof is for another token (ath)",
	ProofOtherChallenge:     "the proof answers another challenge (nonce)",
	ProofOtherDevice:        "the proof is signed by another device than the token is bound to",
	ChallengeUnusable:       "the challenge was used, has expired, or was not issued here",
	DTLSOtherCertificate:    "the DTLS certificate is not the one that the proof names",
	NotAdmitted:             "the tenant has no credit for new sessions, or a budget of the token is spent",
	RenewalOtherParticipant: "the new token is for another user, room or device than the session",
}

// RefusalCodes returns all codes, sorted.
func RefusalCodes() []RefusalCode { return slices.Sorted(maps.Keys(refusals)) }

// Error returns the code.
func (c RefusalCode) Error() string { return string(c) }

// Message returns what the code means, for logs.
func (c RefusalCode) Message() string { return refusals[c] }

// RevocationReason says why tokens were revoked.
type RevocationReason string

// The reasons that the service gives. Later versions may give more: those are not passed on.
const (
	ReasonKicked RevocationReason = "kicked"
	ReasonBanned RevocationReason = "banned"
	ReasonClosed RevocationReason = "closed"
	ReasonEnded  RevocationReason = "ended"
	// ReasonWatchdog is a timer that the tenant has set.
	ReasonWatchdog RevocationReason = "watchdog"
	// ReasonCredentialRevoked is the end of the device credential with which the token was minted.
	ReasonCredentialRevoked RevocationReason = "credential_revoked"
)

// RefusedError is the error of a participant that may not come in. Test for a code with [errors.Is].
type RefusedError struct {
	// Code says why.
	Code RefusalCode
	// Reason is what the client may tell the user with [TokenRevoked] (kicked, banned, watchdog,
	// credential_revoked), [Banned] (banned) and [RoomClosed] (closed by a moderator, ended, watchdog). It is empty if that is not known.
	Reason RevocationReason
	// cause of KeysUnavailable.
	cause error
}

// Error returns the code and its message, and for [KeysUnavailable] why.
func (e *RefusedError) Error() string {
	text := string(e.Code) + ": " + e.Code.Message()
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Is reports whether target is the code.
func (e *RefusedError) Is(target error) bool { return target == error(e.Code) }

// Unwrap returns why the keys are not available; nil for other codes.
func (e *RefusedError) Unwrap() error { return e.cause }

func refuse(code RefusalCode) error { return &RefusedError{Code: code} }

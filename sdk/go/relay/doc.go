// Package relay is for relays: it decides who may come in, without asking the service.
//
// [NewVerifier] checks tokens and the proofs of devices. [Follow] keeps the list of what was revoked since tokens were
// minted. Package usage reports what a relay carried. README.md has examples; docs/tokens.md of the service explains the
// formats and each check.
package relay

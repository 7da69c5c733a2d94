/**
 * Rules that every SDK keeps, and how to break each: `npm run mutants -- --sdk <language>` breaks one at a time, and a step has
 * to notice. The text that is replaced stands once in its file.
 */

/** In which folder the files of a language are. */
export const SOURCES = {
  typescript: 'sdk/typescript/src',
  go: 'sdk/go',
  rust: 'sdk/rust/src',
  python: 'sdk/python/src/boxoffice',
} as const;

export type Language = keyof typeof SOURCES;

/** How one language forgets the rule. */
export type Break = readonly [file: string, from: string, to: string];

export interface Rule extends Readonly<Record<Language, Break>> {
  readonly rule: string;
  /** Words of the name of a step that notices. */
  readonly step: string;
}

export const RULES: readonly Rule[] = [
  {
    rule: 'a call is repeated after an answer that was lost',
    step: 'a lost answer of the control plane',
    typescript: ['backend/control.ts', "(error.kind === 'Unavailable' || ", '('],
    go: ['errors.go', 'e.Kind == ErrUnavailable || e.Kind', 'e.Kind'],
    rust: ['control.rs', 'Kind::Unavailable | Kind', 'Kind'],
    python: ['_limits.py', '(Unavailable, Timeout)', 'Timeout'],
  },
  {
    rule: 'a call is repeated after an answer that is late',
    step: 'an answer that does not come in time',
    typescript: ['backend/control.ts', " || error.kind === 'Timeout')", ')'],
    go: ['errors.go', ' || e.Kind == ErrTimeout', ''],
    rust: ['control.rs', ' | Kind::Timeout', ''],
    python: ['_limits.py', '(Unavailable, Timeout)', 'Unavailable'],
  },
  {
    rule: 'a change carries its idempotency key',
    step: 'the same idempotency key twice: one effect',
    typescript: ['backend/control.ts', '{ ...request, idempotencyKey }', 'request'],
    go: ['control.go', '"idempotency_key", idempotencyKey)', '"idempotency_key", "")'],
    rust: ['inner.rs', 'options.key(&KEYS)?)', 'options.key(&KEYS).map(|_| String::new())?)'],
    python: ['_async/control.py', '{**values, "idempotency_key": key}', 'values'],
  },
  {
    rule: 'a change over REST carries its idempotency key',
    step: 'a lost answer of a new key',
    typescript: ['backend/rest.ts', "{ 'idempotency-key': idempotencyKey }", '{}'],
    go: ['rest.go', 'if idempotencyKey != "" {', 'if false {'],
    rust: ['rest.rs', 'request = request.header("idempotency-key", key);', 'drop(key);'],
    python: ['_async/rest.py', 'headers["idempotency-key"] = ', '_ = '],
  },
  {
    rule: 'a signup is never repeated',
    step: 'in the middle of every method, after the effect',
    typescript: ['backend/rest.ts', '=> name !== SIGNUP && isTransient', '=> isTransient'],
    go: ['signup.go', 'isOpen: true', 'mayRepeat: true, isOpen: true'],
    rust: ['rest.rs', 'path != SIGNUP && is_transient', 'is_transient'],
    python: ['_async/rest.py', 'error: name != _SIGNUP and is', 'error: is'],
  },
  {
    rule: 'the wait before another attempt is as long as the service asks for',
    step: 'attempts end when there is no time for another one',
    typescript: ['backend/calls.ts', 'return atLeastMs + ', 'return '],
    go: ['calls.go', 'return atLeast + ', 'return '],
    rust: ['calls.rs', 'Ok(at_least.min(TIMEOUT_MAX) + ', 'Ok(at_least.min(Duration::ZERO) + '],
    python: ['_limits.py', 'return (error.retry_after or 0.0) + ', 'return '],
  },
  {
    rule: 'there is no wait that outlasts the time limit',
    step: 'attempts end when there is no time for another one',
    typescript: ['backend/calls.ts', 'performance.now() + waitMs >= endsAt', 'performance.now() >= endsAt'],
    go: ['calls.go', 'time.Until(endsAt) <= wait {', 'time.Until(endsAt) <= 0 {'],
    rust: ['calls.rs', 'Instant::now() + wait >= ends_at', 'Instant::now() >= ends_at'],
    python: ['_async/calls.py', 'time.monotonic() + wait >= ends_at', 'time.monotonic() >= ends_at'],
  },
  {
    rule: 'a call ends at its time limit',
    step: 'a call ends at its own time limit',
    typescript: ['backend/calls.ts', 'Math.min(attemptTimeoutMs, leftMs)', 'attemptTimeoutMs'],
    go: ['calls.go', 'min(options.attemptTimeout, time.Until(endsAt))', 'options.attemptTimeout'],
    rust: ['calls.rs', 'timeout(each.min(left), ', 'timeout(each.max(left), '],
    python: ['_async/calls.py', 'min(seconds_max, ends_at - time.monotonic())', 'seconds_max'],
  },
  {
    rule: 'an attempt has a time limit of its own',
    step: 'an attempt has a time limit of its own',
    typescript: ['backend/calls.ts', 'Math.min(attemptTimeoutMs, leftMs)', 'leftMs'],
    go: ['calls.go', 'min(options.attemptTimeout, time.Until(endsAt))', 'time.Until(endsAt)'],
    rust: ['calls.rs', 'timeout(each.min(left), ', 'timeout(left, '],
    python: ['_async/calls.py', 'min(seconds_max, ends_at - time.monotonic())', 'ends_at - time.monotonic()'],
  },
  {
    rule: 'a reason counts with its own code alone',
    step: 'reasons that are not in the table',
    typescript: ['backend/errors.ts', 'if (known?.code === code)', 'if (known)'],
    go: ['control_errors.go', 'kind != nil && known == code', 'kind != nil && known != ""'],
    rust: ['error.rs', 'if own_code == code => kind', 'if !own_code.is_empty() => kind'],
    python: ['_failures.py', 'if known_code != code:', 'if not known_code:'],
  },
  {
    rule: 'the id of a request is in the details, too',
    step: 'the request id is in the details',
    typescript: ['backend/errors.ts', ' ?? details.requestId', ''],
    go: ['control_errors.go', 'e.RequestID = metadata["request_id"]', 'e.RequestID = ""'],
    rust: ['error.rs', '.take().or(request_id)', '.take().or(None)'],
    python: ['_failures.py', '.pop("request_id", None)', '.pop("request_id", None) and None'],
  },
  {
    rule: 'an error of REST has the id of the request',
    step: 'refused: every status of REST',
    typescript: [
      'backend/errors.ts',
      "requestId: headers.get('x-request-id')",
      "requestId: headers.get('x-id')",
    ],
    go: ['rest.go', 'response.Header.Get("X-Request-Id")', 'response.Header.Get("X-Id")'],
    rust: ['error.rs', 'header("x-request-id")', 'header("x-id")'],
    python: ['_failures.py', 'request_id=headers.get("x-request-id")', 'request_id=headers.get("x-id")'],
  },
  {
    rule: 'an answer over REST that is too long is refused',
    step: 'an answer as long as all SDKs accept',
    typescript: ['backend/rest.ts', 'readUpTo(ANSWER_BYTES_MAX, ', 'readUpTo(2 * ANSWER_BYTES_MAX, '],
    go: ['rest.go', 'if len(text) > answerBytesMax {', 'if len(text) > 2*answerBytesMax {'],
    rust: ['rest.rs', 'into_body(), ANSWER_BYTES_MAX)', 'into_body(), 2 * ANSWER_BYTES_MAX)'],
    python: ['_async/io.py', 'if len(body) > ANSWER_BYTES_MAX:', 'if len(body) > 2 * ANSWER_BYTES_MAX:'],
  },
  {
    rule: 'an answer of the control plane that is too long is refused',
    step: 'an answer as long as all SDKs accept',
    typescript: [
      'backend/control.ts',
      "message_length': ANSWER_BYTES_MAX",
      "message_length': 2 * ANSWER_BYTES_MAX",
    ],
    go: ['control.go', 'WithReadMaxBytes(answerBytesMax)', 'WithReadMaxBytes(2 * answerBytesMax)'],
    rust: ['control.rs', 'message_size(ANSWER_BYTES_MAX)', 'message_size(2 * ANSWER_BYTES_MAX)'],
    python: [
      '_async/control.py',
      'message_length", ANSWER_BYTES_MAX)',
      'message_length", 2 * ANSWER_BYTES_MAX)',
    ],
  },
  {
    rule: 'the key goes to no other host, wherever a redirection leads',
    step: 'a redirection is not followed',
    typescript: ['backend/rest.ts', "redirect: 'manual'", "redirect: 'follow'"],
    go: ['transport.go', 'return http.ErrUseLastResponse', 'return nil'],
    // Its HTTP follows none by itself.
    rust: [
      'http.rs',
      'Ok(self.client.request(request).await?)',
      `let mut again = request.clone();
        let answer = self.client.request(request).await?;
        let Some(elsewhere) = answer.headers().get("location") else { return Ok(answer) };
        *again.uri_mut() = elsewhere.to_str()?.parse()?;
        Ok(self.client.request(again).await?)`,
    ],
    python: ['_async/client.py', 'follow_redirects=False', 'follow_redirects=True'],
  },
  {
    rule: 'a part of a path is neither empty nor dots',
    step: 'mistakes: ids that no path can hold',
    typescript: ['backend/rest.ts', "!['', '.', '..'].includes(value)", "!['', '.'].includes(value)"],
    go: ['queries.go', '{"", ".", ".."}', '{"", "."}'],
    rust: ['rest.rs', '["", ".", ".."]', '["", "."]'],
    python: ['_async/rest.py', 'in ("", ".", "..")', 'in ("", ".")'],
  },
  {
    rule: 'an idempotency key is not empty',
    step: 'mistakes: in idempotency keys',
    typescript: ['backend/control.ts', '{1,128}', '{0,128}'],
    go: ['calls.go', 'key != "" && len(key)', 'len(key)'],
    rust: ['calls.rs', '(1..=form.length_max)', '(0..=form.length_max)'],
    python: ['_async/control.py', '{1,128}', '{0,128}'],
  },
  {
    rule: 'an API key is printable',
    step: 'mistakes: in options',
    typescript: ['backend/boxoffice.ts', '/^[\\x21-\\x7e]+$/', '/./'],
    go: ['options.go', 'if each < 0x21 || each > 0x7e {', 'if each == 0 {'],
    rust: ['client.rs', 'byte.is_ascii_graphic()', 'byte != 0 && byte != 10'],
    python: ['_limits.py', '[\\x21-\\x7e]*', '[^\\n]*'],
  },
  {
    rule: 'an address has no user',
    step: 'mistakes: in options',
    typescript: ['backend/check-url.ts', 'username || password || ', ''],
    go: ['options.go', 'parsed.User != nil || ', ''],
    rust: ['http.rs', "['#', '@']", "['#']"],
    python: ['_limits.py', '"@" in parts.netloc or ', ''],
  },
  {
    rule: 'a list has all its pages',
    step: 'pages while rooms are created',
    typescript: ['backend/listing.ts', "while (pageToken !== '')", 'while (false)'],
    go: ['pages.go', 'page.NextPageToken == ""', 'pageToken == first'],
    rust: ['listing.rs', 'next.filter(|token| !token.is_empty())', 'next.filter(|_| false)'],
    python: ['_async/calls.py', 'if not token:', 'if True:'],
  },
  {
    rule: 'a stream resumes after the last event',
    step: 'a stream that is cut resumes without gap',
    typescript: ['backend/control.ts', 'resumeToken = next || resumeToken', 'resumeToken ||= next'],
    go: ['watch.go', 'if event.ResumeToken != "" {', 'if resumeToken == "" {'],
    rust: ['watch.rs', 'if !resume_token.is_empty()', 'if self.resume_token.is_empty()'],
    python: [
      '_async/control.py',
      'fields["resume_token"] or message.resume_token',
      'message.resume_token or fields["resume_token"]',
    ],
  },
  {
    rule: 'a silent stream is opened again',
    step: 'a stream that falls silent is reopened',
    typescript: ['backend/control.ts', '=> stream.destroy(timeoutError())', '=> {}'],
    go: ['watch.go', 'func() { cancel(timeoutError()) }', 'func() {}'],
    rust: ['watch.rs', 'timeout(self.silent_max, ', 'timeout(self.silent_max * 1000, '],
    python: ['_async/control.py', 'self._calls.closed, silence)', 'self._calls.closed, silence * 1000)'],
  },
  {
    rule: 'a stream ends with a failure that will stay',
    step: 'a stream ends with a failure',
    typescript: ['backend/control.ts', 'if (!isTransient(error)) throw error', ''],
    go: ['calls.go', ' || !mayReopen(failure) {', ' {'],
    rust: [
      'watch.rs',
      'Ok(Err(error)) if is_transient(&error) =>',
      'Ok(Err(error)) if error.kind() != crate::Kind::Internal =>',
    ],
    python: ['_async/control.py', 'except (Unavailable, Timeout) as', 'except BoxofficeError as'],
  },
  {
    rule: 'a client that is closed leaves no connection',
    step: 'no socket of the control plane is left',
    typescript: ['backend/boxoffice.ts', 'this.#control.close();', ''],
    go: ['client.go', 'c.control.close()', ''],
    rust: [
      'client.rs',
      'authorization.clone(), &tls);',
      'authorization.clone(), &tls); std::mem::forget(control.clone());',
    ],
    python: ['_async/client.py', 'await self._control.close()', 'pass'],
  },
  {
    rule: 'a webhook from the future is refused',
    step: 'requests to receivers of webhooks',
    typescript: ['backend/verify-webhook.ts', 'Math.abs(ageSeconds)', 'ageSeconds'],
    go: ['verify_webhook.go', ' || age < -webhookSecondsMax', ''],
    rust: ['webhook_signature.rs', '.abs_diff(sent_at)', '.saturating_sub(sent_at)'],
    python: ['verify.py', 'if abs(age) >', 'if age >'],
  },
  {
    rule: 'a webhook may be signed by any of the secrets',
    step: 'requests to receivers of webhooks',
    typescript: ['backend/verify-webhook.ts', 'keys.some(', 'keys.slice(0, 1).some('],
    go: ['verify_webhook.go', 'range keys {', 'range keys[:1] {'],
    rust: ['webhook_signature.rs', 'keys.iter()', 'keys.iter().take(1)'],
    python: ['verify.py', 'for key in keys:', 'for key in keys[:1]:'],
  },
  {
    rule: 'a statement is no other thing that the service signs',
    step: 'signed statements',
    typescript: ['backend/verify-statement.ts', "typ !== 'statement+jwt'", 'typ === null'],
    go: ['verify_statement.go', 'header["typ"] != "statement+jwt"', 'header["typ"] == 0'],
    rust: ['statement_signature.rs', '!jws.has("typ", "statement+jwt")', 'jws.has("typ", "")'],
    python: ['verify.py', 'members.get("typ") != "statement+jwt"', 'members.get("typ") == 0'],
  },
  {
    rule: 'a token is for this audience',
    step: 'tokens and proofs',
    typescript: ['relay/token.ts', 'claims.aud !== expected.audience', 'claims.aud === undefined'],
    go: ['relay/token.go', 'claims["aud"] != expected.audience', 'claims["aud"] == nil'],
    rust: ['relay/token.rs', '!is("aud", expected.audience)', 'is("aud", "")'],
    python: ['relay/verifier.py', 'claims.get("aud") != self.audience', 'claims.get("aud") is None'],
  },
  {
    rule: 'a token ends at its time',
    step: 'with a clock that is an hour fast',
    typescript: ['relay/token.ts', 'nowMs >= exp * 1000', 'nowMs >= exp * 2000'],
    go: ['relay/token.go', 'nowMs >= exp*1000', 'nowMs >= exp*2000'],
    rust: ['relay/token.rs', 'if now >= expires_at {', 'if now >= expires_at + Duration::from_secs(7200) {'],
    python: ['relay/verifier.py', 'if now >= exp:', 'if now >= 2 * exp:'],
  },
  {
    rule: 'a token begins at its time',
    step: 'with a clock that is an hour fast',
    typescript: ['relay/token.ts', 'SKEW_SECONDS_MAX = 60', 'SKEW_SECONDS_MAX = 7200'],
    go: ['relay/token.go', '> nowMs+skewMsMax', '> 2*nowMs+skewMsMax'],
    rust: ['relay/token.rs', 'SKEW_SECONDS_MAX: u64 = 60', 'SKEW_SECONDS_MAX: u64 = 7200'],
    python: ['relay/verifier.py', 'SKEW_SECONDS_MAX = 60', 'SKEW_SECONDS_MAX = 7200'],
  },
  {
    rule: 'a proof is for this token',
    step: 'attacks of a thief',
    typescript: [
      'relay/proof.ts',
      "ath !== createHash('sha256').update(expected.token).digest('base64url')",
      'ath === null',
    ],
    go: ['relay/proof.go', 'claims["ath"] != jws.Encode(ath[:])', 'claims["ath"] == 0 && len(ath) == 0'],
    rust: ['relay/proof.rs', 'text("ath") != Some(&hash)', 'text("ath") == Some(&hash[..0])'],
    python: ['relay/verifier.py', 'claims.get("ath") != encode', 'claims.get("ath") == "-" + encode'],
  },
  {
    rule: 'a proof is for this challenge',
    step: 'attacks of a thief',
    typescript: ['relay/proof.ts', 'nonce !== expected.challenge', 'nonce === null'],
    go: ['relay/proof.go', 'claims["nonce"] != attempt.Challenge', 'claims["nonce"] == 0'],
    rust: ['relay/proof.rs', 'text("nonce") != Some(expected.challenge)', 'text("nonce") == Some("-")'],
    python: ['relay/verifier.py', 'claims.get("nonce") != attempt.challenge', 'claims.get("nonce") == 0'],
  },
  {
    rule: 'a challenge is used once',
    step: 'attacks of a thief',
    typescript: [
      'relay/token-verifier.ts',
      '!challenges.use(attempt.challenge)',
      "attempt.challenge === '-'",
    ],
    go: ['relay/verifier.go', '!v.challenges.use(attempt.Challenge)', 'attempt.Challenge == "-"'],
    rust: ['relay/verifier.rs', '!self.challenges.use_up(challenge)', 'challenge == "-"'],
    python: ['relay/verifier.py', 'if expiry is None or time.monotonic() >= expiry:', 'if expiry == 0:'],
  },
  {
    rule: 'a proof belongs to the DTLS connection',
    step: 'attacks of a thief',
    typescript: [
      'relay/token-verifier.ts',
      'provenFingerprint !== attempt',
      "provenFingerprint === '-' + attempt",
    ],
    go: ['relay/verifier.go', 'proven != strings.ToLower', 'proven == "-"+strings.ToLower'],
    rust: [
      'relay/verifier.rs',
      'if proven != attempt.dtls_fingerprint.to_ascii_lowercase()',
      'if proven.is_empty()',
    ],
    python: [
      'relay/verifier.py',
      'if fingerprint != attempt.dtls_fingerprint.lower():',
      'if fingerprint == "":',
    ],
  },
  {
    rule: 'a kick ends the tokens before it, and no later ones',
    step: 'checks of a snapshot of revocations',
    typescript: ['relay/revocations.ts', 'subject.epoch < epoch', 'subject.epoch <= epoch'],
    go: ['relay/revocations.go', 'subject.Epoch < kick.Epoch', 'subject.Epoch <= kick.Epoch'],
    rust: ['relay/revocations.rs', 'subject.epoch < *epoch', 'subject.epoch <= *epoch'],
    python: ['relay/verifier.py', 'subject.epoch < epoch', 'subject.epoch <= epoch'],
  },
  {
    rule: 'revocations that are too old admit no one',
    step: 'checks of a snapshot of revocations',
    typescript: ['relay/revocations.ts', ' || seen.nowMs >= revocations.exp * 1000', ''],
    go: ['relay/revocations.go', ' || !now.Before(revocations.ExpiresAt)', ''],
    rust: ['relay/revocations.rs', 'if !self.is_current(now) {', 'if !self.is_current(UNIX_EPOCH) {'],
    python: ['relay/verifier.py', ' or now >= revocations.exp', ''],
  },
  {
    rule: 'keys come with the status 200 alone',
    step: 'keys: they are fetched',
    typescript: ['relay/signing-keys.ts', 'answer.status !== 200', 'answer.status === 1'],
    go: ['relay/keys.go', 'answer.StatusCode != http.StatusOK', 'answer.StatusCode == 1'],
    rust: ['relay/signing_keys.rs', 'answer.status != 200', 'answer.status == 1'],
    python: ['relay/keys.py', 'answer.status_code != 200 or ', ''],
  },
  {
    rule: 'a record that the service refuses is set aside',
    step: 'a record that the service refuses',
    typescript: ['relay/usage/post-usage.ts', 'status === 400 &&', 'status === 1 &&'],
    go: ['relay/usage/post.go', 'status == http.StatusBadRequest &&', 'status == 1 &&'],
    rust: ['relay/usage/post.rs', '400 => match', '1 => match'],
    python: ['relay/usage/post.py', 'status == 400 and', 'status == 1 and'],
  },
];

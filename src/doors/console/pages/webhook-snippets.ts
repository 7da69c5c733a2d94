/**
 * Programs that verify one request to a webhook, in the language of each SDK.
 *
 * Tests run them. The literals are safe whatever an event holds: a body is JSON, so it has no control characters.
 */
import { type Html, html } from '@boxoffice/pages/html';
import type { DeliveryRequest } from '../../../outward/webhooks/get-delivery.ts';

const SIGNED_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

export const SNIPPETS: Readonly<Record<string, (request: DeliveryRequest) => string>> = {
  TypeScript: inTypeScript,
  Go: inGo,
  Rust: inRust,
  Python: inPython,
};

export function renderSnippets(request: DeliveryRequest): Html {
  return html`<h2>Verify it yourself</h2>
<p>Each program checks the signature of this request, with the secret of the webhook in <code>WEBHOOK_SECRET</code>.</p>
${Object.entries(SNIPPETS).map(
  ([language, write]) => html`<details class="card"><summary>${language}</summary>
<pre tabindex="0"><code id="verify-${language}">${write(request)}</code></pre>
<button type="button" data-copy="verify-${language}" hidden>Copy</button></details>`,
)}`;
}

function signedHeaders({ headers }: DeliveryRequest): [name: string, value: string][] {
  return SIGNED_HEADERS.map((name) => [name, headers[name] ?? '']);
}

const secondsOf = ({ headers }: DeliveryRequest) => headers['webhook-timestamp'] ?? '';

function inTypeScript(request: DeliveryRequest): string {
  const headers = signedHeaders(request).map(([name, value]) => `  '${name}': '${value}',\n`);
  return `import { verifyWebhookEvents } from '@boxoffice/sdk';

const headers = {
${headers.join('')}};
const body = ${JSON.stringify(request.body)};
const now = new Date(${secondsOf(request)} * 1000);
const events = verifyWebhookEvents(process.env.WEBHOOK_SECRET ?? '', headers, body, { now });
for (const { type } of events) console.log(type);
`;
}

function inGo(request: DeliveryRequest): string {
  const headers = signedHeaders(request).map(([name, value]) => `\theader.Set("${name}", "${value}")\n`);
  return `package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	boxoffice "boxoffice.example/boxoffice/sdk/go"
)

func main() {
	header := http.Header{}
${headers.join('')}	body := []byte(${JSON.stringify(request.body)})
	now := time.Unix(${secondsOf(request)}, 0)
	events, err := boxoffice.VerifyWebhookEventsAt(now, header, body, os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	for _, event := range events {
		fmt.Println(event.Type)
	}
}
`;
}

function inRust(request: DeliveryRequest): string {
  const [id, timestamp, signature] = signedHeaders(request).map(([, value]) => value);
  return `use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

use boxoffice::verify_webhook_events_at;
use http::HeaderMap;

fn main() -> Result<(), Box<dyn Error>> {
    let id = "${id}";
    let timestamp = "${timestamp}";
    let signature = "${signature}";
    let body = ${rawRust(request.body)};
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", id.parse()?);
    headers.insert("webhook-timestamp", timestamp.parse()?);
    headers.insert("webhook-signature", signature.parse()?);
    let now = UNIX_EPOCH + Duration::from_secs(timestamp.parse()?);
    let secret = std::env::var("WEBHOOK_SECRET")?;
    for event in verify_webhook_events_at(now, [secret], &headers, body.as_bytes())? {
        println!("{}", event.event_type);
    }
    Ok(())
}
`;
}

function inPython(request: DeliveryRequest): string {
  const headers = signedHeaders(request).map(([name, value]) => `    "${name}": "${value}",\n`);
  return `import os
from datetime import datetime, timezone

from boxoffice import verify_webhook_events

headers = {
${headers.join('')}}
body = ${JSON.stringify(request.body)}
now = datetime.fromtimestamp(${secondsOf(request)}, timezone.utc)
for event in verify_webhook_events(os.environ["WEBHOOK_SECRET"], headers, body, now=now):
    print(event.type)
`;
}

/** With so many hash signs that the text cannot end it. */
function rawRust(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/"(#+)/g)].map(([, hashes = '']) => hashes.length));
  const hashes = '#'.repeat(longest + 1);
  return `r${hashes}"${text}"${hashes}`;
}

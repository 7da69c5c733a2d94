/** What became of events that were sent on request, and the form that sends one again. */
import { type Html, html } from '@boxoffice/pages/html';
import { type Delivery, isDelivered } from '../../../outward/webhooks/delivery.ts';
import { formId } from '../../consoles/components.ts';

/** What became of an event that was sent on request. */
export interface Outcome {
  readonly type: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
}

/** The form in which it is kept, in case the form is sent twice. */
export function keepOutcome({ type, status, error, latencyMs }: Delivery): string {
  return JSON.stringify({ type, status, error, latencyMs } satisfies Outcome);
}

export function renderOutcome({ type, status, error, latencyMs }: Outcome): Html {
  if (isDelivered({ status }))
    return html`<p class="done" role="status"><code>${type}</code> was delivered: status ${status} after ${latencyMs} ms.</p>`;
  const why =
    status === null ? html`there was no answer: ${error}` : html`the answer had the status ${status}`;
  return html`<p class="alert" role="alert"><code>${type}</code> was not delivered: ${why}.</p>`;
}

export function resendForm(path: string, seq: bigint, type: string): Html {
  return html`<form class="inline" method="post" action="${path}/resend">${formId()}
<input type="hidden" name="seq" value="${seq}"><button>Resend<span class="hidden"> ${type} ${seq}</span></button></form>`;
}

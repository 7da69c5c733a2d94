/** Sends an event to a receiver of webhooks, in the form and with the signature that the service uses. */
import { createHmac } from 'node:crypto';

export interface Forwarding {
  readonly to: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** The event, as JSON. */
  readonly data: string;
}

/** As the service does. */
const ANSWER_MS = 15_000;

/** What became of it, in a few words. It is sent once. */
export async function forwardEvent({ to, secret, data }: Forwarding): Promise<string> {
  const { id } = JSON.parse(data) as { id: string };
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${data}`).digest('base64');
  const start = performance.now();
  try {
    const answer = await fetch(to, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body: data,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body?.cancel();
    return `${answer.status} in ${Math.round(performance.now() - start)} ms`;
  } catch (error) {
    const { message, cause } = error as Error;
    return `no answer: ${cause instanceof Error ? cause.message : message}`;
  }
}

/** What the receiver of a webhook got. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventsOf, type Receiver } from '../support/receiver.ts';

const PATIENCE_MS = 60_000;

/** What is wrong with the events up to the creation of this key, which it waits for. Each comes in order; some may come again. */
export async function findGaps(receiver: Receiver, keyId: string): Promise<string[]> {
  const events = () => receiver.received().flatMap(eventsOf);
  const isLast = ({ type, data }: ReturnType<typeof eventsOf>[number]) =>
    type === 'key_created' && data.key?.id === keyId;
  for (const begun = performance.now(); !events().some(isLast); await sleep(50)) {
    if (performance.now() - begun > PATIENCE_MS) return ['the webhook did not get the last event'];
  }
  let last: number | undefined;
  for (const { seq } of events()) {
    if (last !== undefined && seq > last + 1) return [`the webhook got event ${seq} after ${last}`];
    last = Math.max(last ?? seq, seq);
  }
  return [];
}

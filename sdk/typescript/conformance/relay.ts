/** The relay half: reports of usage, and the feed. */
import { setTimeout as pause } from 'node:timers/promises';
import { followRevocations } from '../src/relay/index.ts';
import { openUsageReporter, type ParticipantUsage } from '../src/relay/usage/index.ts';

const LOOKS_MS = 20;

// biome-ignore lint/suspicious/noExplicitAny: requests of the suite
type Request = any;

/** What comes of records: they are stored at once, and sent for a while. */
export async function reportUsage({ url, key, spool, records, close_ms }: Request): Promise<object> {
  const options = { url, key, spool, relayId: 'conformance', batchSeconds: 0 };
  const reporter = await openUsageReporter(options);
  try {
    const stored = records.map(({ egress_bytes, ingress_bytes, ...usage }: Request) =>
      reporter.record({
        ...usage,
        egressBytes: egress_bytes,
        ingressBytes: ingress_bytes,
      } as ParticipantUsage),
    );
    await reporter.sync();
    const ids = (await Promise.all(stored)).flat();
    const { left } = await reporter.close({ deadlineSeconds: close_ms / 1000 });
    return { ids, left, admitted: String(reporter.admitted) };
  } finally {
    await reporter.close();
  }
}

/** What the feed knows, whenever it has changed, until the signal. */
export async function tellFeed(
  { url, jwks_url: jwksUrl, tenant, relay_key, issuer, audience }: Request,
  signal: AbortSignal,
  tell: (known: object) => void,
): Promise<void> {
  const relayKey = () => relay_key;
  const feed = followRevocations({ url, jwksUrl, tenants: [tenant], issuer, audience, relayKey });
  try {
    for (let before = ''; ; ) {
      const { epochs = [], bans = [], mutes = [], closed = [] } = feed.get(tenant) ?? {};
      const counts = { epochs: epochs.length, bans: bans.length, mutes: mutes.length, closed: closed.length };
      const known = { ...counts, admitted: String(feed.admitted(tenant) ?? 'unknown') };
      if (JSON.stringify(known) !== before) tell(known);
      before = JSON.stringify(known);
      await pause(LOOKS_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  } finally {
    await feed.close();
  }
}

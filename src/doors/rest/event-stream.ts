/** `GET /v1/events` as server-sent events: for those who would rather follow than ask again and again. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { followPublicEvents } from '../../outward/events/follow-public-events.ts';
import { renderPublicEvent } from '../../outward/events/public-event.ts';
import type { PulledEvents, PullRequest } from '../../outward/events/pull-events.ts';
import type { Deps } from '../deps.ts';
import { typeEventStream } from '../http/event-stream.ts';

/**
 * `event` is the type, `id` the number, `data` the event as `GET /v1/events` lists it. A client that connects again says by
 * `Last-Event-ID` where it was.
 *
 * What is wrong at the beginning is an answer; what goes wrong later ends the stream, and is the answer of the next one.
 */
export async function sendEventStream(
  deps: Deps,
  { request, reply, caller, closing }: StreamCall,
  { after, types }: Pick<PullRequest, 'after' | 'types'>,
): Promise<FastifyReply> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, closing]);
  const pages = followPublicEvents(deps, caller, { after: parseLastId(request) ?? after, types, signal });
  // Nothing else ends it if the client goes before the stream begins.
  signal.addEventListener('abort', () => void pages.return(undefined).catch(() => {}));
  const first = await pages.next();
  const rendered = renderPages(caller.tenant, first, pages);
  return typeEventStream(reply).send(Readable.from(rendered, { highWaterMark: 1 }));
}

interface StreamCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: AuthenticatedCaller;
  readonly closing: AbortSignal;
}

type Page = Pick<PulledEvents, 'events' | 'after'>;

async function* renderPages(
  tenant: TenantId,
  first: IteratorResult<Page, void>,
  pages: AsyncGenerator<Page>,
): AsyncGenerator<string> {
  try {
    for (let page = first; !page.done; page = await pages.next()) yield renderPage(tenant, page.value);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  } finally {
    await pages.return(undefined);
  }
}

/** An `id` alone moves the place of the client past events that it does not want. */
function renderPage(tenant: TenantId, { events, after }: Page): string {
  const rendered = events.map(
    (event) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${renderPublicEvent(tenant, event)}\n\n`,
  );
  return events.at(-1)?.seq === after ? rendered.join('') : `${rendered.join('')}id: ${after}\n\n`;
}

function parseLastId({ headers }: FastifyRequest): bigint | undefined {
  const text = headers['last-event-id'];
  if (text === undefined || text === '') return undefined;
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,17})$/.test(text))
    throw invalidField('Last-Event-ID', 'must be the number of an event');
  return BigInt(text);
}

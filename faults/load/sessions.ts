/** People who log in to the console with a key, look at it, and log out. */
import { type Client, withAnswer } from './client.ts';
import { type HttpReply, send } from './http.ts';
import { kind } from './kind.ts';

interface Step {
  readonly service: number;
  /** Looks at pages before the log-out. */
  readonly looks: number;
  /** Leaves without a log-out. */
  readonly stays: boolean;
}

export const sessions = kind<Step>({
  name: 'sessions',
  clients: 1,
  pauseSeconds: 3,
  draw: (random) => ({
    service: random.integer(0, 1),
    looks: random.integer(0, 4),
    stays: random.chance(0.3),
  }),
  open: async (client) => {
    let count = 0;
    return async ({ service, looks, stays }) => {
      const session = `s${client.number}-${count++}`;
      const cookie = await logIn(client, service, session);
      if (cookie === undefined) return;
      for (let at = 0; at < looks; at += 1) await look(client, (service + at) % 2, session, cookie);
      if (stays) return;
      if (!(await logOut(client, service, session, cookie))) return;
      await look(client, 1 - service, session, cookie);
      await look(client, service, session, cookie);
    };
  },
});

/** Returns the cookie; `undefined`: the log-in failed. */
async function logIn(client: Client, service: number, session: string): Promise<string | undefined> {
  const { id, plaintext } = client.tenant.key;
  const { url } = client.stage.service(service);
  const args = { tenant: client.tenant.id, key: id, service, session };
  const reply = await client.record('session.log_in', args, () => exchangeKey(url, plaintext));
  return cookieOf(reply);
}

/** A session for a key. */
export async function exchangeKey(url: string, key: string): Promise<HttpReply> {
  const exchanged = await send(url, { method: 'POST', path: '/console/session', key });
  if (exchanged.outcome !== 'ok') return exchanged;
  const { pathname } = new URL(exchanged.json.url);
  return asPage(await send(url, { method: 'POST', path: pathname, form: {} }));
}

export function cookieOf({ outcome, headers }: HttpReply): string | undefined {
  return outcome === 'ok' ? headers.get('set-cookie')?.split(';')[0] : undefined;
}

async function look(client: Client, service: number, session: string, cookie: string): Promise<void> {
  await client.record('session.use', { tenant: client.tenant.id, session, service }, async () =>
    withAnswer(
      await send(client.stage.service(service).url, { method: 'GET', path: '/console/keys', cookie }),
      () => ({}),
    ),
  );
}

/** Whether it is known to have worked. */
async function logOut(client: Client, service: number, session: string, cookie: string): Promise<boolean> {
  const { outcome } = await client.insist(service, (at) =>
    client.record('session.log_out', { tenant: client.tenant.id, session, service: at }, async () =>
      asPage(
        await send(client.stage.service(at).url, {
          method: 'POST',
          path: '/console/logout',
          form: {},
          cookie,
        }),
      ),
    ),
  );
  return outcome === 'ok';
}

/** A form that succeeds redirects to a page. */
function asPage<R extends { readonly status?: number; readonly outcome: string }>(reply: R): R {
  return reply.status === 303 || reply.status === 302 ? { ...reply, outcome: 'ok' } : reply;
}

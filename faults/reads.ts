/** What a service answers to the tenants of a campaign, for the check. */
import { askAgain } from './check/ask-again.ts';
import type { Reads } from './check/views.ts';
import { type HttpRequest, send } from './load/http.ts';
import { cookieOf, exchangeKey } from './load/sessions.ts';

/** `keys`: by tenant, the plaintext of a backend key. `logs`: files. */
export function readsOf(url: string, keys: ReadonlyMap<string, string>, logs: readonly string[]): Reads {
  const get = async (path: string, by: Pick<HttpRequest, 'key' | 'cookie' | 'accept'>) => {
    const reply = await askAgain(() => send(url, { method: 'GET', path, ...by }));
    if (reply.outcome !== 'ok') throw new Error(`GET ${path}: ${reply.status ?? 'no answer'}`);
    return reply;
  };
  return {
    tenants: [...keys.keys()],
    logs,
    get: async (tenant, path) => (await get(path, { key: keys.get(tenant)! })).json,
    text: async (tenant, path, accept) => (await get(path, { key: keys.get(tenant)!, accept })).text,
    console: async (tenant, path) => {
      const cookie = cookieOf(await askAgain(() => exchangeKey(url, keys.get(tenant)!)));
      return (await get(path, { cookie: cookie ?? '' })).text;
    },
  };
}

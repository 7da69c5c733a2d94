/** The console: pages for people, on the address of the REST interface. See docs/console.md. */
import { servePages } from '../consoles/door.ts';
import type { Deps } from '../deps.ts';
import { collectMethods, type Http } from '../http/http.ts';

export async function consoleDoor(app: Http, { deps }: { readonly deps: Deps }): Promise<void> {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  const refuseMethods = collectMethods(app);
  servePages(app, async () => (await import('./answer-call.ts')).openPages(deps, closing.signal));
  refuseMethods();
}

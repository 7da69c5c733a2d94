/** `GET /`: what Boxoffice is. */
import { html } from '@boxoffice/pages/html';
import { type Answer, page } from '../../consoles/answer.ts';
import type { Call } from '../route.ts';

export async function showHome({ session, closed = session }: Call): Promise<Answer> {
  const body = html`<h1>Prepaid credit for real-time video</h1>
<p class="lead">Boxoffice sells credit, issues API keys, charges what your relays report, and tells them whom to admit.
Every figure is the ledger's own, to the micro-dollar.</p>
<p class="actions">${
    closed
      ? html`<a class="button primary" href="/console">Open the console</a>`
      : html`<a class="button primary" href="/console/signup">Sign up</a> <a class="button" href="/console/login">Log in</a>`
  } <a class="button" href="/console/prices">Prices</a></p>
<div class="cards">
<section class="card"><h2>Pay as you go</h2><p>Pay in credit once. A saved card tops it up when it runs low.</p></section>
<section class="card"><h2>Charged once, for ever</h2><p>A usage record has an id that counts once. Send it again whenever you are
not sure: the repetition costs nothing.</p></section>
<section class="card"><h2>Your own relays</h2><p>Relays report usage with a key that can do nothing else, and verify tokens by
themselves.</p></section>
</div>
<p>For programs, there is a <a href="/docs/rest">REST interface</a>, and a control plane over gRPC: the <a href="/docs">documents</a> explain them.</p>`;
  return page({ title: 'Prepaid credit for real-time video', body, layout: 'hero' });
}

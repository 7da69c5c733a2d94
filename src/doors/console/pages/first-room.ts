/** How a tenant without rooms makes its first one. */
import { type Html, html } from '@boxoffice/pages/html';
import { renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { emptyState } from '../../consoles/components.ts';

/** The port of the control plane, unless the operator chose another one. */
const CONTROL_PORT = 8081;

export function renderFirstRoom(publicUrl: string, tenant: TenantId): Html {
  const { hostname } = new URL(publicUrl);
  const ways = [
    [
      'On the command line',
      `grpcurl -plaintext -H "authorization: Bearer $KEY" \\
  -d '{"tenant":"${renderTenantId(tenant)}","room":"lobby"}' \\
  ${hostname}:${CONTROL_PORT} boxoffice.control.v1.RoomService/CreateRoom`,
    ],
    ['In TypeScript', "await boxoffice.rooms.create({ room: 'lobby' });"],
    ['In Go', '_, err := client.Rooms.Create(ctx, boxoffice.CreateRoom{Room: "lobby"})'],
    ['In Rust', 'client.rooms().create(CreateRoom::new("lobby")).await?;'],
  ] as const;
  return html`${emptyState(
    'No room is live.',
    'A room comes to life when your back end creates it, or when the first participant joins it.',
  )}
<section class="card"><h2>The first room</h2>
<p>With a backend key from <a href="/console/keys">Keys</a>:</p>
${ways.map(
  ([name, lines], at) => html`<h3 class="label">${name}</h3>
<pre id="way-${at}">${lines}</pre><p><button type="button" data-copy="way-${at}" hidden>Copy</button></p>`,
)}</section>`;
}

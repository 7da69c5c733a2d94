/** How a tenant without rooms makes its first one. */
import { type Html, html } from '@boxoffice/pages/html';
import { renderTenantId, type TenantId } from '../../../base/tenants/tenant.ts';
import { emptyState } from '../../consoles/components.ts';
import type { Deps } from '../../deps.ts';

type Addresses = Pick<Deps['config'], 'publicUrl' | 'grpcPort' | 'tls'>;

export function renderFirstRoom({ publicUrl, grpcPort, tls }: Addresses, tenant: TenantId): Html {
  const control = `${new URL(publicUrl).hostname}:${grpcPort}`;
  const controlUrl = `${tls ? 'https' : 'http'}://${control}`;
  const ways = [
    [
      'On the command line',
      `grpcurl ${tls ? '' : '-plaintext '}-H "authorization: Bearer $KEY" \\
  -d '{"tenant":"${renderTenantId(tenant)}","room":"lobby"}' \\
  ${control} boxoffice.control.v1.RoomService/CreateRoom`,
    ],
    [
      'In TypeScript',
      `import { Boxoffice } from '@boxoffice/sdk';

const boxoffice = new Boxoffice({ url: '${publicUrl}', controlUrl: '${controlUrl}', apiKey: process.env.KEY ?? '' });
await boxoffice.rooms.create({ room: 'lobby' });`,
    ],
    [
      'In Go',
      `client, err := boxoffice.New(boxoffice.Options{
	URL: "${publicUrl}", ControlURL: "${controlUrl}", APIKey: boxoffice.NewSecret(os.Getenv("KEY")),
})
if err != nil {
	return err
}
defer client.Close()
_, err = client.Rooms.Create(ctx, boxoffice.CreateRoom{Room: "lobby"})`,
    ],
    [
      'In Rust',
      `let client = Client::builder().url("${publicUrl}").control_url("${controlUrl}").api_key(std::env::var("KEY")?).build()?;
client.rooms().create(CreateRoom::new("lobby")).await?;`,
    ],
    [
      'In Python',
      `with Boxoffice(url="${publicUrl}", control_url="${controlUrl}", api_key=os.environ["KEY"]) as client:
    client.rooms.create(room="lobby")`,
    ],
  ] as const;
  return html`${emptyState(
    'No room is live.',
    'A room comes to life when your back end creates it, or when the first participant joins it.',
  )}
<section class="card"><h2>The first room</h2>
<p>With a backend key from <a href="/console/keys">Keys</a> in <code>KEY</code>. Behind a proxy, the control plane may have another address: the operator of the service
knows it.</p>
${ways.map(
  ([name, lines], at) => html`<h3 class="label">${name}</h3>
<pre id="way-${at}">${lines}</pre><p><button type="button" data-copy="way-${at}" hidden>Copy</button></p>`,
)}</section>`;
}

/** Passkeys at addresses that browsers know none for. */
import { describe, expect, test } from 'vitest';
import { getPage, makeMember, sendForm } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

describe.each([
  ['http://127.0.0.1:8080', 'set it to <code>http://localhost:8080</code>'],
  ['https://192.0.2.7', 'numbers of an IP address'],
  ['http://console.example', 'Passkeys need TLS'],
])('at %s', (publicUrl, reason) => {
  const app = useService({ publicUrl });

  test('the page says why there are no passkeys, and nothing asks for one', async () => {
    const tenant = await app.signUp();
    const { secret } = await makeMember(app.service.deps.db, idOf(tenant));
    const cookie = `${publicUrl.startsWith('https') ? '__Host-' : ''}boxoffice=${secret}`;
    const shown = await getPage(app, '/console/passkeys', cookie);
    expect([shown.status, shown.text.includes(reason), shown.text.includes('data-passkey')]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await getPage(app, '/console/login')).text).not.toContain('data-passkey');
    for (const path of ['/options', '/login/options', '/login', '/confirm/options', '/confirm']) {
      expect((await sendForm(app, `/console/passkeys${path}`, {}, { cookie })).status).toBe(404);
    }
  });
});

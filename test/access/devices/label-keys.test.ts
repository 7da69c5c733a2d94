import { expect, test } from 'vitest';
import { labelKeys } from '../../../src/access/devices/label-keys.ts';
import { createCredential } from '../../support/devices.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();

test('keys and device credentials of the tenant have their names and ids', async () => {
  const [tenant, other] = [await app.paidTenant(), await app.paidTenant()];
  const { id } = await createCredential(app, tenant, { name: 'kiosk' });
  const ids = [tenant.keyId, id, other.keyId, '0000000000000000'];
  const labels = await labelKeys(app.service.deps.db, idOf(tenant), ids);
  expect([...labels].sort()).toEqual(
    [
      [tenant.keyId, `default (${tenant.keyId})`],
      [id, `kiosk (${id})`],
    ].sort(),
  );
});

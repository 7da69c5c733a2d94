/** `/console/tenants/t_.../room-sessions`: who was in rooms of a tenant, how long, and what it cost. */
import type { Answer } from '../../../consoles/answer.ts';
import { named } from '../../../consoles/components.ts';
import { showSessionsInRooms } from '../../../consoles/room-session-list.ts';
import { readNote } from '../read-note.ts';
import type { LoggedInCall } from '../route.ts';
import { tenantPath } from '../tenant-link.ts';
import { tenantOf } from './tenant.ts';

export async function showTenantRoomSessions(call: LoggedInCall): Promise<Answer> {
  const tenant = await tenantOf(call);
  return showSessionsInRooms(
    { db: call.deps.db, tenant: tenant.id, query: call.query },
    {
      path: `${tenantPath(tenant)}/room-sessions`,
      of: named(tenant.name),
      hasDetails: false,
      below: readNote(tenant),
    },
  );
}

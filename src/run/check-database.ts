/** Whether the service can use the database that it was given. Looks only, so a start that is refused changes nothing. */
import { directConfig, openPool, type Pool, SESSION_LIMITS } from '../base/db/pool.ts';
import { orStartError, StartError } from '../base/lib/start-error.ts';

/** What a connection leads to. */
export interface Look {
  readonly role: string;
  /** The server, since its last start, and the database. */
  readonly place: string;
  readonly isReadOnly: boolean;
  /** Connections that the server, the database and the role allow to those who are no superusers. */
  readonly connectionsMax: number;
  /** Names of the time limits that the session has not. */
  readonly unlimited: readonly (keyof typeof SESSION_LIMITS)[];
  /** Whether the service has started on it before. */
  readonly hasSigningKeys: boolean;
}

const LOOK = `
  select current_user as role,
         concat(extract(epoch from pg_postmaster_start_time()), ' ', d.oid) as place,
         pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "isReadOnly",
         least(
           current_setting('max_connections')::integer
             - current_setting('superuser_reserved_connections')::integer
             - coalesce(current_setting('reserved_connections', true)::integer, 0),
           nullif(d.datconnlimit, -1),
           (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as "connectionsMax",
         array(select name from unnest($1::text[]) as l (name) where current_setting(name) = '0') as unlimited,
         to_regclass('signing_keys') is not null as "hasSigningKeys"
    from pg_database d where d.datname = current_database()`;

/** It is a standby, perhaps one that becomes the primary soon. */
export class DatabaseReadOnly extends StartError {
  override readonly name = 'DatabaseReadOnly';

  constructor(variable: string) {
    super(`the database of ${variable} is read-only: set it to the primary, or to a proxy`);
  }
}

/** Fails with `StartError`, which names `variable`, if the database cannot be opened or refuses writes. */
export async function lookAt(db: Pool, variable: string): Promise<Look> {
  const limits = Object.keys(SESSION_LIMITS);
  const asking = async () => {
    const client = await db.connect();
    try {
      const [look] = (await client.query<Look>(LOOK, [limits])).rows;
      // Its connection is not used again: the next one may lead to the primary.
      client.release(look!.isReadOnly);
      return look!;
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
  const look = await orStartError(asking, `the database of ${variable} cannot be opened`);
  if (look.isReadOnly) throw new DatabaseReadOnly(variable);
  return look;
}

/** Fails with `StartError` if `further`, of another variable, is not the database of DATABASE_URL. */
export function assertSamePlace(look: Look, further: Look, variable: string): void {
  if (further.place === look.place) return;
  throw new StartError(`${variable} and DATABASE_URL must open the same database on the same server`);
}

/** Look at the sessions of the pooler that `db` goes through, and at the way without it, which `wait` may wait for. */
export async function checkPooler(
  db: Pool,
  look: Look,
  wait: (look: () => Promise<Look>) => Promise<Look>,
): Promise<void> {
  const [name] = look.unlimited;
  if (name !== undefined) {
    const limit = SESSION_LIMITS[name];
    throw new StartError(
      `sessions of the pooler in DATABASE_URL have no ${name}: alter role ${look.role} set ${name} = ${limit}`,
    );
  }
  const variable = 'DATABASE_DIRECT_URL';
  const direct = openPool(directConfig(db).connectionString!, { max: 1 });
  try {
    assertSamePlace(look, await wait(() => lookAt(direct, variable)), variable);
  } finally {
    await direct.end();
  }
}

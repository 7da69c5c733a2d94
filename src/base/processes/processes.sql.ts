/** SQL of `processes`: which processes of the service live, by the clock of the database. */
import type { Db } from '../db/pool.ts';

/** `secretsKey`: the name of the key that it seals with. */
export async function insertProcess(db: Db, id: string, secretsKey: string | undefined): Promise<void> {
  await db.query({
    name: 'insert-process',
    text: 'insert into processes (id, reads_archive, secrets_key) values ($1, true, $2)',
    values: [id, secretsKey ?? null],
  });
}

/**
 * How many live that seal with another key, or whose version does not say. Where all processes were killed, none notes that they are gone,
 * so silence for longer than a process may be silent counts, too.
 */
export async function countOtherSealers(db: Db, secretsKey: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-other-sealers',
    text: `select count(*)::integer as count from processes
            where gone_at is null and seen_at > now() - interval '10 seconds' and secrets_key is distinct from $1`,
    values: [secretsKey],
  });
  return rows[0]!.count;
}

/** Whether a process lives whose version does not read the archive of usage records. */
export async function hasProcessWithoutArchive(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'has-process-without-archive',
    text: 'select exists (select from processes where gone_at is null and not reads_archive) as found',
  });
  return rows[0]!.found;
}

/** Note that it lives. Returns false if it is gone for the others. */
export async function noteAlive(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'note-process-alive',
    text: 'update processes set seen_at = now() where id = $1 and gone_at is null',
    values: [id],
  });
  return rowCount === 1;
}

/** Note that processes are gone which said nothing for so long. The lock of a row decides between this and `noteAlive()`. */
export async function noteGone(db: Db, silentSeconds: number): Promise<void> {
  await db.query({
    name: 'note-processes-gone',
    text: `update processes set gone_at = now() where id in (
             select id from processes where gone_at is null and seen_at < now() - make_interval(secs => $1)
              order by id for update skip locked)`,
    values: [silentSeconds],
  });
}

export async function noteEnd(db: Db, id: string): Promise<void> {
  await db.query({
    name: 'note-process-end',
    text: 'update processes set gone_at = now() where id = $1 and gone_at is null',
    values: [id],
  });
}

/** Those that went within so many seconds. */
export async function findGone(db: Db, seconds: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find-gone-processes',
    text: `select id from processes where gone_at > now() - make_interval(secs => $1) order by id`,
    values: [seconds],
  });
  return rows.map(({ id }) => id);
}

/** Those that went an hour ago: no lease is that long. */
export async function deleteGone(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete-gone-processes',
    text: `delete from processes where id in (
             select id from processes where gone_at < now() - interval '1 hour' limit $1)`,
    values: [limit],
  });
  return rowCount ?? 0;
}

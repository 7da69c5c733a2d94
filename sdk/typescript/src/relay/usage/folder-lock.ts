/**
 * One owner for a folder, as long as it lives.
 *
 * The owner listens on a Unix socket in the folder. The operating system stops that with the process,
 * however it ends and in whatever container it ran, so a dead owner keeps nothing and no process number
 * can be mistaken for it. Whoever wants the folder listens first and only then asks the others: of two
 * at once, the later one to ask finds the other listening. So at most one of them gets it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { UsageError } from './errors.ts';

const PREFIX = 'lock.';

export interface FolderLock {
  release(): Promise<void>;
}

/** Throws `spool_in_use` while somebody else has the folder. `handle` is of the folder, open until release. */
export async function lockFolder(folder: string, handle: FileHandle): Promise<FolderLock> {
  const mine = `${PREFIX}${randomBytes(6).toString('hex')}`;
  const server = await listen(addressOf(folder, handle, mine));
  const release = () => new Promise<void>((resolve) => server.close(() => resolve()));
  try {
    const others = (await locksIn(folder)).filter((name) => name !== mine);
    for (const name of others) if (await answers(addressOf(folder, handle, name))) throw inUse(folder);
    // Somebody who was already the owner may have taken our socket for a dead one and removed it.
    if (!(await locksIn(folder)).includes(mine)) throw inUse(folder);
    for (const name of others) await rm(join(folder, name), { force: true });
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

/** The path of a socket is limited to about 100 bytes; Linux offers a short one for an open folder. */
function addressOf(folder: string, handle: FileHandle, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(folder, name);
}

async function locksIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith(PREFIX));
}

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.listen({ path, exclusive: true });
  await once(server, 'listening');
  return server.unref();
}

/** Nobody listens, or the socket is gone: every other error comes from an owner that lives. */
const DEAD: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT']);

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return !DEAD.has((error as NodeJS.ErrnoException).code);
  } finally {
    socket.destroy();
  }
}

function inUse(folder: string): UsageError {
  return new UsageError('spool_in_use', `the spool ${folder} is in use by another reporter`);
}

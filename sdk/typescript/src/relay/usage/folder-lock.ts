/**
 * Exclusive ownership of a folder, for the lifetime of a process.
 *
 * The owner listens on a Unix socket in the folder. The operating system closes it with the process,
 * however it ends and in any container, so a dead owner holds nothing and pids are not needed.
 * A process that wants the folder listens first and then connects to the other sockets: of two
 * at once, the later one to connect finds the other listening. So at most one gets the folder.
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

/** Throws `spool_in_use` while another reporter owns the folder. `handle` is of the folder, open until release. */
export async function lockFolder(folder: string, handle: FileHandle): Promise<FolderLock> {
  const mine = `${PREFIX}${randomBytes(6).toString('hex')}`;
  const server = await listen(addressOf(folder, handle, mine));
  const release = () => new Promise<void>((resolve) => server.close(() => resolve()));
  try {
    const others = (await locksIn(folder)).filter((name) => name !== mine);
    for (const name of others) if (await answers(addressOf(folder, handle, name))) throw inUse(folder);
    // An earlier owner may have mistaken our socket for a dead one and removed it.
    if (!(await locksIn(folder)).includes(mine)) throw inUse(folder);
    for (const name of others) await rm(join(folder, name), { force: true });
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

/** Socket paths are limited to about 100 bytes; Linux offers a short one for an open folder. */
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

/** These errors mean that the socket is dead or gone. Any other error comes from a live owner. */
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

/** Which process has the end of a connection on this machine. Source: proc(5). */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The place of the group that has the process with this local port; `undefined`: none of them, or this machine does not tell. */
export function findOwner(port: number, groups: readonly (readonly number[])[]): number | undefined {
  const inode = inodeOf(port);
  if (inode === undefined) return undefined;
  const place = groups.findIndex((pids) => pids.some((pid) => holds(pid, inode)));
  return place === -1 ? undefined : place;
}

/** Names the socket with this local port that is connected. */
function inodeOf(port: number): string | undefined {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
    orNothing(() => readFileSync(path, 'utf8').split('\n')),
  );
  const [inode] = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) && state === CONNECTED)
    .map((cells) => cells[9]);
  return inode;
}

const CONNECTED = '01';

function holds(pid: number, inode: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return orNothing(() => readdirSync(folder)).some((fd) =>
    orNothing(() => [readlinkSync(`${folder}/${fd}`)]).includes(`socket:[${inode}]`),
  );
}

/** A process may end meanwhile, and another system has no such files. */
function orNothing(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

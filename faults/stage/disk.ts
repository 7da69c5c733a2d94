/**
 * The disk of a campaign's database: a small file system of its own, so that it can be full, and can lose power as a machine does: what was
 * not synced is gone.
 *
 * Power is lost by the ioctl with which xfstests does it (EXT4_IOC_SHUTDOWN without a flush of the journal): from then on the file system
 * writes nothing, and what it finds when it is mounted again is what had reached the device.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram } from '../../test/deploy/processes.ts';

const run = promisify(execFile);

const MEMORY = '/dev/shm';
/** Sparse: it takes what is written. */
const SIZE = '6G';
/** More than a campaign of an hour writes. */
const ROOM_BYTES_MIN = 4 * 2 ** 30;
/** Files that fill it, each size until there is no room for it. */
const BALLAST = [2 ** 30, 2 ** 26, 2 ** 22, 2 ** 18, 2 ** 14];
const UNMOUNT_TRIES_MAX = 200;
const PROGRAMS = ['mkfs.ext4', 'losetup', 'mount', 'umount', 'fallocate', 'perl'];
/** `_IOR('X', 125, __u32)`, and the flag that leaves out the flush of the journal. Source: fs/ext4/ext4.h of Linux. */
const SHUTDOWN =
  'open(my $dir, "<", $ARGV[0]) or die $!; my $how = pack("I", 2); ioctl($dir, 0x8004587d, $how) or die $!';

export interface Disk {
  readonly folder: string;
  /** Why it can neither be full nor lose power; `undefined`: it can. */
  readonly limits: string | undefined;
  /** Write everything. */
  sync(): Promise<void>;
  fill(): Promise<void>;
  free(): void;
  /** From now on, nothing is written. */
  losePower(): Promise<void>;
  /** After a loss of power, once no process uses it. */
  mountAgain(): Promise<void>;
  remove(): Promise<void>;
}

/** `roomBytesMin`: with less, it is a folder like any other, which can neither be full nor lose power. */
export async function openDisk(roomBytesMin = ROOM_BYTES_MIN): Promise<Disk> {
  const place = findPlace(roomBytesMin);
  const parent = mkdtempSync(join(place.folder, 'boxoffice-faults-disk-'));
  const folder = join(parent, 'mounted');
  mkdirSync(folder);
  const watcher = watchOver(parent, folder);
  const remove = async () => {
    const exit = new Promise((resolve) => watcher.once('exit', resolve));
    watcher.ref();
    watcher.stdin!.end();
    await exit;
  };
  const limits =
    place.bytes < roomBytesMin
      ? `there is no room of ${roomBytesMin / 2 ** 30} GiB for a file system of its own`
      : findLimits();
  if (limits !== undefined) return plainDisk(folder, limits, remove);
  const image = join(parent, 'image');
  try {
    await run('truncate', ['--size', SIZE, image]);
    await run('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    await mount(image, folder);
  } catch (error) {
    // The last words: those before name the folder.
    const why = (error as Error).message.trim().split(': ').at(-1);
    return plainDisk(folder, `no file system can be mounted here: ${why}`, remove);
  }
  return { ...mountedDisk(folder, () => mount(image, folder)), remove };
}

/**
 * By a device of its own each time. A program that has its own list of mounts, such as a container, keeps those that there were when it
 * began: the file system of before the loss of power, which would be mounted again by its device.
 */
async function mount(image: string, folder: string): Promise<void> {
  const { stdout } = await run('losetup', ['--find', '--show', image]);
  const device = stdout.trim();
  try {
    await run('mount', [device, folder]);
  } finally {
    // It goes when nothing has it mounted any more.
    await run('losetup', ['--detach', device]);
  }
}

/** A folder of the machine's own disk. */
function plainDisk(folder: string, limits: string, remove: () => Promise<void>): Disk {
  const refuse = () => Promise.reject(new Error(limits));
  const nothing = async () => {};
  return {
    folder,
    limits,
    sync: nothing,
    fill: refuse,
    free() {},
    losePower: refuse,
    mountAgain: refuse,
    remove,
  };
}

function mountedDisk(folder: string, mount: () => Promise<void>): Omit<Disk, 'remove'> {
  const ballast = join(folder, 'ballast');
  return {
    folder,
    limits: undefined,
    sync: async () => void (await run('sync', ['--file-system', folder])),
    fill: async () => {
      mkdirSync(ballast, { recursive: true });
      for (const bytes of BALLAST)
        for (let part = 0; await takes(join(ballast, `${bytes}-${part}`), bytes); part += 1);
    },
    free: () => rmSync(ballast, { recursive: true, force: true }),
    losePower: async () => void (await run('perl', ['-e', SHUTDOWN, folder])),
    mountAgain: async () => {
      await unmount(folder);
      await mount();
      // What was freed and not synced before the loss of power is there again.
      rmSync(ballast, { recursive: true, force: true });
    },
  };
}

/** In memory where there is room, which is faster. Otherwise where there is most. */
function findPlace(roomBytesMin: number): { readonly folder: string; readonly bytes: number } {
  const places = [MEMORY, tmpdir()]
    .filter((folder) => existsSync(folder))
    .map((folder) => ({ folder, bytes: roomIn(folder) }));
  return (
    places.find(({ bytes }) => bytes >= roomBytesMin) ?? places.toSorted((a, b) => b.bytes - a.bytes)[0]!
  );
}

function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return folder === MEMORY ? Math.min(bavail * bsize, process.availableMemory()) : bavail * bsize;
}

/** `undefined`: it can be full and lose power. */
function findLimits(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may mount a file system';
  const missing = PROGRAMS.find((name) => findProgram(name) === undefined);
  return missing && `there is no ${missing}`;
}

/** A process that was killed may hold it for a moment longer. */
async function unmount(folder: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void (await run('umount', [folder]));
    } catch (error) {
      if (tries === UNMOUNT_TRIES_MAX) throw error;
      await sleep(50);
    }
  }
}

/** Whether the file system had room for a file of this size. */
async function takes(path: string, bytes: number): Promise<boolean> {
  try {
    await run('fallocate', ['--length', String(bytes), path]);
    return true;
  } catch {
    rmSync(path, { force: true });
    return false;
  }
}

/** A shell that outlives this process: it ends the server on the disk, and removes the disk. */
function watchOver(parent: string, folder: string) {
  const script = `cat >/dev/null
    find "$2" -name postmaster.pid | while read -r file; do kill -KILL "$(head -n 1 "$file")"; done
    umount -l "$2" 2>/dev/null
    for try in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" && break; sleep 0.5; done`;
  const watcher = spawn('sh', ['-c', script, 'sh', parent, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  return watcher;
}

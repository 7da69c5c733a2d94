/** A proxy of Go modules in a folder, with the SDK as a release has it: `go get` takes it from there, as from any proxy. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { runTool } from '../../scripts/toolchains.ts';

/** Writes one version of the module in `source`. Returns what `GOPROXY` has to begin with. */
export async function writeProxy(
  folder: string,
  { source, module, version }: { readonly source: string; readonly module: string; readonly version: string },
): Promise<string> {
  const versions = join(folder, module, '@v');
  await mkdir(versions, { recursive: true });
  const files = (await listFiles(source)).map(
    async (path) => [`${module}@${version}/${path}`, await readFile(join(source, path))] as const,
  );
  await writeFile(join(versions, 'list'), `${version}\n`);
  await writeFile(join(versions, `${version}.info`), JSON.stringify({ Version: version }));
  await writeFile(join(versions, `${version}.mod`), await readFile(join(source, 'go.mod')));
  await writeFile(join(versions, `${version}.zip`), zip(await Promise.all(files)));
  return `file://${folder}`;
}

/** Settings for a user of the module: `modules` is an empty folder. */
export async function settingsFor(proxy: string, modules: string): Promise<NodeJS.ProcessEnv> {
  const known = await runTool('go', ['env', 'GOMODCACHE', 'GOPROXY'], { folder: 'sdk/go' });
  const [cache, proxies] = known.trim().split('\n');
  return {
    // What was downloaded before, so that it need not be again.
    GOPROXY: `${proxy},file://${cache}/cache/download,${proxies}`,
    // The database of checksums knows no release of today.
    GOSUMDB: 'off',
    GOMODCACHE: modules,
    GOFLAGS: '-mod=mod -modcacherw -p=2 -gcflags=all=-dwarf=false',
    GOWORK: 'off',
  };
}

/** What git has of a folder, and what is new. */
async function listFiles(folder: string): Promise<string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', args, { cwd: folder });
  return stdout.split('\0').filter((path) => path !== '' && existsSync(join(folder, path)));
}

/** An archive without compression. Source: APPNOTE.TXT of PKWARE, 4.3. */
function zip(files: readonly (readonly [name: string, bytes: Buffer])[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, bytes] of files) {
    const local = fields([4, 0x04034b50], [2, 20], ...fileFields(name, bytes));
    directory.push(
      fields([4, 0x02014b50], [2, 20], [2, 20], ...fileFields(name, bytes)),
      // No comment, one disk, no attributes.
      fields([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]),
      Buffer.from(name),
    );
    parts.push(local, Buffer.from(name), bytes);
    offset += local.length + Buffer.byteLength(name) + bytes.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = fields(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, files.length],
    [2, files.length],
    [4, size],
    [4, offset],
    [2, 0],
  );
  return Buffer.concat([...parts, ...directory, end]);
}

/** What both headers of a file have: names in UTF-8, no compression, no time, checksum, sizes, and no extra field. */
function fileFields(name: string, bytes: Buffer): Field[] {
  return [
    [2, 0x800],
    [2, 0],
    [4, 0x210000],
    [4, crc32(bytes)],
    [4, bytes.length],
    [4, bytes.length],
    [2, Buffer.byteLength(name)],
    [2, 0],
  ];
}

type Field = readonly [bytes: 2 | 4, value: number];

function fields(...all: readonly Field[]): Buffer {
  return Buffer.concat(
    all.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes);
      field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}

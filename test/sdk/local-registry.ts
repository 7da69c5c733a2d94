/** A registry on this machine, for installations: it has what is installed in the repository, and packages of one's own. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface LocalRegistry {
  readonly url: string;
  close(): void;
}

/** One version of a package. */
interface Version {
  readonly manifest: { readonly name: string; readonly version: string };
  tarball(): Promise<Buffer>;
}

/** Serves the packages of `package-lock.json`, and these tarballs of `npm pack`. */
export async function startRegistry(root: string, tarballs: readonly string[]): Promise<LocalRegistry> {
  const versions = [
    ...(await Promise.all(tarballs.map(packedVersion))),
    ...(await Promise.all((await installedFolders(root)).map(installedVersion))),
  ];
  const server = createServer((request, response) => {
    answer(versions, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function packedVersion(path: string): Promise<Version> {
  const { stdout } = await run('tar', ['-xzOf', path, 'package/package.json']);
  const { stdout: files } = await run('tar', ['-tzf', path]);
  // npm heeds a shrinkwrap of which the registry tells.
  const _hasShrinkwrap = files.split('\n').includes('package/npm-shrinkwrap.json');
  return { manifest: { ...JSON.parse(stdout), _hasShrinkwrap }, tarball: () => readFile(path) };
}

/** Packages for other platforms are not there, and those of the workspaces are links. */
async function installedFolders(root: string): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries<{ link?: boolean }>(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path]) => join(root, path))
    .filter((folder) => existsSync(join(folder, 'package.json')));
}

async function installedVersion(folder: string): Promise<Version> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return { manifest, tarball: () => tarballOf(folder) };
}

/** npm drops the first folder of a path in a tarball, whatever it is called. */
async function tarballOf(folder: string): Promise<Buffer> {
  const args = ['-czf', '-', '--exclude', 'node_modules', '-C', dirname(folder), basename(folder)];
  const { stdout } = await run('tar', args, { encoding: 'buffer', maxBuffer: 2 ** 28 });
  return stdout;
}

async function answer(
  versions: readonly Version[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = decodeURIComponent(request.url!.slice(1));
  const [, name = path, wanted] = /^(.*)\/-\/(.*)\.tgz$/.exec(path) ?? [];
  const found = versions.filter(({ manifest }) => manifest.name === name);
  if (wanted !== undefined) {
    const one = found.find(({ manifest }) => manifest.version === wanted);
    if (one) response.end(await one.tarball());
    else response.writeHead(404).end();
    return;
  }
  if (found.length === 0) {
    response.writeHead(404).end('{}');
    return;
  }
  const base = `http://${request.headers.host}/${name}/-`;
  const listed = found.map(({ manifest }) => [
    manifest.version,
    { ...manifest, dist: { tarball: `${base}/${manifest.version}.tgz` } },
  ]);
  const latest = found[0]!.manifest.version;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(listed) }));
}

/** The package as it is installed: what `npm pack` takes, and that plain JavaScript can import it. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SDK = join(ROOT, 'sdk/typescript');
const run = promisify(execFile);
let folder: string;

/** The package in a folder of its own, built, with nothing of the sources. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-sdk-'));
  for (const file of ['package.json', 'README.md', 'LICENSE']) {
    await copyFile(join(SDK, file), join(folder, file));
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', SDK, '--outDir', join(folder, 'dist')]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test('holds the build, a README and the licence, and neither sources nor tests', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: folder });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  expect(
    paths.filter((path) => !/^dist\/(backend|device|gen|relay)\/[\w/-]+(\.d\.ts|\.js)$/.test(path)),
  ).toStrictEqual(['LICENSE', 'README.md', 'package.json']);
  expect(await readFile(join(SDK, 'LICENSE'), 'utf8')).toBe(await readFile(join(ROOT, 'LICENSE'), 'utf8'));
});

test('can be imported by plain JavaScript, by its three names alone', async () => {
  const program = `
    import { AdmissionRefused, createTokenVerifier, openUsageReporter } from '@boxoffice/sdk/relay';
    import { createDevice, Session } from '@boxoffice/sdk/device';
    import { Boxoffice, BoxofficeError } from '@boxoffice/sdk';
    const url = 'http://127.0.0.1:1';
    const boxoffice = new Boxoffice({ url, controlUrl: url, apiKey: 'svc_x', tenant: 't', retries: 0 });
    const unreached = await boxoffice.rooms.create({ room: 'x' }).catch((error) => error);
    const device = await createDevice();
    const relay = createTokenVerifier({ issuer: 'i', audience: 'a', jwks: { keys: [] } });
    const target = { challenge: relay.challenge(), url: 'https://relay.example/', method: 'CONNECT' };
    const proof = await device.proof({ token: 'x', dtlsFingerprint: '', ...target });
    const refused = await relay.verify({ token: 'x', proof, dtlsFingerprint: '', ...target }).catch((error) => error);
    const hidden = await import('@boxoffice/sdk/relay/token.js').catch((error) => error.code);
    const isThere = [openUsageReporter, Session].every((each) => typeof each === 'function');
    const kind = unreached instanceof BoxofficeError && unreached.kind;
    console.log(JSON.stringify([kind, refused instanceof AdmissionRefused, refused.code, hidden, isThere]));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: folder });
  expect(JSON.parse(stdout)).toStrictEqual([
    'Unavailable',
    true,
    'TOKEN_MALFORMED',
    'ERR_PACKAGE_PATH_NOT_EXPORTED',
    true,
  ]);
});

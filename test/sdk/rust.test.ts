/** The SDK for Rust: its own tests, its checks, and what is generated for it. Without Rust, they are left out. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeRestStructs } from '../../scripts/make-rest-structs.ts';
import { BUILD_MS_MAX, findTool, RUST_TARGET, runTool } from '../../scripts/toolchains.ts';
import { Boxoffice } from '../../sdk/typescript/src/backend/index.ts';
import { createDevice } from '../../sdk/typescript/src/device/index.ts';
import { useService } from '../support/service.ts';
import { tryBackEnd } from './example-back-end.ts';
import { firstRoomIn } from './first-room.ts';

const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'sdk/rust');
const CACHE = join(ROOT, 'node_modules/.cache');

const hasCargo = findTool('cargo') !== undefined;

const run = (command: string, args: readonly string[], env?: NodeJS.ProcessEnv) =>
  runTool(command, args, { folder: 'sdk/rust', ...(env && { env }) });
const cargo = (args: string, env?: NodeJS.ProcessEnv) => run('cargo', args.split(' '), env);

/** Texts of the files of a folder, by their names. */
async function textsOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return Object.fromEntries(names.map((name, at) => [name, texts[at]!]));
}

/** A program with the lines of the console. */
const firstRoom = (lines: string) => `use boxoffice::{Client, CreateRoom};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
${lines}
Ok(())
}
`;

/** Modules, and those that each one uses by `crate::` or `super::`. A module is its path from `src`, as `relay/feed`. */
async function usesOf(folder: string): Promise<Map<string, string[]>> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.rs'));
  const modules = new Set(paths.map((path) => path.slice(0, -'.rs'.length)));
  const find = (...names: string[]) => names.find((name) => modules.has(name));
  const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), 'utf8')));
  return new Map(
    [...modules].map((module, at) => {
      const code = texts[at]!.replace(/\/\/.*/g, '');
      const used = [...code.matchAll(/\b(crate|super)::(\w+)(?:::(\w+))?/g)].map(([, from, name, inner]) => {
        const parent = from === 'crate' || dirname(module) === '.' ? '' : `${dirname(module)}/`;
        const path = parent + name!.replace('generated', 'gen');
        return find(`${path}/${inner}`, path, `${path}/mod`, `${parent}mod`);
      });
      return [module, used.filter((name) => name !== undefined && name !== module) as string[]];
    }),
  );
}

/** A way from a module back to it, through modules that do not have one themselves. */
function findCircle(uses: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (module: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(module)) return [...way.slice(way.indexOf(module)), module];
    if (done.has(module)) return undefined;
    for (const used of uses.get(module)!) {
      const circle = visit(used, [...way, module]);
      if (circle) return circle;
    }
    done.add(module);
    return undefined;
  };
  return [...uses.keys()].map((module) => visit(module, [])).find((circle) => circle);
}

test.each([
  ['src', 'client', 'services/mod'],
  ['generate/src', 'types', 'contract'],
])('no modules of the SDK for Rust use each other in a circle, in %s', async (folder, user, used) => {
  const uses = await usesOf(join(SDK, folder));
  expect(findCircle(uses)).toBeUndefined();
  const back = new Map(uses).set(used, [...uses.get(used)!, user]);
  expect(findCircle(back)).toEqual(expect.arrayContaining([user, used]));
});

describe.skipIf(!hasCargo)('the SDK for Rust', { timeout: BUILD_MS_MAX }, () => {
  test('is formatted', async () => {
    await cargo('fmt --check');
    await cargo('fmt --check --manifest-path generate/Cargo.toml');
  });

  test('passes its tests, and the examples of its README', async () => {
    // Built before, behind the others.
    await cargo('test --no-run --locked --all-features');
    const args = ['test', '--locked', '--all-features'];
    await runTool('cargo', args, { folder: 'sdk/rust', hasTimeLimits: true });
  });

  test('passes clippy, with and without its feature', async () => {
    await cargo('clippy --locked --all-targets --all-features -- -D warnings');
    // As its users build it: with the features of its own dependencies alone.
    await cargo('clippy --locked --lib -- -D warnings');
    await cargo('clippy --locked --lib --all-features -- -D warnings');
  });

  test('has documentation without warnings', async () => {
    await cargo('doc --locked --no-deps --all-features', { RUSTDOCFLAGS: '-D warnings' });
  });

  test('is packaged with all of its sources', async () => {
    const sources = (await readdir(join(SDK, 'src'), { recursive: true }))
      .filter((path) => path.endsWith('.rs'))
      .map((path) => `src/${path}`);
    const others = ['CHANGELOG.md', 'Cargo.lock', 'Cargo.toml', 'Cargo.toml.orig', 'LICENSE', 'README.md'];
    const packaged = (await cargo('package --locked --allow-dirty --list')).trim().split('\n');
    expect(packaged.filter((path) => path !== '.cargo_vcs_info.json').toSorted()).toEqual(
      [...sources, ...others].toSorted(),
    );
    await cargo('package --locked --allow-dirty --no-verify');
  });

  test('compiles as a dependency out of its package, with what README and console show first, and the example of a back end', async () => {
    const folder = await mkdtemp(join(CACHE, 'rust-user-'));
    try {
      await cargo('package --locked --allow-dirty --no-verify');
      const [, version] = /^version = "(.*)"$/m.exec(await readFile(join(SDK, 'Cargo.toml'), 'utf8'))!;
      const name = `boxoffice-${version}`;
      await run('tar', ['-xzf', join(RUST_TARGET, `package/${name}.crate`), '-C', folder]);
      const [, firstCall] = /```rust,no_run\n(.*?)```/s.exec(await readFile(join(SDK, 'README.md'), 'utf8'))!;
      const user = join(folder, 'user');
      await cp(join(ROOT, 'examples/rust-backend'), user, { recursive: true });
      await mkdir(join(user, 'src/bin'));
      await writeFile(join(user, 'src/bin/first-call.rs'), firstCall!);
      const lines = firstRoomIn('Rust', { publicUrl: 'https://boxoffice.example', grpcPort: 443 });
      await writeFile(join(user, 'src/bin/first-room.rs'), firstRoom(lines));
      // The versions that are here already.
      await copyFile(join(SDK, 'Cargo.lock'), join(user, 'Cargo.lock'));
      const args = ['check', '--offline', '--config', `patch.crates-io.boxoffice.path="../${name}"`];
      await runTool('cargo', args, { folder: relative(ROOT, user) });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('has messages, methods and types that are made from the contract', async () => {
    const made = await mkdtemp(join(CACHE, 'rust-gen-'));
    try {
      const image = join(made, 'contract.binpb');
      await run('buf', ['build', join(ROOT, 'proto'), '-o', image]);
      await cargo('build --locked --manifest-path generate/Cargo.toml');
      await run('sh', ['-c', `"${join(RUST_TARGET, 'debug/boxoffice-generate')}" "${made}" < "${image}"`]);
      await rm(image);
      const committed = await textsOf(join(SDK, 'src/gen'));
      for (const other of ['mod.rs', 'rest.rs', 'event_data.rs']) delete committed[other];
      expect(await textsOf(made)).toEqual(committed);
    } finally {
      await rm(made, { recursive: true });
    }
  });
});

describe.skipIf(!hasCargo)('the types of the REST interface and of events in Rust', () => {
  test('are made from its description and their schemas', async () => {
    for (const [path, text] of Object.entries(await makeRestStructs('rust'))) {
      expect(await readFile(join(ROOT, path), 'utf8'), path).toBe(text);
    }
  });
});

describe.skipIf(!hasCargo)("the README's example for back ends in Rust", () => {
  const app = useService();

  test('opens a room, sets a watchdog, and admits a user', { timeout: BUILD_MS_MAX }, async () => {
    const tenant = await app.paidTenant();
    const controlUrl = `http://127.0.0.1:${app.service.grpcPort}`;
    await cargo('test --locked --doc --all-features README', {
      BOXOFFICE_URL: app.url,
      BOXOFFICE_CONTROL_URL: controlUrl,
      BOXOFFICE_API_KEY: tenant.key,
      THUMBPRINT: (await createDevice()).thumbprint,
    });
    const boxoffice = new Boxoffice({ url: app.url, controlUrl, apiKey: tenant.key });
    const events: string[] = (await boxoffice.rooms.listEvents()).events.map(({ type }) => type);
    expect(events).toEqual(expect.arrayContaining(['room_created', 'participant_entered']));
    boxoffice.close();
  });
});

describe.skipIf(!hasCargo)('the example of a back end in Rust', () => {
  const app = useService();

  const program = join(RUST_TARGET, 'debug/examples/rust_backend');

  const environment = async () => ({
    BOXOFFICE_URL: app.url,
    BOXOFFICE_CONTROL_URL: `http://127.0.0.1:${app.service.grpcPort}`,
    BOXOFFICE_API_KEY: (await app.paidTenant()).key,
  });

  beforeAll(async () => {
    await cargo('build --locked --example rust_backend --features relay');
  }, BUILD_MS_MAX);

  test('opens a room, gives tokens, and receives webhooks', async () => {
    await tryBackEnd([program], { cwd: ROOT, env: await environment() });
  });

  test('goes on when it had no file left for a connection', async () => {
    const env = { ...(await environment()), PORT: '0', WEBHOOK_SECRET: 'whsec_AAAA', PATH: process.env.PATH };
    const child = spawn('sh', ['-c', 'ulimit -n 64; exec "$0"', program], { env, stdio: 'pipe' });
    try {
      const [printed] = await once(child.stdout, 'data');
      const url = String(printed).trim();
      const crowd = Array.from({ length: 64 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
      await once(child.stderr, 'data');
      for (const socket of crowd) socket.destroy();
      expect((await fetch(url)).status).toBe(404);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

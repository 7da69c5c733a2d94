/** The SDK for Python: its own tests, its checks, and what is generated for it. Without Python, they are left out. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePython } from '../../scripts/make-python.ts';
import { readRelease } from '../../scripts/release-names.ts';
import { BUILD_MS_MAX, findOldestPython, findPython, runTool } from '../../scripts/toolchains.ts';
import { createDevice } from '../../sdk/typescript/src/device/index.ts';
import { useControl } from '../support/grpc.ts';
import { useService } from '../support/service.ts';
import { tryBackEnd, tryReceiver } from './example-back-end.ts';
import { tryRelay } from './example-relay.ts';
import { firstRoomIn } from './first-room.ts';

const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'sdk/python');
const { version } = readRelease(ROOT);

const python = await findPython();
const oldest = findOldestPython();
const run = (...args: string[]) => runTool(python!, ['-m', ...args], { folder: 'sdk/python' });

describe.skipIf(!python)('the SDK for Python', { timeout: BUILD_MS_MAX }, () => {
  test('is formatted, and passes ruff', async () => {
    await run('ruff', 'format', '--check', '--quiet', '.', '--config', 'pyproject.toml', '../../examples');
    await run('ruff', 'check', '--quiet', '.');
  });

  test('passes mypy', async () => {
    await run('mypy', `--cache-dir=${join(ROOT, 'node_modules/.cache/mypy')}`);
  });

  test('passes its tests', async () => {
    await run('pytest', '--quiet', '-p', 'no:cacheprovider');
  });

  test.skipIf(!oldest)('passes its tests on the oldest Python that it is for', async () => {
    const args = ['-m', 'pytest', '--quiet', '-p', 'no:cacheprovider'];
    await runTool((await findPython(oldest))!, args, { folder: 'sdk/python' });
  });

  test('has types, messages and a client without async that are generated', async () => {
    for (const [path, content] of Object.entries(await makePython())) {
      expect(readFileSync(join(ROOT, path)).equals(Buffer.from(content)), path).toBe(true);
    }
  });
});

describe.skipIf(!python)('the SDK for Python, as its users get it', { timeout: BUILD_MS_MAX }, () => {
  const app = useService();
  const controlOf = useControl(app);
  let folder: string;

  /** A program, with nothing but what pip has installed. */
  const start = (file: string, env: NodeJS.ProcessEnv = {}) =>
    promisify(execFile)(python!, ['-I', '-c', RUN, join(folder, 'installed'), join(folder, file)], { env });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'boxoffice-python-'));
    // It builds in the folder itself.
    await cp(SDK, join(folder, 'source'), { recursive: true });
    await runTool(python!, ['-m', 'hatchling', 'build', '-d', join(folder, 'dist')], {
      folder: relative(ROOT, join(folder, 'source')),
    });
    const [wheel, sdist] = (await readdir(join(folder, 'dist'))).sort();
    expect([wheel, sdist]).toStrictEqual([
      `boxoffice-${version}-py3-none-any.whl`,
      `boxoffice-${version}.tar.gz`,
    ]);
    await run(
      'pip',
      'install',
      '--quiet',
      '--target',
      join(folder, 'installed'),
      join(folder, 'dist', wheel!),
    );
    const readme = await readFile(join(SDK, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```python\n(.*?)```/gs)].map(([, code]) => code!);
    await mkdir(join(folder, 'readme'));
    for (const [at, block] of blocks.entries()) await writeFile(join(folder, `readme/block_${at}.py`), block);
  }, BUILD_MS_MAX);
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  const environment = async () => ({
    BOXOFFICE_URL: app.url,
    BOXOFFICE_CONTROL_URL: `http://127.0.0.1:${app.service.grpcPort}`,
    BOXOFFICE_API_KEY: (await app.paidTenant()).key,
    THUMBPRINT: (await createDevice()).thumbprint,
  });

  test('brings what it needs, and its types', async () => {
    const installed = await readdir(join(folder, 'installed'));
    expect(installed).toEqual(
      expect.arrayContaining(['boxoffice', 'cryptography', 'google', 'grpc', 'httpx']),
    );
    expect(await readdir(join(folder, 'installed/boxoffice'))).toContain('py.typed');
  });

  test('runs the first examples of its README: a call, and a back end that opens a room and admits a user', async () => {
    const env = await environment();
    expect((await start('readme/block_0.py', env)).stdout).toBe('$20.000000\n');
    const { stdout } = await start('readme/block_1.py', env);
    expect(stdout).toMatch(/^a token for ann until 2.*\nlobby: 1\nbalance \$20\.000000\n$/);
  });

  test('runs the other examples of its README', async () => {
    await writeFile(join(folder, 'readme/main.py'), OTHERS);
    const { stdout } = await start('readme/main.py', await environment());
    expect(stdout.split('\n')).toStrictEqual([
      '[hidden]',
      'None',
      'reset',
      'snapshot',
      'snapshot',
      'bookmark',
      'True',
      '401',
      'refused: TOKEN_MALFORMED',
      'None',
      '0 records are sent at the next start',
      '',
    ]);
  });

  test('has examples that pass mypy', async () => {
    const files = (await readdir(join(folder, 'readme'))).filter((each) => each.startsWith('block'));
    const check = (file: string, ...args: string[]) =>
      run('mypy', '--strict', `--cache-dir=${join(ROOT, 'node_modules/.cache/mypy')}`, ...args, file);
    for (const file of files) await check(join(folder, 'readme', file));
    for (const file of ['backend/main.py', 'backend/fastapi_receiver.py', 'relay/main.py'])
      await check(join(ROOT, `examples/python-${file}`));
    // Django has no types.
    const untyped = ['--disable-error-code=import-untyped', '--allow-untyped-decorators'];
    await check(join(ROOT, 'examples/python-backend/django_receiver.py'), ...untyped);
  });

  /** A copy of an example, as it is started with what pip has installed. */
  const copyExample = async (name: string) => {
    await cp(join(ROOT, 'examples', name), join(folder, name), { recursive: true });
    expect(await readFile(join(folder, name, 'requirements.txt'), 'utf8')).toBe(`boxoffice==${version}\n`);
    return [python!, '-I', '-c', RUN, join(folder, 'installed'), join(folder, name, 'main.py')] as const;
  };

  test('runs the example of a back end', async () => {
    await tryBackEnd(await copyExample('python-backend'), { cwd: folder, env: await environment() });
  });

  test.each(['fastapi_receiver', 'django_receiver'])('runs the %s of the back end', async (name) => {
    const folders = [join(folder, 'installed'), join(ROOT, 'examples/python-backend')];
    await tryReceiver([python!, '-I', '-B', '-c', SERVE, ...folders, name], { cwd: folder, env: {} });
  });

  test('runs the example of a relay: it admits, counts and ends sessions', async () => {
    await tryRelay(await copyExample('python-relay'), { app, controlOf, spool: join(folder, 'spool') });
  });

  test('runs what the console shows to tenants without rooms', async () => {
    const { BOXOFFICE_API_KEY: KEY } = await environment();
    const lines = firstRoomIn('Python', { publicUrl: app.url, grpcPort: app.service.grpcPort });
    const listed = '    print([room.name for room in client.rooms.list()])';
    const program = `import os\nfrom boxoffice import Boxoffice\n${lines}\n${listed}\n`;
    await writeFile(join(folder, 'first_room.py'), program);
    expect((await start('first_room.py', { KEY })).stdout).toBe("['lobby']\n");
  });
});

/** Runs the program of the second argument with the packages of the first. */
const RUN = `import runpy, os, sys
sys.path = [path for path in sys.path if "site-packages" not in path]
sys.path[:0] = [sys.argv[1], os.path.dirname(sys.argv[2])]
runpy.run_path(sys.argv[2], run_name="__main__")`;

/** Serves the third argument, a module with a FastAPI or a WSGI application, as uvicorn and gunicorn do. */
const SERVE = `import importlib, socket, sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

import uvicorn

class Silent(WSGIRequestHandler):
    def log_message(self, *_):
        pass

sys.path[:0] = sys.argv[1:3]
served = importlib.import_module(sys.argv[3])
if hasattr(served, "app"):
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(served.app, log_level="error")).run(sockets=[listener])
else:
    server = make_server("127.0.0.1", 0, served.application, handler_class=Silent)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()`;

/** What the blocks define, tried. */
const OTHERS = `import contextlib, io, os, pathlib, tempfile

import block_2, block_3, block_4, block_5, block_6
from boxoffice import Boxoffice
from boxoffice.relay import Attempt

with Boxoffice(
    url=os.environ["BOXOFFICE_URL"],
    control_url=os.environ["BOXOFFICE_CONTROL_URL"],
    api_key=os.environ["BOXOFFICE_API_KEY"],
) as client:
    client.rooms.create(room="lobby")
    request = {"room": "lobby", "username": "ann", "device_thumbprint": os.environ["THUMBPRINT"], "role": "host"}
    print(block_2.mint(client, **request))
    client.rooms.create(room="over")
    client.rooms.end(room="over")
    print(block_2.mint(client, **{**request, "room": "over"}))
    tokens = []

    class Enough(Exception):
        pass

    def handle(event):
        if tokens:
            raise Enough
        print(event.type)

    try:
        block_3.follow(client, "", handle, tokens.append)
    except Enough:
        pass
    print(bool(tokens[0]))
    print(block_4.receive({}, b"{}", "whsec_AAAA", print))
    with block_5.follow(os.environ["BOXOFFICE_URL"], ["t_0123456789abcdef"], lambda tenant: []) as feed:
        verifier = block_5.open_verifier(os.environ["BOXOFFICE_URL"], feed)
        shown = {"challenge": verifier.challenge(), "url": "https://relay.example/connect", "dtls_fingerprint": ""}
        print(block_5.admit(verifier, Attempt(token="x", proof="x", **shown)))
    # The events of the reporter come when they come.
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
        key = pathlib.Path(folder, "key")
        key.write_text(client.keys.create(name="relay", kind="relay").api_key.reveal())
        reporter = block_6.open_reporter(os.environ["BOXOFFICE_URL"], key, pathlib.Path(folder, "spool"))
        block_6.report(reporter)
        block_6.stop(reporter)
    print(printed.getvalue().splitlines()[-1])
`;

/** The SDK for Go: its own tests, its checks, and what is generated for it. Without Go, they are left out. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeGoTypes } from '../../scripts/make-go-types.ts';
import { makeRestStructs } from '../../scripts/make-rest-structs.ts';
import { readRelease } from '../../scripts/release-names.ts';
import { BUILD_MS_MAX, findTool, runTool } from '../../scripts/toolchains.ts';
import { createDevice } from '../../sdk/typescript/src/device/index.ts';
import { signWebhook } from '../../src/outward/webhooks/signature.ts';
import { newSecret } from '../../src/outward/webhooks/webhook-secret.ts';
import { useControl } from '../support/grpc.ts';
import { useService } from '../support/service.ts';
import { tryBackEnd } from './example-back-end.ts';
import { tryRelay } from './example-relay.ts';
import { firstRoomIn } from './first-room.ts';
import { settingsFor, writeProxy } from './go-proxy.ts';

const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'sdk/go');
const STATICCHECK = 'honnef.co/go/tools/cmd/staticcheck@v0.8.2';

const hasGo = findTool('go') !== undefined;

/** Folders are paths of the repository. */
const run = (folder: string, command: string, ...args: string[]) => runTool(command, args, { folder });

/** Texts of all files below a folder, by their paths. */
async function textsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return Object.fromEntries(files.map((file, at) => [file.slice(folder.length), texts[at]!]));
}

describe.skipIf(!hasGo)('the SDK for Go', { timeout: BUILD_MS_MAX }, () => {
  test('is formatted', async () => {
    expect(await run('sdk/go', 'gofmt', '-l', '.')).toBe('');
  });

  test('passes go vet', async () => {
    await run('sdk/go', 'go', 'vet', './...');
  });

  test('passes staticcheck', async () => {
    await run('sdk/go', 'go', 'run', STATICCHECK, './...');
  });

  test('needs no other modules than it says', async () => {
    await run('sdk/go', 'go', 'mod', 'tidy', '-diff');
  });

  test('passes its tests, with the race detector', async () => {
    // Built before, behind the others.
    await run('sdk/go', 'go', 'test', '-race', '-run', '^$', './...');
    const args = ['test', '-race', '-timeout', '20m', './...'];
    await runTool('go', args, { folder: 'sdk/go', hasTimeLimits: true });
  });

  test('has types and conversions that are made from the contract', () => {
    for (const [path, text] of Object.entries(makeGoTypes())) {
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text);
    }
  });

  test('has types that are made from the description of the REST interface and the schemas of events', async () => {
    for (const [path, text] of Object.entries(await makeRestStructs('go'))) {
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text);
    }
  });

  test('has messages and clients that are generated from the contract', async () => {
    const made = await mkdtemp(join(ROOT, 'node_modules/.cache/go-gen-'));
    try {
      // The template's paths are relative to the folder of the contract.
      await cp(join(ROOT, 'proto'), join(made, 'proto'), {
        recursive: true,
        filter: (path) => !path.endsWith('/gen'),
      });
      await mkdir(join(made, 'sdk/go'), { recursive: true });
      for (const file of ['go.mod', 'go.sum']) await cp(join(SDK, file), join(made, 'sdk/go', file));
      await run(relative(ROOT, join(made, 'proto')), 'buf', 'generate', '--template', 'buf.gen.go.yaml');
      expect(await textsOf(join(made, 'sdk/go/internal/gen'))).toEqual(
        await textsOf(join(SDK, 'internal/gen')),
      );
    } finally {
      await rm(made, { recursive: true });
    }
  });
});

/** As a release would have it. */
const MODULE = 'boxoffice.example/boxoffice/sdk/go';
const VERSION = `v${readRelease(ROOT).version}`;

describe.skipIf(!hasGo)('the SDK for Go, as its users get it', { timeout: BUILD_MS_MAX }, () => {
  const app = useService();
  const controlOf = useControl(app);
  let folder: string;
  /** A module of a user. */
  let project: string;

  let settings: NodeJS.ProcessEnv;
  const go = (...args: string[]) => runTool('go', args, { folder: relative(ROOT, project), env: settings });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'boxoffice-go-'));
    project = join(folder, 'project');
    await mkdir(project);
    const proxy = await writeProxy(join(folder, 'proxy'), { source: SDK, module: MODULE, version: VERSION });
    settings = await settingsFor(proxy, join(folder, 'modules'));
    const readme = await readFile(join(SDK, 'README.md'), 'utf8');
    const [firstCall, backEnd, ...others] = [...readme.matchAll(/```go\n(.*?)```/gs)].map(
      ([, code]) => code!,
    );
    // In one package, which tests them.
    await mkdir(join(project, 'others'));
    for (const [at, block] of others.entries())
      await writeFile(join(project, `others/block_${at}.go`), block.replace(/^package .*/, 'package others'));
    await writeFile(join(project, 'others/others_test.go'), OTHERS);
    await mkdir(join(project, 'first-call'));
    await writeFile(join(project, 'first-call/main.go'), firstCall!);
    await writeFile(join(project, 'main.go'), backEnd!);
    await go('mod', 'init', 'backend.example/backend');
    await go('get', `${MODULE}@${VERSION}`);
    await go('mod', 'tidy');
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

  test('brings two modules that it needs, and what they test themselves with', async () => {
    const sums = await readFile(join(project, 'go.sum'), 'utf8');
    const modules = new Set(
      sums
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    );
    expect([...modules].sort()).toStrictEqual([
      MODULE,
      'connectrpc.com/connect',
      'github.com/google/go-cmp',
      'google.golang.org/protobuf',
    ]);
  });

  test('runs the first examples of its README: a call, and a back end that opens a room and admits a user', async () => {
    await go('build', '-o', 'call', './first-call');
    await go('build', '-o', 'example', '.');
    const env = await environment();
    const called = await promisify(execFile)(join(project, 'call'), { env });
    expect(called.stdout).toBe('$20.000000\n');
    const { stderr } = await promisify(execFile)(join(project, 'example'), { env });
    expect(stderr).toMatch(/a token for ann until 2.* lobby: 1\n.* balance \$20\.000000\n$/s);
  });

  test('runs the other examples of its README', async () => {
    const { secret, keys } = newSecret();
    const body =
      '{"id":"evt_1","seq":0,"type":"webhook_test","timestamp":"2026-11-22T18:00:00.000Z","data":{}}';
    const request = { headers: signWebhook({ id: 'evt_1', at: new Date(), body }, [keys]), body, secret };
    const env = { ...settings, ...(await environment()), WEBHOOK: JSON.stringify(request) };
    await runTool('go', ['test', './others'], { folder: relative(ROOT, project), env });
  });

  test('runs the example of a back end', async () => {
    const example = join(folder, 'example');
    await cp(join(ROOT, 'examples/go-backend'), example, { recursive: true });
    const inExample = (...args: string[]) =>
      runTool('go', args, { folder: relative(ROOT, example), env: settings });
    await inExample('mod', 'tidy');
    expect(await readFile(join(example, 'go.mod'), 'utf8')).toContain(`require ${MODULE} ${VERSION}\n`);
    await inExample('vet', '.');
    await inExample('build', '-o', 'backend', '.');
    await tryBackEnd([join(example, 'backend')], { cwd: example, env: await environment() });
  });

  test('runs the example of a relay: it admits, counts and ends sessions', async () => {
    const example = join(folder, 'relay');
    await cp(join(ROOT, 'examples/go-relay'), example, { recursive: true });
    const inExample = (...args: string[]) =>
      runTool('go', args, { folder: relative(ROOT, example), env: settings });
    await inExample('mod', 'tidy');
    await inExample('vet', '.');
    await inExample('build', '-o', 'relay', '.');
    await tryRelay([join(example, 'relay')], { app, controlOf, spool: join(example, 'spool') });
  });

  test('compiles what the console shows to tenants without rooms', async () => {
    const code = firstRoomIn('Go', { publicUrl: 'https://boxoffice.example', grpcPort: 443 });
    await mkdir(join(project, 'first'));
    await writeFile(join(project, 'first/first.go'), firstRoom(code));
    await go('vet', './first');
  });
});

/** A program with the lines of the console. */
const firstRoom = (lines: string) => `package first

import (
	"context"
	"os"

	boxoffice "${MODULE}"
)

func Open(ctx context.Context) error {
${lines}
return err
}
`;

/** What the other blocks of the README define, tried. */
const OTHERS = `package others

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	boxoffice "${MODULE}"
)

func TestOthers(t *testing.T) {
	client, err := boxoffice.New(boxoffice.Options{
		URL:        os.Getenv("BOXOFFICE_URL"),
		ControlURL: os.Getenv("BOXOFFICE_CONTROL_URL"),
		APIKey:     boxoffice.NewSecret(os.Getenv("BOXOFFICE_API_KEY")),
	})
	must(t, err)
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	for _, room := range []string{"lobby", "over"} {
		_, err = client.Rooms.Create(ctx, boxoffice.CreateRoom{Room: room})
		must(t, err)
	}
	_, err = client.Rooms.End(ctx, boxoffice.EndRoom{Room: "over"})
	must(t, err)
	for room, isMinted := range map[string]bool{"lobby": true, "over": false} {
		request := boxoffice.MintClientToken{Room: room, Username: "ann", DeviceThumbprint: os.Getenv("THUMBPRINT")}
		token, err := mint(ctx, client, request)
		must(t, err)
		if (token.Reveal() != "") != isMinted {
			t.Errorf("a token for %s: %v", room, token.Reveal() != "")
		}
	}
	room, err := closeDoor(ctx, client)
	must(t, err)
	if !room.Policy.Locked {
		t.Error("the door is open")
	}
	events := 0
	token, err := follow(ctx, client, "", func(event *boxoffice.WatchedEvent) {
		events++
		if event.ResumeToken != "" {
			cancel()
		}
	})
	if events < 3 || token == "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%d events, then %q and %v", events, token, err)
	}
}

func TestReceive(t *testing.T) {
	var sent struct {
		Headers      map[string]string
		Body, Secret string
	}
	must(t, json.Unmarshal([]byte(os.Getenv("WEBHOOK")), &sent))
	var kept []string
	handler := receive(sent.Secret, func(event *boxoffice.WebhookEvent) error {
		kept = append(kept, event.ID)
		return nil
	})
	post := func(body string) int {
		request := httptest.NewRequest("POST", "/hook", strings.NewReader(body))
		for name, value := range sent.Headers {
			request.Header.Set(name, value)
		}
		answer := httptest.NewRecorder()
		handler(answer, request)
		return answer.Code
	}
	if genuine, other := post(sent.Body), post("{}"); genuine != 204 || other != 401 || len(kept) != 1 {
		t.Error(genuine, other, kept)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
`;

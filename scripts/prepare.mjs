// Compiles the sources as part of `npm ci`, so that `npm start` runs plain JavaScript and a worker finds its bundled workflows. `npx anima` in the
// checkout runs this each time; it does nothing when `dist` is up to date. A build replaces the previous one only when it is complete, so an
// interrupted build changes nothing.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');
/** The inputs of a build. */
const inputs = ['src', 'workflows', 'activities', 'projections', 'bench', 'scripts', 'levels', 'examples']
  .concat(['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'])
  .map((name) => join(root, name));
const dist = join(root, 'dist');
const partialName = /^dist\.partial-(\d+)(-before)?$/;
const partial = join(root, `dist.partial-${process.pid}`);
const before = `${partial}-before`;
/** Holds the digest of the inputs. */
const stamp = (folder) => join(folder, '.made-from');

const filesOf = (path) => {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)));
};

const digestOfInputs = () => {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(filesOf)) {
    const content = readFileSync(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
};

const isCurrent = (digest) => existsSync(stamp(dist)) && readFileSync(stamp(dist), 'utf8') === digest;

const remove = (folder) => rmSync(folder, { recursive: true, force: true });

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** Removes the leftovers of killed builds. */
const removeLeftovers = () => {
  for (const name of readdirSync(root)) {
    const [, pid] = partialName.exec(name) ?? [];
    // Process ids are reused: a folder with this process's id belongs to an earlier process.
    if (pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)))) remove(join(root, name));
  }
};

let running = null;
const giveUp = (code) => {
  running?.kill();
  remove(partial);
  process.exit(code);
};
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
]) {
  process.on(signal, () => giveUp(128 + number));
}

const run = (cwd, ...words) =>
  new Promise((resolve) => {
    running = spawn(process.execPath, words, { cwd, stdio: 'inherit' });
    running.once('error', (error) => {
      console.error(`anima: cannot start ${words[0]}: ${error.message}`);
      giveUp(1);
    });
    running.once('exit', (status) => {
      running = null;
      if (status === 0) resolve();
      else giveUp(status ?? 1);
    });
  });

/** Makes the commands of the package executable. npm does this only when it links them, and links to an earlier build remain. */
const allowRunning = () => {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const file of Object.values(bin)) chmodSync(join(partial, relative('dist', file)), 0o755);
};

/** Replaces the previous build. If a concurrent build of the same files was faster, its result is kept. */
const settle = (digest) => {
  if (existsSync(dist)) renameSync(dist, before);
  try {
    renameSync(partial, dist);
  } catch (error) {
    if (!isCurrent(digest)) throw error;
  }
  remove(partial);
  remove(before);
};

if (!existsSync(compiler)) {
  const cause = process.env.NODE_ENV === 'production' ? 'NODE_ENV=production' : '--omit=dev';
  console.error(
    `anima: the installation compiles the sources and needs the development packages, which ${cause} leaves out. Run "npm ci --include=dev".`,
  );
  process.exit(1);
}

removeLeftovers();
const digest = digestOfInputs();
if (!isCurrent(digest)) {
  await run(root, compiler, '-p', 'tsconfig.build.json', '--outDir', partial);
  // The bundler names modules relative to its working directory, and the temporary folder's name must not be in the bundle.
  await run(partial, 'scripts/bundle-workflows.js');
  await run(partial, 'scripts/copy-files.js');
  allowRunning();
  writeFileSync(stamp(partial), digest);
  settle(digest);
}

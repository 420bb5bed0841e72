import { openDataDirectory } from '../../src/adapters/embedded/data-directory.js';

/** Opens the data directory named by the first argument, prints `open` or the message of the refusal, and stays until it is killed. */
try {
  const directory = await openDataDirectory(process.argv[2] ?? '');
  process.stdout.write(`open ${directory.path}\n`);
  setInterval(() => directory.path, 60_000);
} catch (error) {
  process.stdout.write(`refused ${String(error)}\n`);
  process.exitCode = 1;
}

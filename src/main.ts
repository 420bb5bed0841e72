import { readEnvironment } from './config/env.js';
import { StartProblem } from './domain/shared/start-problem.js';
import { serve } from './server/serve.js';

// The reader of the log may go away; the server does not.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** How long what did not end with the server may hold the process, in milliseconds. */
const LEFTOVERS_MS = 1_000;

try {
  await serve({ env: readEnvironment(), cwd: process.cwd(), stdout: process.stdout });
} catch (failure) {
  if (!(failure instanceof StartProblem)) throw failure;
  console.error(failure.message);
  process.exitCode = 1;
}
// All that was opened is closed by now. A thread that a library left behind holds nobody up (contract 11.3).
setTimeout(() => process.exit(), LEFTOVERS_MS).unref();

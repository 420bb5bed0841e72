import { readEnvironment } from './config/env.js';
import { StartProblem } from './kernel/base/start-problem.js';
import { serve } from './server/serve.js';

// The server keeps running if the reader of the log goes away.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

try {
  await serve({ env: readEnvironment(), cwd: process.cwd(), stdout: process.stdout });
} catch (failure) {
  if (!(failure instanceof StartProblem)) throw failure;
  console.error(failure.message);
  process.exitCode = 1;
}

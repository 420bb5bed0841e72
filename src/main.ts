import { readEnvironment } from './config/env.js';
import { StartProblem } from './domain/shared/start-problem.js';
import { serve } from './serve.js';

try {
  await serve({ env: readEnvironment(), cwd: process.cwd(), stdout: process.stdout });
} catch (failure) {
  if (!(failure instanceof StartProblem)) throw failure;
  console.error(failure.message);
  process.exitCode = 1;
}

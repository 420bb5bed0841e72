import { afterAll } from 'vitest';

import { endChildren } from './child.js';

// A test that was cut off by its time limit never disposes of its children; files share a process, so they would run on.
afterAll(async () => {
  const left = await endChildren();
  if (left.length > 0) throw new Error(`child processes were still running, and were ended: ${left.join(', ')}`);
});

import { afterAll } from 'vitest';

import { endChildren } from './child.js';

// A test that times out never disposes of its children; files share a process, so they would keep running.
afterAll(async () => {
  const left = await endChildren();
  if (left.length > 0) throw new Error(`child processes were still running, and were ended: ${left.join(', ')}`);
});

import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { likeOf } from './like.js';
import { Log } from './log.js';
import { serve } from './server.js';
import { troubleOf } from './trouble.js';

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    data: { type: 'string' },
    like: { type: 'string' },
    foreign: { type: 'string' },
  },
});
if (values.data === undefined) {
  throw new Error(
    'usage: main.ts --port <number, 0 for a free one> --data <directory> [--like <server>] [--foreign <events of others>]',
  );
}
const like = likeOf(values.like ?? 'eventstoredb-23.10');
mkdirSync(values.data, { recursive: true });
const log = Log.open(values.data, Number(values.foreign ?? '0'));
const { server, port } = await serve(log, like, Number(values.port ?? '0'), troubleOf(values.data));

process.once('SIGTERM', () => {
  server.forceShutdown();
  log[Symbol.dispose]();
  process.exit(0);
});
process.stdout.write(`listening on 127.0.0.1:${port}\n`);

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { cacheDirectory } from '../../scripts/servers/cache.js';
import { keep, run } from '../../scripts/servers/tools.js';
import type { CloudEvent } from '../../src/ports/event-publisher.js';

/** A Kafka client in plain Python, which needs no compiler and no other package. */
const LIBRARY = 'kafka-python==3.0.12';
const SCRIPT = fileURLToPath(new URL('../adapters/kafka/plain_consumer.py', import.meta.url));
const INSTALL_LIMIT_MS = 3 * 60_000;
const READ_LIMIT_MS = 90_000;
const whenMissing =
  'a plain consumer of the public topic is a Python program, and there is no "python3" on the PATH: install Python 3 with pip.';

/** A message as another program sees it. */
export type SeenMessage = {
  readonly partition: number;
  /** The partition that this program's own default partitioner would choose for the key. */
  readonly partitionOfKey: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly event: CloudEvent;
};

/** Installs the library once, beside the downloads of the servers. */
const installed = async (): Promise<string> => {
  const place = join(cacheDirectory(), LIBRARY.replace('==', '-'));
  await keep(place, async (draft) => {
    const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '--target', draft, LIBRARY];
    await run('python3', args, { limitMs: INSTALL_LIMIT_MS, whenMissing });
  });
  return place;
};

/**
 * Reads a topic with a consumer in another language, from the beginning until this many different events have arrived.
 * @throws Error when they do not arrive, or when that consumer cannot be installed or run
 */
export const readPlainly = async (
  brokers: string,
  topic: string,
  events: number,
  isolation: 'read_committed' | 'read_uncommitted' = 'read_committed',
): Promise<readonly SeenMessage[]> => {
  const output = await run('python3', [SCRIPT, brokers, topic, isolation, String(events)], {
    limitMs: READ_LIMIT_MS,
    env: { ...process.env, PYTHONPATH: await installed() },
    whenMissing,
  });
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SeenMessage);
};

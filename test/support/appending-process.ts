import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { event } from './events.js';

/**
 * Appends endlessly to the events file named by the first argument, in as many concurrent streams as the second one. Writes a line `<stream>
 * <revision>` for every acknowledged append. Made to be killed.
 */
const [file = '', streams = '1'] = process.argv.slice(2);
const store = EmbeddedEventStore.open(file);

const appendForEver = async (stream: string): Promise<void> => {
  for (let revision = 0; ; revision += 1) {
    const outcome = await store.append(stream, revision === 0 ? 'no_stream' : revision - 1, [
      event(`${stream}-${revision}`, { process: { name: 'turn', id: stream, open: revision % 2 === 0, due: null } }),
    ]);
    if (!outcome.ok) throw new Error(`${stream} is at ${outcome.actual} instead of ${revision - 1}`);
    process.stdout.write(`${stream} ${outcome.revision}\n`);
  }
};

await Promise.all(Array.from({ length: Number(streams) }, (_, index) => appendForEver(`s${index}`)));

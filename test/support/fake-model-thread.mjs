// A thread that obeys its texts, instead of one with a model. `workerData`: its output instead of loading, and shared numbers, [0] how many threads
// were started, [1] whether "wait" may answer.
import { parentPort, workerData } from 'node:worker_threads';

const { failed, shared } = workerData;
const started = Atomics.add(shared, 0, 1) + 1;

if (failed !== undefined) {
  parentPort.postMessage({ failed });
} else {
  parentPort.on('message', (text) => {
    if (text === 'die' || (text === 'die once' && started === 1)) process.exit(3);
    if (text === 'throw') throw new Error('it broke');
    if (text === 'hang') return;
    if (text === 'wait') Atomics.wait(shared, 1, 0);
    parentPort.postMessage(
      text === 'fail' ? { error: 'no vector' } : { vector: Float32Array.of(text.length, started) },
    );
  });
}

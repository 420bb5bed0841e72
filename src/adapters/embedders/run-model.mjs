// The thread of a model: it receives one text at a time and answers with its vector. model-thread.ts starts it. It is plain JavaScript, so that it
// also runs directly from the sources, where a thread cannot load TypeScript.
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

const require = createRequire(import.meta.url);

const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Each loads a model, and returns a function that makes a vector from one text. */
const models = {
  builtin: async () => {
    const { createSentenceEncoder } = await import('./multilingual/sentence-encoder.mjs');
    return createSentenceEncoder(new URL('./multilingual/', import.meta.url));
  },
  onnx: async ({ folder, file, pooling, library }) => {
    // The file that require() finds is CommonJS, and import() sees none of its names.
    const { env, pipeline } = require(library);
    // A missing file is an error, never a download.
    env.allowRemoteModels = false;
    const [, subfolder, name, quantized] = /^(?:(.+)\/)?(.+?)(_quantized)?\.onnx$/.exec(file);
    const extract = await pipeline('feature-extraction', folder, {
      dtype: quantized === undefined ? 'fp32' : 'q8',
      model_file_name: name,
      subfolder: subfolder ?? '',
      local_files_only: true,
    });
    return async (text) => (await extract(text, { pooling, normalize: true })).data;
  },
};

const load = async () => {
  try {
    return await models[workerData.kind](workerData);
  } catch (error) {
    parentPort.postMessage({ failed: messageOf(error) });
    return null;
  }
};

const embed = await load();
if (embed !== null) {
  parentPort.on('message', async (text) => {
    try {
      parentPort.postMessage({ vector: Float32Array.from(await embed(text)) });
    } catch (error) {
      parentPort.postMessage({ error: messageOf(error) });
    }
  });
}

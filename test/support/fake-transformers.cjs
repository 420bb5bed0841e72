// Has the parts of @huggingface/transformers that the product uses. The text "tell" makes it fail with its arguments. Like the real one it is
// CommonJS whose names import() does not see, and its native part cannot be loaded by one thread after another unless the process has it already.
const { workerData } = require('node:worker_threads');

if (workerData?.kind !== 'onnx') process.env.FAKE_TRANSFORMERS_LOADED = 'yes';
else if (process.env.FAKE_TRANSFORMERS_LOADED === undefined) throw new Error('Module did not self-register.');

const env = { allowRemoteModels: true };

const pipeline = async (task, folder, options) => async (text, how) => {
  if (text === 'tell') throw new Error(JSON.stringify({ task, folder, options, how, env }));
  const data = Float32Array.from({ length: 8 }, (_, at) => text.codePointAt(at % text.length) ?? 0);
  return { data };
};

const names = { env, pipeline };
module.exports = names;

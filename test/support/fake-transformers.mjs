// Has the parts of @huggingface/transformers that the product uses. The text "tell" makes it fail with what it was called with.
export const env = { allowRemoteModels: true };

export const pipeline = async (task, folder, options) => async (text, how) => {
  if (text === 'tell') throw new Error(JSON.stringify({ task, folder, options, how, env }));
  const data = Float32Array.from({ length: 8 }, (_, at) => text.codePointAt(at % text.length) ?? 0);
  return { data };
};

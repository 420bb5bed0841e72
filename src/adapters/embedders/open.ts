import type { Embedder } from '../../ports/embedder.js';
import type { EmbedderChoice } from '../../ports/embedder-choice.js';
import { ApiEmbedder } from './api-embedder.js';
import { openBuiltin } from './builtin.js';
import type { EmbedderDeps } from './deps.js';
import { openOnnx } from './onnx.js';

/** The embedder of the settings. It loads and asks nothing before its first call. @throws StartProblem when it can never work */
export const openEmbedder = async (choice: EmbedderChoice, deps: EmbedderDeps): Promise<Embedder> => {
  switch (choice.kind) {
    case 'builtin':
      return openBuiltin(choice.threads ?? 1, deps);
    case 'onnx':
      return openOnnx(choice, deps);
    case 'api':
      return new ApiEmbedder(choice, deps);
  }
};

import { openLlamaEngine } from '../adapters/cortex/llama.js';
import { createOpenAiEngine, type OpenAiEngineDeps } from '../adapters/cortex/openai.js';
import { createScriptedEngine } from '../adapters/cortex/scripted/engine.js';
import type { CortexConfig } from '../config/cortex.js';
import type { CortexEngine } from '../ports/cortex.js';
import { defined } from '../kernel/base/defined.js';
import type { DependencyState } from '../kernel/http/status.js';

/** The engines of a server, by its settings. `standard` is the default of tenants that have chosen none; it may be the scripted engine. */
export type OpenedCortex = AsyncDisposable & { readonly all: readonly CortexEngine[]; readonly standard: CortexEngine };

/**
 * Opens the engine that is configured, and the scripted one, which every server has.
 * @throws StartProblem when a package that the engine needs is not installed
 */
export const openCortex = async (config: CortexConfig, deps: OpenAiEngineDeps): Promise<OpenedCortex> => {
  const scripted = createScriptedEngine();
  const standard = await openConfigured(config, deps, scripted);
  const all = standard === scripted ? [scripted] : [scripted, standard];
  return { all, standard, [Symbol.asyncDispose]: () => standard[Symbol.asyncDispose]() };
};

const openConfigured = async (
  config: CortexConfig,
  deps: OpenAiEngineDeps,
  scripted: CortexEngine,
): Promise<CortexEngine> => {
  switch (config.kind) {
    case 'scripted':
      return scripted;
    case 'openai':
      return createOpenAiEngine(config, deps);
    case 'llama':
      return openLlamaEngine(config, deps);
  }
};

/** The state of the configured engine, for `GET /readyz`. A body's turn does not need it, so a server is ready without it. */
export const cortexDependency = ({ standard }: OpenedCortex): Readonly<Record<string, DependencyState>> => {
  if (standard.runtime === 'builtin') return {};
  const state = standard.state();
  if (state !== 'ready') return { cortex: { ok: false, detail: state, needed: false } };
  return { cortex: { ok: true, ...defined({ detail: standard.problem?.() ?? undefined }), needed: false } };
};

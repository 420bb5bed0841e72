import type { RecalledMemory } from '../../src/features/npcs/domain/events.js';
import { INPUT_BYTES } from '../../src/kernel/base/input-bytes.js';
import { firstFitting, type JsonObject } from '../../src/kernel/base/json.js';
import { parseNpcStream } from '../../src/kernel/base/stream-names.js';
import { cutBytes } from '../../src/kernel/base/text.js';
import type { CortexEngine } from '../../src/ports/cortex.js';
import type { ProcessInput } from '../../src/ports/process-runtime.js';
import type { Effect } from '../../src/kernel/processes/state-machine.js';
import { mindFold } from '../../src/features/npcs/mind-fold.js';
import type { Recall, Recalled } from '../../src/features/memory/recall.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import { prepareTurn, type TurnEffectsDeps } from './turn.js';

/** How long one attempt at a model's words may take, in milliseconds. */
export const INFER_MS = 60_000;
/** How much of what an engine says is recorded, in bytes of UTF-8. */
const OUTPUT_BYTES = 65_536;
/** How much recalled memories may take in the event that records them, in bytes of JSON; a query of ours asks for a handful. */
const MEMORIES_BYTES = INPUT_BYTES / 2;

export type AgentTurnEffectsDeps = TurnEffectsDeps & {
  readonly recall: Recall;
  /** The engine of a tenant. @throws Rejection CORTEX_UNAVAILABLE when this server does not have it */
  readonly engineOf: (tenant: string) => CortexEngine;
};

/** What an agent's turn needs: what a body's turn needs, and somebody to recall and to speak. */
export const agentTurnEffects = (deps: AgentTurnEffectsDeps): ProcessEffects => ({
  fold: mindFold,
  prepare: prepareTurn(deps, (tenant, rulesetId) => deps.rulesets.chooseForAgent(tenant, rulesetId)),
  effectMs: INFER_MS,
  effect: async ({ stream, id }, effect, signal) => {
    const mind = parseNpcStream(stream);
    if (mind === null) throw new Error(`the turn ${id} is not in a mind's stream`);
    return effect.name === 'recall'
      ? recallFor(deps, mind, effect, signal)
      : inferFor(deps, mind.tenant, effect, signal);
  },
});

const recallFor = async (
  { recall }: AgentTurnEffectsDeps,
  mind: { readonly tenant: string; readonly npcId: string },
  { args }: Effect,
  signal: AbortSignal,
): Promise<ProcessInput> => {
  const { query, limit, threshold } = args as { query: string; limit: number; threshold: number };
  const { memories } = await recall({ ...mind, query, limit, minScore: threshold, tellingOnly: true }, signal);
  return { type: 'memories', memories: firstFitting(memories.map(recorded), MEMORIES_BYTES) };
};

/** A memory as the event records it: what was recalled, how sure, and where it came from. */
const recorded = ({ row, score, scoreParts }: Recalled['memories'][number]): RecalledMemory => {
  const { text, type, importance, memoryId, revision } = row;
  return { text, type, importance, similarity: score, memoryId, revision, scoreParts };
};

const inferFor = async (
  { engineOf }: AgentTurnEffectsDeps,
  tenant: string,
  { args }: Effect,
  signal: AbortSignal,
): Promise<ProcessInput> => {
  const { prompt, constraints, similarities } = args as {
    prompt: string;
    constraints: JsonObject;
    similarities: readonly number[];
  };
  const engine = engineOf(tenant);
  const { text } = await engine.complete({ prompt, ...constraints, similarities }, signal);
  return { type: 'output', generatedOutput: cutBytes(text, OUTPUT_BYTES), cortexId: engine.id };
};

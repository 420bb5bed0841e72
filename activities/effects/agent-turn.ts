import { REASONING_BYTES } from '../../src/features/npcs/domain/recorded-bytes.js';
import { defined } from '../../src/kernel/base/defined.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import { parseNpcStream } from '../../src/kernel/base/stream-names.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import { cutBytes, cutJsonText, cutText } from '../../src/kernel/base/text.js';
import type { Completion, CompletionPart, CortexEngine } from '../../src/ports/cortex.js';
import { PromptTooLong } from '../../src/ports/prompt-too-long.js';
import type { ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import type { Effect } from '../../src/kernel/processes/state-machine.js';
import { mindFold } from '../../src/features/npcs/mind-fold.js';
import { answerTokensOf, promptBudgetOf } from '../../src/features/agents/prompt-budget.js';
import type { LiveTexts } from '../../src/features/agents/live-texts.js';
import { ENGINE_CALL_MS, ENGINE_WAIT_MS, type EngineWaits } from '../../src/features/engines/engine-waits.js';
import type { Recall } from '../../src/features/memory/recall.js';
import { recallForTurn, type TurnRecall } from '../../src/features/memory/recall-for-turn.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import type { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import type { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { partsForEngine, promptAgain } from '../../src/features/turns/prompt-again.js';
import { agentTurn } from '../../workflows/agent-turn.js';
import type { TurnState } from '../../workflows/turn/turn-state.js';
import { prepareTurn, type TurnEffectsDeps } from './turn.js';

/** How long one attempt at a recall may take, in milliseconds. */
const RECALL_MS = 60_000;
/** The same for the model's answer: a call, waiting for the engine if it is down, and another call. */
const INFER_MS = ENGINE_WAIT_MS + 2 * ENGINE_CALL_MS;
/** How much of an engine's answer is recorded, in bytes of UTF-8. */
const OUTPUT_BYTES = 65_536;
/** How much of the reason of a missing answer is recorded, in UTF-16 units. */
const REASON_CHARS = 500;

export type AgentTurnEffectsDeps = TurnEffectsDeps & {
  readonly repository: ProcessRepository;
  readonly writers: StreamWriters;
  readonly recall: Recall;
  /** The engine of a tenant. @throws Rejection CORTEX_UNAVAILABLE if this server does not have it */
  readonly engineOf: (tenant: string) => CortexEngine;
  /** Where engines report what they write; null if nobody in this process listens. */
  readonly liveTexts: Pick<LiveTexts, 'writerFor'> | null;
  readonly engineWaits: EngineWaits;
};

/** What an agent's turn needs: everything that a body's turn needs, plus a recall and an engine. */
export const agentTurnEffects = (deps: AgentTurnEffectsDeps): ProcessEffects => ({
  fold: mindFold,
  prepare: prepareTurn(deps, (tenant, choice) => deps.rulesets.chooseForAgent(tenant, choice)),
  effectMs: ({ name }) => (name === 'recall' ? RECALL_MS : INFER_MS),
  effect: async (ref, effect, signal) => {
    const { stream, id } = ref;
    const mind = parseNpcStream(stream);
    if (mind === null) throw new Error(`the turn ${id} is not in a mind's stream`);
    if (effect.name === 'recall') return recallFor(deps, mind, effect, signal);
    const reporting = defined({ onText: deps.liveTexts?.writerFor(stream, id) });
    return inferFor(deps, { ...mind, ref }, effect, { signal, ...reporting });
  },
});

const recallFor = async (
  { recall }: AgentTurnEffectsDeps,
  mind: { readonly tenant: string; readonly npcId: string },
  { args }: Effect,
  signal: AbortSignal,
): Promise<ProcessInput> => {
  const asked = args as Omit<TurnRecall, 'tenant' | 'npcId'>;
  return { type: 'memories', ...(await recallForTurn(recall, { ...mind, ...asked }, signal)) };
};

/** That the engine is up and gave no text is a result of the turn. Anything else is retried. */
const noAnswerOf = (error: unknown): Rejection => {
  if (error instanceof Rejection && error.code === 'CORTEX_NO_ANSWER') return error;
  throw error;
};

type AskedTurn = { readonly tenant: string; readonly npcId: string; readonly ref: ProcessRef };

/** The parts of a turn's prompt; undefined if the record does not make the same prompt again. */
const partsOf = async (
  deps: AgentTurnEffectsDeps,
  { tenant, npcId, ref }: AskedTurn,
  prompt: string,
): Promise<readonly CompletionPart[] | undefined> => {
  const state = (await deps.repository.load(agentTurn, ref)).state as TurnState;
  const asking = state.name === 'new' ? undefined : state.rounds.at(-1);
  if (state.name === 'new' || asking === undefined) return undefined;
  const ruleset = await deps.rulesets.version(tenant, state.ruleset);
  const made = { asked: state, mindRevision: asking.revision - 1, logic: state.logic };
  const again = await promptAgain(deps, { tenant, npcId, ruleset }, made);
  return again.prompt === prompt ? partsForEngine(again.parts, state.memories ?? []) : undefined;
};

const inferFor = async (
  deps: AgentTurnEffectsDeps,
  turn: AskedTurn,
  { args }: Effect,
  { signal, ...reporting }: { readonly signal: AbortSignal } & Pick<Completion, 'onText'>,
): Promise<ProcessInput> => {
  const {
    prompt,
    constraints,
    attempt,
    messages,
    shortened = false,
    budget,
  } = args as {
    prompt: string;
    constraints: JsonObject;
    messages?: Completion['messages'];
    attempt: number;
    shortened?: boolean;
    /** Of a prompt that was shortened because the engine refused it. */
    budget?: number;
  };
  const engine = deps.engineOf(turn.tenant);
  const parts = engine.takesParts === true ? await partsOf(deps, turn, prompt) : undefined;
  const maxTokens = answerTokensOf(engine, budget);
  const settings = { ...constraints, ...engine.inTurns, maxTokens, ...defined({ messages, parts }) };
  const asked = { prompt, ...settings, once: true, ...reporting };
  const completed = await deps.engineWaits.complete(engine, asked, signal).catch(noAnswerOf);
  if (completed instanceof Rejection) {
    const { reason } = completed.details;
    const why = typeof reason === 'string' ? reason : completed.message;
    const missing = { cortexId: engine.id, reason: cutText(why, REASON_CHARS), attempt };
    if (!(completed instanceof PromptTooLong)) return { type: 'missing', ...missing };
    const { contextTokens } = completed;
    const next = promptBudgetOf({ knownContext: () => contextTokens, ...defined({ inTurns: engine.inTurns }) });
    return { type: 'tooLong', ...missing, shortened, ...defined({ budget: next ?? undefined }) };
  }
  const { text, reasoning } = completed;
  return {
    type: 'output',
    generatedOutput: cutBytes(text, OUTPUT_BYTES),
    cortexId: engine.id,
    ...(reasoning === undefined ? {} : { reasoning: cutJsonText(reasoning.toWellFormed(), REASONING_BYTES) }),
  };
};

import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';

import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { type ChatMessage, messagesOf } from '../../ports/messages-of.js';
import { defined } from '../../kernel/base/defined.js';
import { isObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { Completed, Completion, CortexEngine } from '../../ports/cortex.js';
import type { Log } from '../../ports/log.js';
import { PromptTooLong } from '../../ports/prompt-too-long.js';
import {
  type Llama,
  type LlamaHistory,
  type LlamaModel,
  type LlamaPackage,
  type LlamaSequence,
  loadLlamaPackage,
} from './llama-package.js';
import { createAnswerListeners } from './answer-listeners.js';
import { saidIn } from './said.js';
import { noAnswer } from './no-answer.js';
import { parametersIn } from './parameters-in.js';
import { unavailable } from './unavailable.js';
import { untilStop } from './until-stop.js';

/** The timeout of a call, including its wait for others, in milliseconds. */
const CALL_MS = 120_000;
/** How many calls may wait for the one that runs. */
export const MAX_WAITING = 8;
/** Tokens of prompt and answer; a prompt of this server has about 2,000, seldom 10,000. */
const CONTEXT_TOKENS = 16_384;
/** The tokens that a model's own chat template adds to a prompt and to each message, and the shortest answer that must have room. */
const TEMPLATE_TOKENS = 64;
const MESSAGE_TOKENS = 8;
const LEAST_ANSWER_TOKENS = 32;
/** More threads hardly speed up a small model: it is bound by memory. */
const MOST_THREADS = 8;
/** Without a bound a small model may continue until its context is full. */
const DEFAULT_MAX_TOKENS = 512;

/** How long after a call that failed on a broken file `down` reports that file, in milliseconds. */
const DOWN_MS = 5_000;

const ID = 'llama';
const LOADING = 'The model is still loading.';
const BROKEN = 'The model file cannot be loaded (ANIMA_CORTEX_GGUF); see the server log.';

type LoadedModel = {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly contextSize: number;
  readonly sequence: LlamaSequence;
};

/** The model to run, and how much of the machine it may use. */
export type LlamaSettings = {
  /** The model's path. */
  readonly file: string;
  /** ANIMA_CORTEX_THREADS; default: see `threadsFor`. */
  readonly threads?: number;
  /** ANIMA_CORTEX_CONTEXT_TOKENS; default: CONTEXT_TOKENS. */
  readonly contextTokens?: number;
  /** ANIMA_CORTEX_MAX_TOKENS and ANIMA_CORTEX_TEMPERATURE. */
  readonly inTurns?: CortexEngine['inTurns'];
};

/**
 * How many threads a model uses of this many cores as the system counts them: half, which is the number of physical cores if two threads share one.
 * The rest is for the server itself and for its neighbours: threads that wait for a core delay all the others.
 */
export const threadsFor = (cores: number): number => Math.max(1, Math.min(Math.floor(cores / 2), MOST_THREADS));

export type LlamaEngineDeps = { readonly clock: Clock; readonly log: Log };

/**
 * A GGUF model in this process, one completion at a time. It loads while the server already answers.
 * @throws StartProblem if the package is not installed
 */
export const openLlamaEngine = async (
  { file, threads = threadsFor(availableParallelism()), contextTokens = CONTEXT_TOKENS, inTurns }: LlamaSettings,
  { clock, log }: LlamaEngineDeps,
  load: () => Promise<LlamaPackage> = loadLlamaPackage,
): Promise<CortexEngine> => {
  const { getLlama, LlamaChatSession } = await load();
  let state = LOADING;
  /** What the model is asked for until it is loaded; it may take fewer. */
  let contextSize = contextTokens;
  let waiting = 0;
  /** Until when calls are known to fail. */
  let downUntilMs = -Infinity;
  let tail: Promise<unknown> = Promise.resolve();
  const listeners = createAnswerListeners();
  const closing = new AbortController();
  // Each call listens to it.
  setMaxListeners(0, closing.signal);

  const open = async (): Promise<LoadedModel> => {
    const llama = await getLlama({ build: 'never', progressLogs: false, maxThreads: threads });
    const model = await llama.loadModel({ modelPath: file, loadSignal: closing.signal });
    const context = await model.createContext({ contextSize: { max: contextTokens } });
    return { llama, model, contextSize: context.contextSize, sequence: context.getSequence() };
  };
  const opening: Promise<LoadedModel | null> = open().then(
    (loaded) => {
      state = 'ready';
      contextSize = loaded.contextSize;
      return loaded;
    },
    (err: unknown) => {
      state = BROKEN;
      if (!closing.signal.aborted) log.error({ err, cortexId: ID }, 'Cannot load the model');
      return null;
    },
  );

  const broken = (): Error => {
    downUntilMs = clock.monotonicMs() + DOWN_MS;
    return unavailable(ID, BROKEN);
  };

  const grammarOf = async ({ llama }: LoadedModel, { jsonSchema }: Completion): Promise<unknown> => {
    if (jsonSchema === undefined || !isUnderstood(jsonSchema)) return undefined;
    // The text is parsed leniently in any case.
    return llama.createGrammarForJsonSchema(jsonSchema).catch(() => undefined);
  };

  const run = async (asked: Completion, signal: AbortSignal): Promise<Completed> => {
    const loaded = await opening;
    if (loaded === null) throw broken();
    signal.throwIfAborted();
    const { sequence } = loaded;
    const messages = asked.messages ?? messagesOf(asked.prompt);
    const room = roomFor(loaded, messages);
    const session = new LlamaChatSession({ contextSequence: sequence });
    session.setChatHistory(messages.slice(0, -1).map(historyItem));
    const before = { ...countsOf(sequence) };
    const { onText } = asked;
    let written = '';
    const onTextChunk = (more: string): void => {
      written += more;
      onText?.(written);
    };
    try {
      const text = await session.prompt(messages.at(-1)?.content ?? '', {
        signal,
        maxTokens: Math.min(asked.maxTokens ?? DEFAULT_MAX_TOKENS, room),
        ...defined({
          temperature: asked.temperature,
          customStopTriggers: asked.stop,
          onTextChunk: onText === undefined ? undefined : onTextChunk,
          grammar: await grammarOf(loaded, asked),
        }),
      });
      const after = countsOf(sequence);
      const said = saidIn(text);
      if (said.isEmpty) throw noAnswer(ID, 'The model answers without a text.');
      return {
        text: untilStop(said.text, asked.stop),
        ...(said.reasoning === '' ? {} : { reasoning: said.reasoning }),
        stats: {
          promptTokens: after.promptTokens - before.promptTokens,
          completionTokens: after.completionTokens - before.completionTokens,
        },
      };
    } catch (err) {
      signal.throwIfAborted();
      if (err instanceof Rejection) throw err;
      log.warn({ err, cortexId: ID }, 'The model failed to complete a prompt');
      throw unavailable(ID, 'The model failed to complete the prompt; see the server log.');
    } finally {
      session.dispose();
      await sequence.clearHistory();
    }
  };

  /** Runs calls one at a time, in the order in which they came. */
  const inTurn = (asked: Completion, signal: AbortSignal): Promise<Completed> => {
    const mine = tail.then(() => {
      signal.throwIfAborted();
      return run(asked, signal);
    });
    tail = mine.catch(() => undefined);
    return mine;
  };

  const late = (): Error => unavailable(ID, state === LOADING ? LOADING : 'The model did not respond in time.');
  return {
    id: ID,
    name: basename(file).replace(/\.gguf$/i, ''),
    runtime: 'llama.cpp',
    parameters: parametersIn(basename(file)),
    ...defined({ inTurns }),
    state: () => state,
    down: () => (state === BROKEN && clock.monotonicMs() < downUntilMs ? BROKEN : null),
    onAnswer: (listener) => listeners.add(listener),
    knownContext: () => contextSize,
    contextTokens: async () => (await opening)?.contextSize ?? null,
    complete: async (asked, signal) => {
      if (state === BROKEN) throw broken();
      if (waiting > MAX_WAITING) throw unavailable(ID, 'Too many completions are already waiting.');
      const beganMs = clock.monotonicMs();
      waiting += 1;
      const limit = { ms: CALL_MS, late, signal, closing: closing.signal };
      try {
        const { stats, ...said } = await withTimeLimit(clock, limit, (limited) => inTurn(asked, limited));
        listeners.notify();
        return { ...said, stats: { ...stats, ms: Math.round(clock.monotonicMs() - beganMs) } };
      } finally {
        waiting -= 1;
      }
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(unavailable(ID, 'The server is stopping.'));
      await tail;
      await (await opening)?.llama.dispose();
    },
  };
};

const historyItem = ({ role, content }: ChatMessage): LlamaHistory[number] =>
  role === 'assistant' ? { type: 'model', response: [content] } : { type: role, text: content };

/**
 * How many tokens an answer to these messages may have.
 * @throws Rejection CORTEX_NO_ANSWER if they leave no room for one
 */
const roomFor = ({ model, contextSize }: LoadedModel, messages: readonly ChatMessage[]): number => {
  const tokens = messages.reduce(
    (sum, { content }) => sum + MESSAGE_TOKENS + (content === '' ? 0 : model.tokenize(content).length),
    TEMPLATE_TOKENS,
  );
  const room = contextSize - tokens;
  if (room >= LEAST_ANSWER_TOKENS) return room;
  throw new PromptTooLong(
    ID,
    `The prompt takes ${String(tokens)} tokens, more than the model's context of ${String(contextSize)} (limited by ANIMA_CORTEX_CONTEXT_TOKENS and by the model itself).`,
    contextSize,
  );
};

/** The members by which the package recognises what a schema allows. If it finds none, it constrains the model to the literal null. */
const TELLING = ['const', 'enum', 'oneOf', '$ref'];
const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'];

const isUnderstood = (schema: unknown): boolean => {
  if (!isObject(schema)) return false;
  if (TELLING.some((member) => member in schema)) return true;
  const types = [schema['type']].flat();
  if (!types.every((type) => TYPES.includes(type as string))) return false;
  const { properties, items } = schema;
  const parts = [...Object.values(isObject(properties) ? properties : {}), ...(items === undefined ? [] : [items])];
  return parts.every(isUnderstood);
};

const countsOf = ({ tokenMeter }: LlamaSequence) => ({
  promptTokens: tokenMeter.usedInputTokens,
  completionTokens: tokenMeter.usedOutputTokens,
});

import { pino } from 'pino';

import { createEngineWaits } from '../../src/features/engines/engine-waits.js';
import { EmbeddedProcessRuntime } from '../../src/adapters/embedded/process-runtime.js';
import { MemoryEventStore } from './memory/event-store.js';
import { agentTurnEffects, type AgentTurnEffectsDeps } from '../../activities/effects/agent-turn.js';
import { seals } from './seals.js';
import { StreamWriters } from '../../src/kernel/streams/stream-writers.js';
import { ProcessRepository } from '../../src/kernel/processes/process-repository.js';
import { openRulesets } from '../../src/features/rules/rulesets.js';
import { rulesetFold } from '../../src/features/rules/ruleset-fold.js';
import { runCommand } from '../../src/kernel/streams/run-command.js';
import { type TurnStep, stepTurn, type Stepped } from '../../src/features/turns/step-turn.js';
import { pagesOf } from '../../src/kernel/streams/stream-pages.js';
import { turnEffects } from '../../activities/effects/turn.js';
import { TurnIndex } from '../../src/features/turns/turn-index.js';
import type { TapeResult, Tape } from '../../src/features/turns/domain/tape.js';
import { registerRuleset } from '../../src/features/rules/domain/decide.js';
import type { RulesetContent } from '../../src/features/rules/domain/ruleset.js';
import { defined } from '../../src/kernel/base/defined.js';
import { npcStream, rulesetStream } from '../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { agentTurn } from '../../workflows/agent-turn.js';
import { turn } from '../../workflows/turn/turn.js';
import { ManualClock } from './manual-clock.js';
import { seededRandom } from './seeded-random.js';

export const TENANT = 'studio';
export const DEADLINE_MS = 900_000;
/** The defaults of ANIMA_CONVERSATION_EXCHANGES and ANIMA_CONVERSATION_PAUSE_MINUTES. */
export const CONVERSATION = { exchanges: 12, pauseMs: 30 * 60_000 };

/** A tape as the guard passes it on, with a test's changes. */
export const tapeOf = (members: Partial<Tape> = {}): Tape => ({
  observation: 'A stranger asks for a room.',
  context: {},
  npcState: {},
  memories: [],
  vectorQueried: false,
  extra: {},
  ...members,
});

export const identified = {
  type: 'IdentifyActorResult',
  actor: { npcId: 'mira', persona: 'An innkeeper.', data: { mood: 'calm' } },
} satisfies TapeResult;
export const recalled = {
  type: 'QueryVectorResult',
  memories: [{ text: 'The last stranger left without paying.', type: 'experience', importance: 0.8, similarity: 0.9 }],
} satisfies TapeResult;
export const generated = {
  type: 'ExecuteInferenceResult',
  generatedOutput: 'Three coins, in advance.',
} satisfies TapeResult;

export type MindsOptions = {
  readonly shared?: boolean;
  readonly through?: EventStore;
  /** The dependencies of agents' turns for recall and speech; optional. */
  readonly agent?: Pick<AgentTurnEffectsDeps, 'recall' | 'engineOf'> & Partial<Pick<AgentTurnEffectsDeps, 'liveTexts'>>;
};

/** Minds over an event store in memory, with everything that a server has between the route and the store. `through` wraps the store. */
export const openMinds = async (
  store = new MemoryEventStore(),
  clock = new ManualClock(),
  { shared = false, through = store, agent }: MindsOptions = {},
) => {
  const writers = new StreamWriters(through, clock, { shared, seals });
  const repository = new ProcessRepository(through, { shared });
  const rulesets = openRulesets(writers, through);
  const index = new TurnIndex(through, { shared });
  repository.onRecorded((stream, events) => index.note(stream, events));
  const effectsDeps = {
    rulesets,
    signingKeys: { current: { kid: 'test-key', alg: 'EdDSA' } },
    issuer: 'http://test',
  } as const;
  const runtime = new EmbeddedProcessRuntime({
    events: store,
    clock,
    random: seededRandom('minds'),
    logger: pino({ level: 'silent' }),
    writers,
    repository,
    processes: {
      turn: { ...turnEffects(effectsDeps), process: turn },
      ...(agent === undefined
        ? {}
        : {
            agentTurn: {
              ...agentTurnEffects({
                ...effectsDeps,
                ...{ repository, writers },
                engineWaits: createEngineWaits(clock, 8),
                liveTexts: null,
                ...agent,
              }),
              process: agentTurn,
            },
          }),
    },
  });
  await runtime.start();
  const deps = {
    ...{ runtime, repository, index, writers, clock, events: through },
    ...{ turnDeadlineMs: DEADLINE_MS, conversation: CONVERSATION },
  };
  let commands = 0;
  const by = (commandId = `command-${String(commands++)}`) => ({
    tenant: TENANT,
    actor: 'key',
    commandId,
    correlationId: commandId,
    causationId: null,
  });
  return {
    store,
    clock,
    runtime,
    deps,
    step: (
      tape: Tape,
      result: TurnStep['result'] = null,
      command: {
        npcId?: string;
        commandId?: string;
        keyed?: boolean;
        resumed?: boolean;
        player?: TurnStep['player'];
      } = {},
    ): Promise<Stepped> =>
      stepTurn(deps, {
        stream: npcStream(TENANT, command.npcId ?? 'mira'),
        tape,
        result,
        ...defined({ player: command.player }),
        by: by(command.commandId),
        keyed: command.keyed ?? false,
        resumed: command.resumed ?? false,
      }),
    register: (content: RulesetContent) =>
      runCommand(
        { writers, events: store, clock },
        rulesetStream(TENANT, content.rulesetId),
        rulesetFold,
        by(),
        (state) => registerRuleset(state, content),
      ),
    events: async (npcId = 'mira') =>
      (await store.read(npcStream(TENANT, npcId), { direction: 'forwards', limit: 4096 })).events,
    types: async (npcId = 'mira') => {
      const types: string[] = [];
      for await (const { events } of pagesOf(store, npcStream(TENANT, npcId), { direction: 'forwards' })) {
        types.push(...events.map(({ type }) => type));
      }
      return types;
    },
    /** What a killed process leaves behind: only the store. */
    reopened: async () => {
      await runtime[Symbol.asyncDispose]();
      return openMinds(store, clock, { shared, ...(agent === undefined ? {} : { agent }) });
    },
    [Symbol.asyncDispose]: () => runtime[Symbol.asyncDispose](),
  };
};

import { mergePatch } from '../../src/kernel/base/merge-patch.js';
import type { FetchLike } from '../../src/body/mind-request.js';
import type {
  Finalize,
  JsonMembers,
  MindInstruction,
  NpcActor,
  StepRequest,
  StepResult,
  Tape,
} from '../../src/body/protocol.js';

/** How the fake judges a model's text, instead of deciding by rules. */
export type FakeDecision = Omit<Finalize, 'type'> & { readonly grounds?: JsonMembers };
export type FakeDecide = (input: {
  readonly text: string;
  readonly tape: Tape;
  readonly data: JsonMembers;
}) => FakeDecision;

type FakeRound = {
  readonly result: StepResult | null;
  readonly instruction: MindInstruction;
  readonly revision: number;
};
type FakeTurn = {
  readonly turnId: string;
  readonly npcId: string;
  tape: Tape;
  readonly rounds: FakeRound[];
  verdict: FakeDecision | null;
};
type FakeEvent = { readonly type: string; readonly data: JsonMembers; readonly turnId?: string };
export type FakeMindState = { persona: string | null; data: JsonMembers; readonly events: FakeEvent[] };

export type FakeMind = {
  readonly fetch: FetchLike;
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly body: unknown;
    readonly headers: Headers;
  }[];
  readonly keys: Map<string, { readonly name: string; readonly rateLimit: unknown; readonly scopes: unknown }>;
  readonly rulesets: Map<string, JsonMembers>;
  readonly minds: Map<string, FakeMindState>;
};

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const json = (status: number, body: unknown): Response =>
  new Response(status === 204 ? null : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': 'req-fake' },
  });
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const notFound = (code: string): Response =>
  json(404, {
    error: {
      code,
      message: 'No route matches this path. GET /docs lists all routes.',
      details: {},
      requestId: 'req-fake',
    },
  });

/** The result in a step for the round after `rounds`: `lastResult` overrides the tape, and empty strings in a tape do not count. */
const broughtBy = (step: StepRequest, rounds: number): StepResult | null => {
  if (step.lastResult !== undefined && step.lastResult !== null) return step.lastResult;
  const { actor, memories, vectorQueried, generatedOutput } = step.tape;
  if (rounds === 1 && actor !== undefined) return { type: 'IdentifyActorResult', actor };
  if (rounds === 2 && vectorQueried === true) return { type: 'QueryVectorResult', memories: memories ?? [] };
  if (rounds === 3 && generatedOutput !== undefined && generatedOutput !== '')
    return { type: 'ExecuteInferenceResult', generatedOutput };
  return null;
};

const EXPECTED = [null, 'IdentifyActorResult', 'QueryVectorResult', 'ExecuteInferenceResult'] as const;

const merged = (tape: Tape, result: StepResult | null): Tape => {
  switch (result?.type) {
    case 'IdentifyActorResult':
      return { ...tape, actor: result.actor };
    case 'QueryVectorResult':
      return { ...tape, memories: result.memories, vectorQueried: true };
    case 'ExecuteInferenceResult':
      return { ...tape, generatedOutput: result.generatedOutput };
    case undefined:
      return tape;
  }
};

/** The smallest mind that the turn protocol allows, answering like `fetch`: for tests of its clients. */
export const createFakeMind = (
  decide: FakeDecide,
  presets: readonly string[] = ['default', 'rpg', 'social'],
): FakeMind => {
  const requests: FakeMind['requests'] = [];
  const keys: FakeMind['keys'] = new Map();
  const rulesets: FakeMind['rulesets'] = new Map();
  const minds: FakeMind['minds'] = new Map();
  const turns: FakeTurn[] = [];

  const mindOf = (npcId: string): FakeMindState => {
    const mind = minds.get(npcId) ?? { persona: null, data: {}, events: [] };
    minds.set(npcId, mind);
    return mind;
  };

  const instructionFor = (turn: FakeTurn, round: number): MindInstruction => {
    if (round === 0) return { type: 'IdentifyActor' };
    if (round === 1) return { type: 'QueryVector', query: turn.tape.observation, limit: 5, threshold: 0.5 };
    if (round === 2) {
      const memories = (turn.tape.memories ?? []).map(({ text }) => text).join('\n');
      const prompt = `${turn.tape.actor?.persona ?? ''}\n${memories}\n${turn.tape.observation}`;
      return { type: 'ExecuteInference', prompt, constraints: { maxTokens: 256, temperature: 0.7 } };
    }
    const mind = mindOf(turn.npcId);
    turn.verdict = decide({ text: turn.tape.generatedOutput ?? '', tape: turn.tape, data: mind.data });
    const { valid, stateTransform } = turn.verdict;
    mind.events.push({
      type: valid ? 'VerdictReached' : 'VerdictRefused',
      data: { turnId: turn.turnId, verdict: turn.verdict, grounds: turn.verdict.grounds ?? {} },
      turnId: turn.turnId,
    });
    if (valid && Object.keys(stateTransform).length > 0) {
      mind.data = mergePatch(mind.data, stateTransform);
      mind.events.push({ type: 'StateChanged', data: { patch: stateTransform }, turnId: turn.turnId });
    }
    const { grounds: _, ...told } = turn.verdict;
    return { type: 'Finalize', ...told };
  };

  /** The event of a round: the verdict's for the last one, otherwise the newest. */
  const revisionOf = (npcId: string, instruction: MindInstruction): number => {
    const { events } = mindOf(npcId);
    return instruction.type === 'Finalize'
      ? events.findLastIndex(({ type }) => type.startsWith('Verdict'))
      : events.length - 1;
  };

  const enter = (turn: FakeTurn, result: StepResult | null): void => {
    const instruction = instructionFor(turn, turn.rounds.length);
    turn.rounds.push({ result, instruction, revision: revisionOf(turn.npcId, instruction) });
  };

  const open = (npcId: string, tape: Tape): FakeTurn => {
    const turn: FakeTurn = {
      turnId: `turn-${String(turns.length + 1)}`,
      npcId,
      tape: { context: {}, npcState: {}, memories: [], vectorQueried: false, ...tape },
      rounds: [],
      verdict: null,
    };
    turns.push(turn);
    mindOf(npcId).events.push({ type: 'TurnOpened', data: { observation: tape.observation }, turnId: turn.turnId });
    enter(turn, null);
    return turn;
  };

  const find = (npcId: string, step: StepRequest): FakeTurn | undefined => {
    if (step.tape.turnId !== undefined) return turns.find(({ turnId }) => turnId === step.tape.turnId);
    if ((step.lastResult ?? null) === null && step.tape.actor === undefined) return undefined;
    return turns.findLast(
      (turn) =>
        turn.npcId === npcId &&
        turn.verdict === null &&
        turn.tape.observation === step.tape.observation &&
        same(turn.tape.context, step.tape.context ?? {}),
    );
  };

  const process = (npcId: string, step: StepRequest): Response => {
    const turn = find(npcId, step);
    if (turn === undefined) {
      const opened = open(npcId, step.tape);
      return json(200, { instruction: opened.rounds[0]?.instruction, tape: { ...opened.tape, turnId: opened.turnId } });
    }
    const answer = (round: FakeRound | undefined): Response =>
      json(200, { instruction: round?.instruction, tape: { ...turn.tape, turnId: turn.turnId } });
    const brought = broughtBy(step, turn.rounds.length);
    const repeated = turn.rounds.find(({ result }) => result !== null && same(result, brought));
    if (repeated !== undefined) return answer(repeated);
    if (brought === null || brought.type !== EXPECTED[turn.rounds.length]) return answer(turn.rounds.at(-1));
    turn.tape = merged(turn.tape, brought);
    if (brought.type === 'IdentifyActorResult') adopt(npcId, brought.actor);
    enter(turn, brought);
    return answer(turn.rounds.at(-1));
  };

  const adopt = (npcId: string, actor: NpcActor): void => {
    const mind = mindOf(npcId);
    mind.persona ??= actor.persona;
    if (Object.keys(mind.data).length === 0) mind.data = actor.data;
  };

  const npcOf = (npcId: string): JsonMembers => {
    const { persona, data, events } = mindOf(npcId);
    return { npcId, persona, data, revision: events.length - 1, updatedAt: '2026-01-01T00:00:00.000Z' };
  };

  const recorded = (npcId: string, search: URLSearchParams): JsonMembers => {
    const { events } = mindOf(npcId);
    const at = '2026-01-01T00:00:00.000Z';
    return {
      npcId,
      revision: events.length - 1,
      events: events
        .map((event, revision) => ({
          ...event,
          revision,
          id: `event-${String(revision)}`,
          at,
          actor: 'key',
          hash: '',
          prevHash: '',
        }))
        .slice(Number(search.get('from') ?? 0))
        .slice(0, Number(search.get('limit') ?? 100)),
    };
  };

  const turnRecord = (npcId: string, turnId: string): Response => {
    const turn = turns.find((each) => each.npcId === npcId && each.turnId === turnId);
    if (turn === undefined) return notFound('TURN_NOT_FOUND');
    const at = '2026-01-01T00:00:00.000Z';
    return json(200, {
      turnId,
      npcId,
      kind: 'process',
      state: turn.verdict === null ? 'awaitingInference' : 'ended',
      openedAt: at,
      ruleset: (turn.tape.rulesetId ?? null) === null ? null : { rulesetId: turn.tape.rulesetId, version: 1 },
      rounds: turn.rounds.map((round, index) => ({ round: index, at, ...round })),
      verdict: turn.verdict === null ? null : { ...turn.verdict, ...turn.verdict.grounds },
    });
  };

  /** The response of `why` for a turn, with the data of this fake. */
  const whyOf = (npcId: string, turnId: string): Response => {
    const turn = turns.find((each) => each.turnId === turnId && each.npcId === npcId);
    if (turn === undefined) return notFound('TURN_NOT_FOUND');
    const { observation, memories = [], generatedOutput } = turn.tape;
    return json(200, {
      turnId,
      npcId,
      state: turn.verdict === null ? 'awaitingInference' : 'ended',
      observation,
      memories,
      model: { text: generatedOutput },
      ...turn.verdict?.grounds,
      verdict: turn.verdict,
    });
  };

  const rules = (method: string, id: string | undefined, preset: string | undefined, body: JsonMembers): Response => {
    if (preset !== undefined) {
      rulesets.set(preset, { rulesetId: preset, rulesetRules: [], template: null, version: 1 });
      return json(200, rulesets.get(preset));
    }
    if (method === 'POST') {
      const stored = { template: null, rulesetRules: [], ...body, version: 1 };
      rulesets.set(text(body['rulesetId']), stored);
      return json(200, stored);
    }
    const found = rulesets.get(id ?? '');
    return found === undefined ? notFound('RULESET_NOT_FOUND') : json(200, found);
  };

  const route = (method: string, { pathname: path, searchParams }: URL, body: JsonMembers): Response => {
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    const [root, id, sub, subId] = parts;
    if (path === '/status') return json(200, { status: 'online', version: '1.0.0' });
    if (path === '/readyz') return json(200, { ready: true, dependencies: {} });
    if (root === 'keys' && method === 'POST') {
      const keyId = `k${String(keys.size + 1)}`;
      keys.set(keyId, { name: text(body['name']), rateLimit: body['rateLimit'], scopes: body['scopes'] });
      return json(201, { keyId, key: `am_live_${keyId}_secret` });
    }
    if (root === 'keys' && method === 'DELETE' && id !== undefined) return json(keys.delete(id) ? 204 : 404, {});
    if (path === '/rules/presets' && method === 'GET') return json(200, presets);
    if (root === 'rules') return rules(method, id, id === 'presets' ? sub : undefined, body);
    if (root === 'v1') return json(200, { dialogue: 'I see.', memoriesRecalled: [] });
    if (root !== 'npcs') return notFound('NOT_FOUND');
    if (id === undefined) {
      const npcId = text(body['npcId']);
      const created = !minds.has(npcId);
      const mind = mindOf(npcId);
      mind.persona = typeof body['persona'] === 'string' ? body['persona'] : mind.persona;
      mind.data = (body['data'] as JsonMembers | undefined) ?? mind.data;
      mind.events.push({ type: created ? 'NpcRegistered' : 'NpcUpdated', data: body });
      return json(200, { ...npcOf(npcId), created });
    }
    if (sub === 'process') return process(id, body as unknown as StepRequest);
    if (!minds.has(id)) return notFound('NPC_NOT_FOUND');
    if (sub === undefined) return json(200, npcOf(id));
    if (sub === 'history') return json(200, recorded(id, searchParams));
    if (sub === 'verdicts' && subId !== undefined) return whyOf(id, subId);
    return sub === 'turns' && subId !== undefined ? turnRecord(id, subId) : notFound('NOT_FOUND');
  };

  const fetch: FetchLike = (url, init) => {
    const at = new URL(url);
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as JsonMembers) : {};
    const method = init.method ?? 'GET';
    requests.push({ method, path: at.pathname, body, headers: new Headers(init.headers) });
    return Promise.resolve(route(method, at, body));
  };

  return { fetch, requests, keys, rulesets, minds };
};

import { createMindRequest, type CallOptions, type MindRequestOptions } from './mind-request.js';
import type {
  ContextAnswer,
  ContextRequest,
  DirectiveAnswer,
  DirectiveRequest,
  HistoryPage,
  HistoryQuery,
  JsonMembers,
  Npc,
  RegisteredRuleset,
  RulesetToRegister,
  StepAnswer,
  StepRequest,
  TurnRecord,
  VerdictAnswer,
  VerdictRequest,
} from './protocol.js';

/**
 * The routes that a body needs, typed. Every method throws a `MindError` if it has no answer to return; a refused
 * action is an answer (`valid: false`), not an error.
 */
export type MindClient = {
  /** One step of a turn. */
  process(npcId: string, step: StepRequest, call?: CallOptions): Promise<StepAnswer>;
  directive(npcId: string, request: DirectiveRequest, call?: CallOptions): Promise<DirectiveAnswer>;
  context(npcId: string, request: ContextRequest, call?: CallOptions): Promise<ContextAnswer>;
  verdict(npcId: string, request: VerdictRequest, call?: CallOptions): Promise<VerdictAnswer>;
  /** Registers a mind or replaces the members given. */
  registerNpc(
    npc: { readonly npcId: string; readonly persona?: string; readonly data?: JsonMembers },
    call?: CallOptions,
  ): Promise<Npc & { readonly created: boolean }>;
  npc(npcId: string): Promise<Npc>;
  registerRules(ruleset: RulesetToRegister, call?: CallOptions): Promise<RegisteredRuleset>;
  ruleset(rulesetId: string): Promise<RegisteredRuleset>;
  presets(): Promise<readonly string[]>;
  /** Registers the preset's rules under the preset's name. */
  usePreset(presetId: string, call?: CallOptions): Promise<RegisteredRuleset>;
  history(npcId: string, query?: HistoryQuery): Promise<HistoryPage>;
  turn(npcId: string, turnId: string): Promise<TurnRecord>;
  /** Everything that a turn was based on. */
  why(npcId: string, turnId: string): Promise<JsonMembers>;
};

/** Makes a client of one mind server with one API key. Timeout 15 s per call; no repeats without an Idempotency-Key. */
export const createMindClient = (options: MindRequestOptions): MindClient => {
  const request = createMindRequest(options);
  const get = async <Answer>(path: string): Promise<Answer> => (await request('GET', path)) as Answer;
  const post = async <Answer>(path: string, body: unknown, call?: CallOptions): Promise<Answer> =>
    (await request('POST', path, body, call)) as Answer;
  const npcPath = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;

  return {
    process: (npcId, step, call) => post(`${npcPath(npcId)}/process`, step, call),
    directive: (npcId, body, call) => post(`${npcPath(npcId)}/directive`, body, call),
    context: (npcId, body, call) => post(`${npcPath(npcId)}/context`, body, call),
    verdict: (npcId, body, call) => post(`${npcPath(npcId)}/verdict`, body, call),
    registerNpc: (npc, call) => post('/npcs', npc, call),
    npc: (npcId) => get(npcPath(npcId)),
    registerRules: (ruleset, call) => post('/rules', ruleset, call),
    ruleset: (rulesetId) => get(`/rules/${encodeURIComponent(rulesetId)}`),
    presets: () => get('/rules/presets'),
    usePreset: (presetId, call) => post(`/rules/presets/${encodeURIComponent(presetId)}`, {}, call),
    history: (npcId, query = {}) => {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) search.set(name, String(value));
      return get(`${npcPath(npcId)}/history${search.size === 0 ? '' : `?${search.toString()}`}`);
    },
    turn: (npcId, turnId) => get(`${npcPath(npcId)}/turns/${encodeURIComponent(turnId)}`),
    why: (npcId, turnId) => get(`${npcPath(npcId)}/verdicts/${encodeURIComponent(turnId)}/why`),
  };
};

import { defined } from '../../kernel/base/defined.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { parseNpcStream } from '../../kernel/base/stream-names.js';
import { takeRecordable } from '../../kernel/streams/take-recordable.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';
import type { Recall } from '../memory/recall.js';
import { recallForTurn } from '../memory/recall-for-turn.js';
import type { RecalledMemory, Speaker } from '../npcs/domain/events.js';
import { mindFold } from '../npcs/mind-fold.js';
import { promptBudgetOf } from './prompt-budget.js';
import type { AskedRuleset } from '../rules/asked-ruleset.js';
import type { RulesetUsed } from '../rules/domain/ruleset.js';
import type { Rulesets } from '../rules/rulesets.js';
import { type ConversationDeps, conversationSoFar } from '../turns/conversation.js';
import { CURRENT_LOGIC, logicOf } from '../turns/domain/decision/logic.js';
import type { BuiltPrompt } from '../turns/domain/decision/prompt.js';
import { promptTokens } from '../turns/domain/decision/prompt-parts.js';
import { toldApart } from '../npcs/domain/told-apart.js';
import { factsFrom } from '../turns/facts-from.js';
import { rulesAtHand } from '../turns/run-with-rules.js';
import type { TurnIndex } from '../turns/turn-index.js';

export type ShowPromptDeps = ConversationDeps & {
  readonly writers: StreamWriters;
  readonly rulesets: Pick<Rulesets, 'chooseForAgent'>;
  readonly index: TurnIndex;
  readonly recall: Recall;
  /** The engine of a tenant, for which the prompt is shortened. */
  readonly engineOf: (tenant: string) => Pick<CortexEngine, 'knownContext' | 'inTurns'>;
  readonly clock: Pick<Clock, 'now'>;
};

/** An input to an agent, and the set that decides in place of its own. */
export type PromptAsked = {
  readonly stream: string;
  readonly input: string;
  readonly context: JsonObject;
  readonly npcState: JsonObject;
  readonly player?: Speaker;
  readonly instead: AskedRuleset | null;
};

/** The prompt that a turn would get, and what it is made from. */
export type ShownPrompt = Omit<BuiltPrompt, 'ctxMessages' | 'trace' | 'chat'> & {
  readonly messages: BuiltPrompt['chat'];
  readonly memories: readonly RecalledMemory[];
  readonly ruleset: RulesetUsed | null;
  readonly logic: number;
  readonly promptAt: string;
  /** How many tokens the prompt takes and may take, by the server's own counter; null: no limit is known. */
  readonly tokens: number;
  readonly promptBudget: number | null;
};

/** A prompt is signed by nobody. */
const NOBODY = { kid: '', iss: '' };

/**
 * The prompt that an agent's turn with this input would get now, as workflows/agent-turn.ts makes it. It opens no turn and records nothing.
 * @throws Rejection EVENTS_TOO_LARGE, RULESET_UNKNOWN, and as a recall; the reason of the signal
 */
export const showPrompt = async (
  deps: ShowPromptDeps,
  asked: PromptAsked,
  signal?: AbortSignal,
): Promise<ShownPrompt> => {
  const { writers, rulesets, index, recall, clock } = deps;
  const { stream, input: observation, context, npcState, player, instead } = asked;
  const { tenant = '', npcId = '' } = parseNpcStream(stream) ?? {};
  await takeRecordable([observation, context, npcState]);
  const { state: mind } = await writers.current(stream, mindFold);
  const choose: Rulesets['choose'] =
    instead === null ? (of, choice) => rulesets.chooseForAgent(of, choice) : () => Promise.resolve(instead);
  const { chosen, patternsHeld } = await rulesAtHand(
    (choice) => choose(tenant, choice),
    { bound: mind.rulesetId, named: undefined },
    observation,
  );
  const nowMs = clock.now().getTime();
  const promptAt = new Date(nowMs).toISOString();
  const conversation = await conversationSoFar(deps, stream, await index.recent(stream), { player, nowMs });
  const { effectiveInput, giveDirective, buildPrompt } = logicOf(CURRENT_LOGIC);
  const facts = factsFrom(npcId, chosen, mind, NOBODY, patternsHeld);
  const promptBudget = promptBudgetOf(deps.engineOf(tenant));
  const opened = { observation, context, npcState, conversation, promptAt, patternsHeld };
  const { memoryRecall } = giveDirective(effectiveInput(facts, opened));
  const listener = defined({ player: toldApart(player) });
  const { memories } = await recallForTurn(recall, { tenant, npcId, ...memoryRecall, ...listener }, signal);
  const built = buildPrompt(
    effectiveInput(facts, { ...opened, memories, ...defined({ promptBudget: promptBudget ?? undefined }) }),
  );
  const { prompt, constraints, chat: messages, parts, isShortened, leftOut } = built;
  const counted = { tokens: promptTokens(parts), promptBudget, isShortened, leftOut };
  const { used: ruleset } = chosen;
  return { prompt, messages, constraints, parts, memories, ruleset, logic: CURRENT_LOGIC, promptAt, ...counted };
};

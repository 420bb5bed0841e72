import type { DirectiveRuleSet } from '../rules/domain/ruleset.js';
import type { Level } from '../levels/domain/level.js';
import { currentVersion } from '../../kernel/base/decoder.js';
import { npcEvents } from '../npcs/domain/events.js';
import type { PlayedTurn } from './domain/events.js';
import type { World } from './domain/world.js';
import { worldReport } from './domain/world-facts.js';
import { afterTurn, type SessionMind } from './session-mind.js';

/** The mind of a turn to begin, and the report of the world that precedes the turn in the record. */
export type Informed = { readonly mind: SessionMind; readonly report: PlayedTurn['events'] };

/**
 * Tells a mind what it does not know yet of its world. Only rules of grammar 2 read facts, so no other mind is told any: sessions that are older than
 * these reports continue as they began.
 * @param most how many memories the mind keeps
 */
export const informed = (
  { level, world }: { readonly level: Level; readonly world: World },
  {
    mind,
    ruleset,
    most,
  }: { readonly mind: SessionMind; readonly ruleset: DirectiveRuleSet | null; readonly most: number },
): Informed => {
  const facts = ruleset?.grammar === 2 ? worldReport(level, world, mind.facts) : null;
  if (facts === null) return { mind, report: [] };
  const report = [{ type: 'FactsReported', version: currentVersion(npcEvents, 'FactsReported'), data: { facts } }];
  return { mind: afterTurn(mind, { npcId: '', events: report }, most), report };
};

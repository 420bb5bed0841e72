import { decoderOf } from '../../../kernel/base/decoder.js';
import type { DirectiveRuleSet, RulesetRef } from '../../rules/domain/ruleset.js';
import type { ReplayFindings } from './findings.js';

type OfReplay = { readonly replayId: string };

/** A text of a model that replaces a recorded one. */
export type OtherOutput = { readonly npcId?: string; readonly turnId: string; readonly generatedOutput: string };

/** The request of a replay, fixed at acceptance. All bounds are inclusive. */
export type ReplayPlan = {
  /** Sorted, each once; null: all minds of the tenant. */
  readonly npcIds: readonly string[] | null;
  /** The end of the event store's order at acceptance: later events are not included. */
  readonly upTo: number;
  readonly fromRevision?: number;
  readonly toRevision?: number;
  readonly turnId?: string;
  readonly since?: string;
  readonly until?: string;
  /** For a trial, one of the two: registered rules, or rules in the request. */
  readonly ruleset?: RulesetRef;
  readonly rules?: DirectiveRuleSet;
  /** Only decisions by the rules with this id are tried. */
  readonly instead?: string;
  readonly outputs?: readonly OtherOutput[];
};

/** Where a replay continues: with these minds from these revisions, then with the minds after the last one. */
export type ReplayCursor = {
  /** The last mind that was begun, by id; null for none. */
  readonly after: string | null;
  /** Minds that were begun and are not finished, and the next revision of each. */
  readonly begun: readonly { readonly npcId: string; readonly next: number }[];
};

export type ReplayEnding = 'completed' | 'failed' | 'cancelled';

/** The events of a replay. The shapes are storage: they never change and are only upcast (docs/adr/0004). */
export type ReplayEvent =
  | { type: 'ReplayRequested'; data: OfReplay & ReplayPlan }
  /** The remaining work was counted. */
  | {
      type: 'ReplayBegun';
      data: OfReplay & {
        readonly minds: number;
        readonly events: number;
        /** The named minds that have no history. */
        readonly unknown: readonly string[];
        /** The rules of a trial, by id. */
        readonly drRuleIds?: readonly string[];
      };
    }
  /** A slice was done; `events` counts the events that it read, `found` has the findings since the last one. */
  | {
      type: 'ReplayAdvanced';
      data: OfReplay & { readonly cursor: ReplayCursor; readonly events: number; readonly found: ReplayFindings };
    }
  | { type: 'ReplayEnded'; data: OfReplay & { readonly ending: ReplayEnding; readonly reason: string | null } };

/** The decoder of replays. */
export const replayEvents = decoderOf<ReplayEvent>({
  ReplayRequested: [],
  ReplayBegun: [],
  ReplayAdvanced: [],
  ReplayEnded: [],
});

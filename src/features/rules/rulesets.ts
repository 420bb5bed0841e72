import { rulesetFold } from './ruleset-fold.js';
import { rulesetEvents } from './domain/events.js';
import { LRUCache } from 'lru-cache';

import { findPreset } from './domain/presets.js';
import type { DirectiveRuleSet, RulesetRef } from './domain/ruleset.js';
import { latestRuleset, revisionOfVersion, type RulesetState } from './domain/state.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { rulesetStream } from '../../kernel/base/stream-names.js';
import type { EventStore } from '../../ports/event-store.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

/** The id of the ruleset that becomes a tenant's default when it is registered. */
export const DEFAULT_RULESET_ID = 'default';

/** The version of a built-in preset that no one registered. Registered versions count from 1. */
const BUILT_IN_VERSION = 0;

const builtIn = (presetId: string): DirectiveRuleSet | null => {
  const content = findPreset(presetId);
  return content === null ? null : { ...content, version: BUILT_IN_VERSION };
};

/** How many bytes of JSON of older versions are cached, for the turns that began with them. */
export const OLD_VERSIONS_BYTES = 32 * 1024 * 1024;

/** The rules that decide, and the requested id if it is not registered. */
export type ChosenRuleset = { readonly ruleset: DirectiveRuleSet | null; readonly missing?: string };

/** A tenant's rulesets, from their streams. */
export type Rulesets = {
  /** The named ruleset, or the tenant's default. A named ruleset that is not registered decides nothing and is `missing`. */
  choose(tenant: string, rulesetId: string | undefined): Promise<ChosenRuleset>;
  /** Like `choose`, but if the tenant has no default, the `default` preset decides. */
  chooseForAgent(tenant: string, rulesetId: string | undefined): Promise<ChosenRuleset>;
  /** One version as it was registered, even if its ruleset has since been deleted. */
  version(tenant: string, ref: RulesetRef | null): Promise<DirectiveRuleSet | null>;
  /** The current ruleset; null if it was never registered or is deleted. */
  latest(tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null>;
  /** The version that decides: the current one, or the `default` preset while the tenant has no default. */
  deciding(tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null>;
};

/** @param events where older versions are read */
export const openRulesets = (writers: StreamWriters, events: Pick<EventStore, 'read'>): Rulesets => {
  const old = new LRUCache<string, DirectiveRuleSet>({
    maxSize: OLD_VERSIONS_BYTES,
    sizeCalculation: (set) => jsonBytes(set),
  });
  // A version that is still being written may be discarded, and a turn must not name it.
  const load = async (tenant: string, rulesetId: string): Promise<RulesetState> =>
    (await writers.current(rulesetStream(tenant, rulesetId), rulesetFold)).state;
  const latest = async (tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null> =>
    latestRuleset(await load(tenant, rulesetId));
  const choose = async (tenant: string, rulesetId: string | undefined): Promise<ChosenRuleset> => {
    const ruleset = await latest(tenant, rulesetId ?? DEFAULT_RULESET_ID);
    return ruleset === null && rulesetId !== undefined ? { ruleset, missing: rulesetId } : { ruleset };
  };
  return {
    latest,
    deciding: async (tenant, rulesetId) =>
      (await latest(tenant, rulesetId)) ?? (rulesetId === DEFAULT_RULESET_ID ? builtIn(rulesetId) : null),
    choose,
    chooseForAgent: async (tenant, rulesetId) => {
      const chosen = await choose(tenant, rulesetId);
      return chosen.ruleset === null && chosen.missing === undefined
        ? { ruleset: builtIn(DEFAULT_RULESET_ID) }
        : chosen;
    },
    version: async (tenant, ref) => {
      if (ref === null) return null;
      if (ref.version === BUILT_IN_VERSION) return builtIn(ref.rulesetId);
      const stream = rulesetStream(tenant, ref.rulesetId);
      const key = `${stream} ${String(ref.version)}`;
      const known = old.get(key);
      if (known !== undefined) return known;
      const state = await load(tenant, ref.rulesetId);
      if (state.latest?.version === ref.version) return state.latest;
      const from = revisionOfVersion(state, ref.version);
      if (from === null) return null;
      const recorded = await eventAt(events, stream, from);
      const event = recorded && rulesetEvents.decode(recorded);
      if (event?.type !== 'RulesetRegistered') return null;
      old.set(key, event.data);
      return event.data;
    },
  };
};

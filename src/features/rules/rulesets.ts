import { rulesetFold } from './ruleset-fold.js';
import { rulesetEvents } from './domain/events.js';
import { LRUCache } from 'lru-cache';

import { readStrict } from './domain/conditions/match-strict.js';
import { findPreset, presetContents } from './domain/presets/presets.js';
import { rulesetDigest, usedRuleset } from './ruleset-digest.js';
import type { DirectiveRuleSet, RulesetContent, RulesetRef, RulesetUsed } from './domain/ruleset.js';
import { latestRuleset, revisionOfVersion, type RulesetState } from './domain/state.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { rulesetStream } from '../../kernel/base/stream-names.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import type { EventStore } from '../../ports/event-store.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

/** The id of the ruleset that becomes a tenant's default when it is registered. */
export const DEFAULT_RULESET_ID = 'default';

/** The version of a built-in preset that no one registered. Registered versions count from 1. */
const BUILT_IN_VERSION = 0;

/** Each content of a preset as one object, because what is made from a ruleset (its digest, its prepared rules) is kept by object. */
const builtIns = new Map<RulesetContent, DirectiveRuleSet>();

const asBuiltIn = (content: RulesetContent): DirectiveRuleSet => {
  const known = builtIns.get(content) ?? { ...content, version: BUILT_IN_VERSION };
  builtIns.set(content, known);
  return known;
};

const builtIn = (presetId: string): DirectiveRuleSet | null => {
  const content = findPreset(presetId);
  return content === null ? null : asBuiltIn(content);
};

/** The content of a preset that a record names: the one with its digest, and the first one for records from before they had digests. */
const recordedBuiltIn = async ({ rulesetId, digest }: RecordedRuleset): Promise<DirectiveRuleSet | null> => {
  const contents = presetContents(rulesetId).map(asBuiltIn);
  if (digest === undefined) return contents[0] ?? null;
  for (const set of contents) if ((await rulesetDigest(set)) === digest) return set;
  return null;
};

/** How many bytes of JSON of older versions are cached, for the turns that began with them. */
export const OLD_VERSIONS_BYTES = 32 * 1024 * 1024;

/** What the rules are chosen by. A bound mind's rules are chosen by nobody else. */
export type RulesetChoice = {
  /** The ruleset that the mind is bound to. */
  readonly bound: string | null;
  /** The ruleset that the request names. */
  readonly named: string | undefined;
};

/** The rules that decide, what is recorded of them, and the chosen id if it is not registered. */
export type ChosenRuleset = {
  readonly ruleset: DirectiveRuleSet | null;
  readonly used: RulesetUsed | null;
  readonly missing?: string;
};

/** The set, once a decision by it holds the event loop no longer than any later one. */
const readAhead = async (ruleset: DirectiveRuleSet): Promise<DirectiveRuleSet> => {
  if (ruleset.grammar === 2) await inSlices(readStrict(ruleset));
  return ruleset;
};

const chosenSet = async (ruleset: DirectiveRuleSet | null, named: string | undefined): Promise<ChosenRuleset> =>
  ruleset === null
    ? { ruleset, used: null }
    : { ruleset: await readAhead(ruleset), used: await usedRuleset(ruleset, named) };

/** A version as a record names it. `digest`: of its content; absent from the oldest records. */
export type RecordedRuleset = RulesetRef & Pick<RulesetUsed, 'digest'>;

/** A tenant's rulesets, from their streams. */
export type Rulesets = {
  /**
   * The ruleset that the mind is bound to, otherwise the named one, otherwise the tenant's default, otherwise none. If the chosen id is not
   * registered, it is `missing`, and the first of these decides: the last version of a bound one that was deleted, the tenant's default, the preset of
   * that name, the `default` preset.
   * @throws Rejection RULESET_UNKNOWN instead, if this server refuses unknown ids
   */
  choose(tenant: string, choice: RulesetChoice): Promise<ChosenRuleset>;
  /** Like `choose`, but if the tenant has no default, the `default` preset decides. */
  chooseForAgent(tenant: string, choice: RulesetChoice): Promise<ChosenRuleset>;
  /**
   * One version as it was registered, even if its ruleset has since been deleted. Version 0 is the content of the preset that has the recorded digest;
   * null if this server has no such content.
   */
  version(tenant: string, ref: RecordedRuleset | null): Promise<DirectiveRuleSet | null>;
  /** A version as a client asks for it: 0 without a digest is the newest content of the preset, and a digest that is given must be that of the set. */
  asked(tenant: string, ref: RecordedRuleset): Promise<DirectiveRuleSet | null>;
  /** The current ruleset; null if it was never registered or is deleted. */
  latest(tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null>;
  /** The newest version, even if the ruleset has since been deleted; null if it was never registered. */
  newest(tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null>;
  /** The version that decides: the current one, or the `default` preset while the tenant has no default. */
  deciding(tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null>;
};

/**
 * @param events where older versions are read
 * @param refusesUnknown whether a turn with an id that is not registered is refused (ANIMA_UNKNOWN_RULESET)
 */
export const openRulesets = (
  writers: StreamWriters,
  events: Pick<EventStore, 'read'>,
  { refusesUnknown = false }: { readonly refusesUnknown?: boolean } = {},
): Rulesets => {
  const old = new LRUCache<string, DirectiveRuleSet>({
    maxSize: OLD_VERSIONS_BYTES,
    sizeCalculation: (set) => jsonBytes(set),
  });
  // A version that is still being written may be discarded, and a turn must not name it.
  const load = async (tenant: string, rulesetId: string): Promise<RulesetState> =>
    (await writers.current(rulesetStream(tenant, rulesetId), rulesetFold)).state;
  const latest = async (tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null> =>
    latestRuleset(await load(tenant, rulesetId));
  const newest: Rulesets['newest'] = async (tenant, rulesetId) => (await load(tenant, rulesetId)).latest;
  /** @param unnamed decides if no id is chosen and the tenant has no default */
  const chooseOr =
    (unnamed: DirectiveRuleSet | null): Rulesets['choose'] =>
    async (tenant, { bound, named }) => {
      const chosen = bound ?? named;
      const found = await latest(tenant, chosen ?? DEFAULT_RULESET_ID);
      if (chosen === undefined || found !== null) return chosenSet(found ?? unnamed, named);
      if (refusesUnknown) throw new Rejection('RULESET_UNKNOWN', { details: { rulesetId: chosen } });
      const deleted = bound === null ? null : await newest(tenant, bound);
      const ruleset =
        deleted ?? (await latest(tenant, DEFAULT_RULESET_ID)) ?? builtIn(chosen) ?? builtIn(DEFAULT_RULESET_ID);
      return { ...(await chosenSet(ruleset, named)), missing: chosen };
    };
  const version: Rulesets['version'] = async (tenant, ref) => {
    if (ref === null) return null;
    if (ref.version === BUILT_IN_VERSION) return recordedBuiltIn(ref);
    const stream = rulesetStream(tenant, ref.rulesetId);
    const key = `${stream} ${String(ref.version)}`;
    const known = old.get(key);
    if (known !== undefined) return known;
    const state = await load(tenant, ref.rulesetId);
    if (state.latest?.version === ref.version) return readAhead(state.latest);
    const from = revisionOfVersion(state, ref.version);
    if (from === null) return null;
    const recorded = await eventAt(events, stream, from);
    const event = recorded && rulesetEvents.decode(recorded);
    if (event?.type !== 'RulesetRegistered') return null;
    old.set(key, event.data);
    return readAhead(event.data);
  };
  return {
    latest,
    newest,
    version,
    asked: async (tenant, ref) => {
      const isNewest = ref.version === BUILT_IN_VERSION && ref.digest === undefined;
      const set = isNewest ? builtIn(ref.rulesetId) : await version(tenant, ref);
      return set === null || ref.digest === undefined || (await rulesetDigest(set)) === ref.digest ? set : null;
    },
    deciding: async (tenant, rulesetId) =>
      (await latest(tenant, rulesetId)) ?? (rulesetId === DEFAULT_RULESET_ID ? builtIn(rulesetId) : null),
    choose: chooseOr(null),
    chooseForAgent: chooseOr(builtIn(DEFAULT_RULESET_ID)),
  };
};

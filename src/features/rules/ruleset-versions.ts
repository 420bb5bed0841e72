import { jsonBytes } from '../../kernel/base/json.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { EventStore } from '../../ports/event-store.js';
import { rulesetEvents } from './domain/events.js';
import { type Grammar, grammarOf } from './domain/ruleset.js';
import { rulesetDigest } from './ruleset-digest.js';

/** What a list tells of one version of a ruleset. */
export type RulesetVersion = {
  readonly version: number;
  readonly registeredAt: string;
  readonly digest: string;
  readonly grammar: Grammar;
  /** How many it has. */
  readonly rules: number;
  /** When the ruleset was deleted, if this was then its newest version. */
  readonly deletedAt?: string;
};

type VersionPage = { readonly versions: readonly RulesetVersion[]; readonly more: boolean };

/**
 * The versions of a ruleset up to a revision of its stream, newest first.
 * @param bounds ends the page: how many versions, and how many bytes of JSON they may have; at least one version is in it
 */
export const rulesetVersions = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  upTo: number,
  bounds: { readonly limit: number; readonly bytes: number },
): Promise<VersionPage> => {
  const versions: RulesetVersion[] = [];
  let bytes = 0;
  let deletedAt: string | undefined;
  for await (const page of pagesOf(events, stream, { direction: 'backwards', from: upTo })) {
    for (const recorded of page.events) {
      const event = rulesetEvents.decode(recorded);
      if (event.type === 'RulesetDeleted') deletedAt = recorded.meta.at;
      if (event.type !== 'RulesetRegistered') continue;
      if (versions.length === bounds.limit || bytes >= bounds.bytes) return { versions, more: true };
      const { data: set } = event;
      versions.push({
        version: set.version,
        registeredAt: recorded.meta.at,
        digest: await rulesetDigest(set),
        grammar: grammarOf(set),
        rules: set.rulesetRules.length,
        ...(deletedAt === undefined ? {} : { deletedAt }),
      });
      deletedAt = undefined;
      bytes += jsonBytes(set);
      await yieldToEventLoop();
    }
  }
  return { versions, more: false };
};

import type { UpgradeEnd } from './from-before.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { logStream } from '../../kernel/base/stream-names.js';
import type { EventChecks } from '../../kernel/streams/event-checks.js';
import { breaksOf, type ChainBreak, storedHash } from '../../kernel/streams/hash-chain.js';
import type { RecordedEvent } from '../../ports/event-store.js';

export type EventAuditDeps = {
  readonly checks: Pick<EventChecks, 'isBroken'>;
  /** Up to where events of a tenant need no seal; null if the store has no events without one. */
  readonly upgradeEnd: ((tenant: string) => Promise<UpgradeEnd>) | null;
};

/** What is wrong with an event: breaks of its chain, which an operator can acknowledge, and reasons that nobody can. */
export type EventFaults = { readonly breaks: readonly ChainBreak[]; readonly reasons: readonly string[] };

/** Judges an event that follows one with the hash `prevHash`, whatever JSON is stored. */
export type JudgeEvent = (event: RecordedEvent, prevHash: string) => Promise<EventFaults>;

/**
 * Judges the events of one tenant for one answer. An event without a seal counts if its position is one of before the upgrade: the chain from there to
 * a head in the log is checked link by link, and the head is compared with the log, so nothing on this way can be another event. Propagates errors
 * from the event store.
 */
export const createJudge = ({ checks, upgradeEnd }: EventAuditDeps, tenant: string): JudgeEvent => {
  let end: Promise<UpgradeEnd> | undefined;
  const isFromBefore = async ({ stream, revision, position }: RecordedEvent): Promise<boolean> => {
    if (upgradeEnd === null) return false;
    const upTo = await (end ??= upgradeEnd(tenant));
    return stream === logStream(tenant) ? revision <= upTo.revision : position <= upTo.position;
  };
  return async (event, prevHash) => {
    const isBroken = storedHash(event) === '' || (await checks.isBroken(event));
    const isSound = !isBroken && event.meta.prevHash === prevHash;
    const breaks = isSound ? [] : await inSlices(breaksOf(event, prevHash));
    // The seal of an event that contains something else says nothing more about it.
    const isChanged = breaks.some(({ member }) => member === 'hash');
    const isForeign = !isChanged && (isBroken || (event.meta.mac === undefined && !(await isFromBefore(event))));
    return {
      breaks,
      reasons: [
        ...(isForeign ? ['it was not recorded by this server: its seal is missing or does not fit'] : []),
        ...(event.position < 1 ? ['it is at a position of the global order that no server uses'] : []),
      ],
    };
  };
};

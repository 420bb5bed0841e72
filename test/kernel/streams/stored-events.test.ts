import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from 'vitest';

import { ghostSessionEffects } from '../../../activities/effects/ghost-session.js';
import { replayEffects } from '../../../activities/effects/replay.js';
import { agentTurn } from '../../../workflows/agent-turn.js';
import { checkpoint } from '../../../workflows/checkpoint.js';
import { ghostSession } from '../../../workflows/ghost-session.js';
import { replay } from '../../../workflows/replay.js';
import { soulExport } from '../../../workflows/soul-export.js';
import { soulImport } from '../../../workflows/soul-import.js';
import { turn } from '../../../workflows/turn/turn.js';
import { serialise } from '../../../src/adapters/shared/append-rules.js';
import { logFold } from '../../../src/features/proofs/log-fold.js';
import { stepCount } from '../../../src/features/ghosts/steps-log.js';
import { accessFold } from '../../../src/features/keys/access-fold.js';
import { tenantFold, tenantNamesFold } from '../../../src/features/keys/tenant-fold.js';
import { signingKeyFold } from '../../../src/features/keys/signing-key-fold.js';
import { levelFold } from '../../../src/features/levels/level-fold.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { rulesetFold } from '../../../src/features/rules/ruleset-fold.js';
import { custodyFold } from '../../../src/features/souls/custody-fold.js';
import { importFold } from '../../../src/features/souls/import-fold.js';
import type { Fold, StreamEvent } from '../../../src/kernel/streams/fold.js';
import { placeEvents } from '../../../src/kernel/streams/place-events.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { eventKinds } from '../../support/event-kinds.js';

type Kind = keyof typeof eventKinds;
type Folded = { readonly initial: unknown; evolve(state: never, event: StreamEvent): unknown };

/** One event of every type, as a store held it (see test/kernel/streams/event-kinds.test.ts). */
const fixtures = JSON.parse(
  readFileSync(new URL('../../fixtures/stored-events.json', import.meta.url), 'utf8'),
) as readonly { readonly kind: Kind; readonly stored: StreamEvent; readonly known?: JsonObject }[];
const named = fixtures.map((fixture) => [`${fixture.kind} ${fixture.stored.type}`, fixture] as const);
/** A newer program records these types in another form. */
const current = named.filter(([, { known }]) => known === undefined);

/** How the streams of a kind are folded for writing. */
const writtenBy: Readonly<Record<Kind, Folded & Pick<Fold<unknown>, 'versionOf'>>> = {
  npc: mindFold,
  ruleset: rulesetFold,
  level: levelFold,
  tenant: tenantFold,
  tenants: tenantNamesFold,
  signingKeys: signingKeyFold,
  imports: importFold,
  custody: custodyFold,
  ghosts: ghostSessionEffects({} as never).fold,
  ghostSteps: stepCount,
  replays: replayEffects({} as never).fold,
  log: logFold,
  access: accessFold,
};

/** The other folds of a kind. */
const machines: Readonly<Partial<Record<Kind, readonly Folded[]>>> = {
  npc: [turn, agentTurn, soulExport],
  imports: [soulImport],
  ghosts: [ghostSession],
  replays: [replay],
  log: [checkpoint],
};

/** Stages a decoded event once more, behind the same event and for the same command. */
const recordAgain = ({ kind, stored }: (typeof fixtures)[number]): StreamEvent => {
  const { schemaVersion: _, at, prevHash, hash: __, process, ...context } = stored.meta;
  const { type, data } = eventKinds[kind].decode(stored);
  const draft = { type, data: data as JsonObject, ...(process === undefined ? {} : { process }) };
  const timeMs = parseInt(stored.id.slice(0, 13).replace('-', ''), 16);
  const head = { revision: stored.revision - 1, hash: prevHash, at, isGood: true };
  const { events } = placeEvents([draft], { stream: stored.stream, fold: writtenBy[kind], head }, context, {
    now: at,
    timeMs,
  });
  return events[0] ?? expect.fail('nothing was placed');
};

/** Their examples were written by hand, and so were their ids, which are not digests. The rest of them is recorded again. */
const byHand: readonly string[] = [
  ...['MemoryConfirmed', 'RecallReported', 'MemoriesCleared', 'MemoriesRetracted', 'CortexChosen'],
  ...['SoulExportRequested', 'SoulSealed', 'SoulExported', 'SoulExportFailed', 'SoulExportExpired'],
];
/** The key that it revokes is in no other example. */
const alone: readonly string[] = ['KeyRevoked'];

describe('stored events', () => {
  it.each(current)('are recorded again with the same bytes, id and hash: %s', async (_, fixture) => {
    const { stored } = fixture;
    const again = recordAgain(fixture);
    const { id, meta } = stored;
    const isDerived = !byHand.includes(stored.type);
    expect([again.id === id, again.meta.hash === meta.hash]).toEqual([isDerived, isDerived]);
    // The order of members is stored as well.
    expect(serialise([{ ...again, id, meta: { ...again.meta, hash: meta.hash } }])).toEqual(serialise([stored]));
    expect([again.stream, again.revision]).toEqual([stored.stream, stored.revision]);
  });

  it.each(named.filter(([, { stored }]) => !alone.includes(stored.type)))(
    'change the folded state of their stream: %s',
    (_, { kind, stored }) => {
      const others = fixtures.filter((other) => other.kind === kind && other.stored.type !== stored.type);
      const isSeen = (fold: Folded): boolean => {
        let state = fold.initial;
        const changes = (): boolean => !isDeepStrictEqual(fold.evolve(state as never, stored), state);
        return (
          changes() ||
          others.some((other) => {
            state = fold.evolve(state as never, other.stored);
            return changes();
          })
        );
      };
      expect([writtenBy[kind], ...(machines[kind] ?? [])].some(isSeen)).toBe(true);
    },
  );
});

import { describe, expect, it } from 'vitest';

import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { exportRef, giveUpExport } from '../../../src/features/souls/export-soul.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { StepAnswer } from '../../../src/ports/process-runtime.js';
import { STREAM } from '../../support/streams.js';

const bytes = Buffer.from('{"soul":true}');
const digest = contentDigest(bytes);
const by = { tenant: 'studio', actor: 'k', commandId: 'c', correlationId: 'c', causationId: null };

/** The fate of a sealed soul whose export is given up, when the runtime returns this. */
const givenUp = async (ask: () => Promise<StepAnswer>) => {
  const archive = new MemorySoulArchive();
  await archive.stage(digest, bytes, { tenant: 'studio', expiresAt: new Date('2030-01-01') });
  const outcome = await giveUpExport(
    { runtime: { ask } as never, archive },
    exportRef(STREAM, 's1'),
    { digest, reason: 'no room' },
    by,
  ).then(
    ({ export: { name } }) => name,
    (error: unknown) => (error as Rejection).code,
  );
  return { outcome, waiting: await archive.stagedBytes('studio') };
};
const ended = (state: object) => () =>
  Promise.resolve({ answer: state, revision: 3, position: 3 } as unknown as StepAnswer);

describe('an abandoned export', () => {
  it.each([
    ['SOUL_UPLOAD_FAILED', { name: 'failed', failure: { code: 'SOUL_UPLOAD_FAILED', reason: 'no room' } }],
    ['SOUL_EXCHANGE_EXPIRED', { name: 'expired' }],
  ])('frees its quota: %s', async (outcome, state) => {
    expect(await givenUp(ended(state))).toEqual({ outcome, waiting: 0 });
  });

  it('keeps its sealed soul as long as it may be needed', async () => {
    const away = () => Promise.reject(new Rejection('ENGINE_UNAVAILABLE'));
    expect(await givenUp(away)).toEqual({ outcome: 'ENGINE_UNAVAILABLE', waiting: bytes.length });
    expect(await givenUp(ended({ name: 'exported' }))).toEqual({ outcome: 'exported', waiting: bytes.length });
  });
});

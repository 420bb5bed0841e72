import { describe, expect, it } from 'vitest';

import { pendingEffect, statusOf } from '../../src/kernel/processes/state-machine.js';
import { soulExport, type SoulExportInput, type SoulExportState } from '../../workflows/soul-export.js';
import { testTransitions } from '../support/test-transitions.js';
import { givenOf, inTable } from '../support/given.js';

const soulId = 's0_0_aaaaaaaaaaaaaaaa';
const request = {
  soulId,
  npcState: { mood: 'loyal' },
  includeMemories: true,
  uploadedBy: 'client',
  deadlineAt: '2026-01-01T01:00:00.000Z',
} as const;
const seal = {
  name: 'Mira',
  digest: 'the digest',
  root: 'the root',
  kid: 'kid',
  mindRevision: 1,
  memories: 2,
  bytes: 900,
};
const place = { txId: 'the digest', url: 'http://test/archive/the digest' };
const inputs = {
  request: { type: 'request', ...request },
  sealed: { type: 'sealed', ...seal },
  uploaded: { type: 'uploaded', digest: seal.digest, ...place },
  failed: { type: 'failed', code: 'SOUL_UPLOAD_FAILED', reason: 'no room' },
  deadline: { type: 'deadline' },
} as const satisfies Record<SoulExportInput['type'], SoulExportInput>;

const given = givenOf(soulExport);
type Export = ReturnType<typeof given>;
const take = (before: Export, input: SoulExportInput) => before.when(inTable(soulExport), input, null);
const fresh = given({ type: 'NpcUpdated', data: {} });
const after = (...types: (keyof typeof inputs)[]): Export =>
  types.reduce((before, type) => take(before, inputs[type]).and, fresh);
const exports = {
  new: fresh,
  requested: after('request'),
  sealed: after('request', 'sealed'),
  exported: after('request', 'sealed', 'uploaded'),
  failed: after('request', 'failed'),
  expired: after('request', 'deadline'),
} satisfies Record<SoulExportState['name'], Export>;

/** The effect of every input in every state: the next state and the events, or a refusal. */
const expected: Record<keyof typeof exports, Record<SoulExportInput['type'], string>> = {
  new: {
    request: 'requested SoulExportRequested',
    sealed: 'new',
    uploaded: 'new refused',
    failed: 'new refused',
    deadline: 'new',
  },
  requested: {
    request: 'requested',
    sealed: 'sealed SoulSealed',
    uploaded: 'requested refused',
    failed: 'failed SoulExportFailed',
    deadline: 'expired SoulExportExpired',
  },
  sealed: {
    request: 'sealed',
    sealed: 'sealed',
    uploaded: 'exported SoulExported',
    failed: 'failed SoulExportFailed',
    deadline: 'expired SoulExportExpired',
  },
  exported: { request: 'exported', sealed: 'exported', uploaded: 'exported', failed: 'exported', deadline: 'exported' },
  failed: { request: 'failed', sealed: 'failed', uploaded: 'failed refused', failed: 'failed', deadline: 'failed' },
  expired: {
    request: 'expired',
    sealed: 'expired',
    uploaded: 'expired refused',
    failed: 'expired refused',
    deadline: 'expired',
  },
};
describe('the state machine of a soul’s export', () => {
  testTransitions({ process: soulExport, states: exports, inputs, expected });

  it('accepts only the sealed payload, before and after it was exported', () => {
    const other = { ...inputs.uploaded, digest: 'another' };
    for (const before of [exports.sealed, exports.exported]) {
      take(before, other).then('SOUL_PAYLOAD_MISMATCH');
    }
  });

  it('keeps its first location when it is confirmed again', () => {
    const again = take(exports.exported, { ...inputs.uploaded, txId: 'elsewhere', url: 'http://elsewhere' });
    expect(again.and.state).toMatchObject({ place });
  });

  it('seals first; only a server that stores souls itself continues', () => {
    const sealing = pendingEffect(soulExport, exports.requested.state);
    expect(sealing).toMatchObject({ name: 'seal', args: { soulId, npcState: { mood: 'loyal' }, revision: 1 } });
    expect(pendingEffect(soulExport, exports.sealed.state)).toBeNull();
    const own = take(take(fresh, { ...inputs.request, uploadedBy: 'server' }).and, inputs.sealed).and;
    expect(pendingEffect(soulExport, own.state)).toMatchObject({ name: 'keep', args: { digest: seal.digest } });
    const byCid = { uploadedBy: 'server', storage: 'ipfs', format: 'binary' } as const;
    const elsewhere = take(take(fresh, { ...inputs.request, ...byCid }).and, inputs.sealed).and;
    expect(pendingEffect(soulExport, elsewhere.state)).toMatchObject({
      args: { digest: seal.digest, storage: 'ipfs', format: 'binary' },
    });
    for (const ended of [exports.exported, exports.failed, exports.expired])
      expect(statusOf(soulExport, ended.state)).toMatchObject({ effect: null, due: null });
  });
});

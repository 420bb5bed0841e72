import { describe, expect, it } from 'vitest';

import { pendingEffect, statusOf } from '../../src/kernel/processes/state-machine.js';
import { soulImport, type SoulImportInput, type SoulImportState } from '../../workflows/soul-import.js';
import { testTransitions } from '../support/test-transitions.js';
import { givenOf, inTable } from '../support/given.js';

const importId = 'i0_0_aaaaaaaaaaaaaaaa';
const soul = {
  ...{ soulId: 's1', digest: 'the digest', root: 'the root', kid: 'kid', npcId: 'mira', memories: 2, bytes: 900 },
  signer: 'unknown',
  copy: false,
} as const;
const inputs = {
  request: { type: 'request', importId, txId: 'tx', deadlineAt: '2026-01-01T01:00:00.000Z' },
  received: { type: 'received', ...soul },
  arrived: { type: 'arrived', npcId: 'mira', revision: 3 },
  undelivered: { type: 'undelivered', code: 'SOUL_DOWNLOAD_FAILED', reason: 'bad gateway' },
  refused: { type: 'refused', code: 'SOUL_ALREADY_LIVE', reason: 'it lives', details: { npcId: 'mira' } },
  deadline: { type: 'deadline' },
} as const satisfies Record<SoulImportInput['type'], SoulImportInput>;

const given = givenOf(soulImport);
type Import = ReturnType<typeof given>;
const take = (before: Import, input: SoulImportInput) => before.when(inTable(soulImport), input, null);
const fresh = given();
const after = (...types: (keyof typeof inputs)[]): Import =>
  types.reduce((before, type) => take(before, inputs[type]).and, fresh);
const imports = {
  new: fresh,
  requested: after('request'),
  received: after('request', 'received'),
  imported: after('request', 'received', 'arrived'),
  failed: after('request', 'received', 'refused'),
  expired: after('request', 'deadline'),
} satisfies Record<SoulImportState['name'], Import>;

const nothing = (name: string): Record<SoulImportInput['type'], string> => ({
  ...{ request: name, received: name, arrived: name, undelivered: name, refused: name, deadline: name },
});

/** The effect of every input in every state: the next state and the events, or a refusal. */
const expected: Record<keyof typeof imports, Record<SoulImportInput['type'], string>> = {
  new: {
    ...nothing('new'),
    request: 'requested SoulImportRequested',
    received: 'new refused',
    undelivered: 'new refused',
  },
  requested: {
    ...nothing('requested'),
    received: 'received SoulReceived',
    undelivered: 'failed SoulImportFailed',
    deadline: 'expired SoulImportExpired',
  },
  received: { ...nothing('received'), arrived: 'imported SoulImported', refused: 'failed SoulImportFailed' },
  imported: nothing('imported'),
  failed: nothing('failed'),
  expired: { ...nothing('expired'), received: 'expired refused', undelivered: 'expired refused' },
};
describe('the state machine of a soul’s import', () => {
  testTransitions({ process: soulImport, states: imports, inputs, expected });

  it('accepts no other document after one was received', () => {
    const other = { ...inputs.received, digest: 'another' };
    for (const before of [imports.received, imports.imported]) take(before, other).then('SOUL_PAYLOAD_MISMATCH');
  });

  it('has a deadline until the document is there, and then imports it without one', () => {
    expect(statusOf(soulImport, imports.requested.state)).toMatchObject({ due: inputs.request.deadlineAt });
    expect(statusOf(soulImport, imports.received.state)).toMatchObject({ due: null });
    expect(pendingEffect(soulImport, imports.received.state)).toMatchObject({
      name: 'arrive',
      args: { importId, txId: 'tx', soul, receivedAt: '2026-01-01T00:00:01.000Z' },
    });
    for (const ended of [imports.imported, imports.failed, imports.expired])
      expect(statusOf(soulImport, ended.state)).toMatchObject({ effect: null, due: null });
  });
});

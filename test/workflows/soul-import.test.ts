import { describe, expect, it } from 'vitest';

import { cellOf, farEffectOf, statusOf } from '../../workflows/process.js';
import { soulImport, type SoulImportInput, type SoulImportState } from '../../workflows/soul-import.js';
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

/** What every input does in every state: the state that follows and the events, or that it is refused. */
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
const cells = Object.entries(imports).flatMap(([name, before]) =>
  Object.values<SoulImportInput>(inputs).map(
    (input) => [name as keyof typeof imports, input.type, before, input] as const,
  ),
);

describe('the table of a soul’s import', () => {
  it.each(cells)('says what an import in the state %s does on the input %s', (name, type, before, input) => {
    expect(before.state.name).toBe(name);
    const taken = take(before, input);
    const outcome =
      taken.events === null ? [name, 'refused'] : [taken.and.state.name, ...taken.events.map((event) => event.type)];
    expect(outcome.join(' ')).toBe(expected[name][type]);
  });

  it('leads nowhere but to the states that its cells name', () => {
    for (const [name, type, before, input] of cells) {
      const cell = cellOf(soulImport, before.state, input);
      if (cell === 'ignore' || 'reject' in cell) continue;
      const taken = take(before, input);
      if (taken.events === null) continue;
      expect(cell.to, `${name} ${type}`).toContain(taken.and.state.name);
    }
  });

  it('takes no other document once one was received', () => {
    const other = { ...inputs.received, digest: 'another' };
    for (const before of [imports.received, imports.imported]) take(before, other).then('SOUL_PAYLOAD_MISMATCH');
  });

  it('has a deadline until the document is there, and then brings it in, however long that takes', () => {
    expect(statusOf(soulImport, imports.requested.state)).toMatchObject({
      deadline: { at: inputs.request.deadlineAt },
    });
    const status = statusOf(soulImport, imports.received.state);
    expect(status).toMatchObject({ deadline: null, over: false });
    expect(farEffectOf(status)).toMatchObject({
      name: 'arrive',
      args: { importId, txId: 'tx', soul, receivedAt: '2026-01-01T00:00:01.000Z' },
    });
    for (const ended of [imports.imported, imports.failed, imports.expired])
      expect(statusOf(soulImport, ended.state)).toMatchObject({ over: true, effect: null, deadline: null });
  });
});

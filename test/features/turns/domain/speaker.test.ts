import { describe, expect, it } from 'vitest';

import type { Json } from '../../../../src/kernel/base/json.js';
import { isStranger, toldApart } from '../../../../src/features/npcs/domain/told-apart.js';
import { playerMember, whoSpeaks } from '../../../../src/features/turns/domain/speaker.js';

const named = (sent: { readonly body?: Json; readonly header?: string; readonly context?: Json }) =>
  whoSpeaks({ bodies: [sent.body], header: sent.header, context: sent.context ?? {} });

describe('who speaks', () => {
  it('is the player of the body, then of the header, then of the context [12.1a]', () => {
    const all = { body: { id: 'p1', name: 'Ann' }, header: 'p2', context: { player: 'p3' } };
    expect(named(all)).toEqual({ id: 'p1', name: 'Ann', from: 'body' });
    expect(named({ ...all, body: null })).toEqual({ id: 'p2', from: 'header' });
    expect(named({ context: all.context })).toEqual({ id: 'p3', from: 'context' });
    expect(named({})).toBeUndefined();
  });

  it('is a stranger for what cannot be read, unless a later place names somebody who is told apart [12.1b]', () => {
    const long = 'x'.repeat(257);
    const bodies: readonly Json[] = [1.5, '', [], {}, { id: '' }, { id: ' ' }, { id: 1.5 }, { id: long }, { id: {} }];
    for (const body of [...bodies, { name: 'Ann' }, { id: 'a\u0000' }, { id: '\ud800' }]) {
      expect(named({ body }), JSON.stringify(body)).toEqual({ id: '', from: 'body' });
      expect(named({ body, context: { player: 'p3' } })).toEqual({ id: '', from: 'body' });
      expect(named({ body, header: 'p2' })?.id).toBe('p2');
    }
    expect([isStranger(''), isStranger('p2')]).toEqual([true, false]);
    for (const header of ['%20', '%E0%A4%A', 'a, b', '\u00e9', '%00', '100%', long]) {
      expect(named({ header }), header).toEqual({ id: '', from: 'header' });
    }
    expect(named({ header: '' })).toBeUndefined();
    for (const context of [
      'Ann',
      [],
      { player: null },
      { player: '' },
      { player: { name: 'Ann' } },
    ] as readonly Json[]) {
      expect(named({ context }), JSON.stringify(context)).toBeUndefined();
    }
  });

  it('has an id that may be a number, a decoded header, and a name only if that is one [12.1b, 12.1c]', () => {
    expect(named({ body: 'p1' })).toEqual({ id: 'p1', from: 'body' });
    expect(named({ body: { id: 7, name: '' } })).toEqual({ id: '7', from: 'body' });
    expect(named({ header: 'Ann%2C%20the%20%C3%A9lan' })).toEqual({ id: 'Ann, the élan', from: 'header' });
    expect(named({ context: { player: { id: 'p1', name: 'Ann', level: 3 } } })).toEqual({
      id: 'p1',
      name: 'Ann',
      from: 'context',
    });
    expect(named({ context: { player: 7 } })).toEqual({ id: '7', from: 'context' });
  });

  it('is the player of a member that is called almost as it should be, or a stranger [12.1h]', () => {
    const ben = { id: 'ben' };
    for (const member of ['player', 'Player', 'playerId', 'player_id', 'PLAYER-ID'])
      expect(playerMember({ input: 'Hi.', [member]: ben }), member).toEqual(ben);
    for (const member of ['plyer', 'palyer', 'playerr', 'plaeyrId', 'playerIds', 'playerDi', 'playerIe', 'player_ud'])
      expect(playerMember({ [member]: 'ben' }), member).toEqual({});
    expect(playerMember({ Player: 'ann', player: ben })).toEqual(ben);
    for (const body of [
      {},
      { players: 3 },
      { playerStats: {} },
      { layer: 2 },
      { playerHp: 1 },
      { Player: null },
      { playerId: '' },
      null,
    ])
      expect(playerMember(body), JSON.stringify(body)).toBeUndefined();
  });

  it('is told apart, except by a context [12.1e]', () => {
    expect(toldApart({ id: 'p1', from: 'body' })).toBe('p1');
    expect(toldApart({ id: 'p1', from: 'header' })).toBe('p1');
    expect(toldApart({ id: 'p1', from: 'context' })).toBeUndefined();
    expect(toldApart(undefined)).toBeUndefined();
  });
});

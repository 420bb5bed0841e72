import { describe, expect, it } from 'vitest';

import { isTold, playGuests } from '../../../src/cli/demo/guests.js';
import { scene } from '../../../src/cli/demo/scene.js';
import { createMindRequest } from '../../../src/body/mind-request.js';

const { guests } = scene;
const { teller, other, secret } = guests;

/** A server that recalls everything it was told, for those whom it takes for the same player. */
const recallingFor = (isSame: (teller: string, listener: string) => boolean) => {
  const told: { readonly by: string; readonly text: string }[] = [];
  const players: unknown[] = [];
  const request = createMindRequest({
    baseUrl: 'http://anima',
    fetch: (_, init) => {
      const { input, player } = JSON.parse(init.body as string) as { input: string; player: { id: string } };
      const memoriesRecalled = told.flatMap(({ by, text }) => (isSame(by, player.id) ? [text] : []));
      told.push({ by: player.id, text: input });
      players.push(player);
      return Promise.resolve(Response.json({ dialogue: 'I see.', memoriesRecalled }));
    },
  });
  return { request, players };
};

describe('the two guests of the demo', () => {
  it('are named to the server, and only the teller hears the secret again', async () => {
    const { request, players } = recallingFor((by, listener) => by === listener);
    const lines = await playGuests(guests, 'maren', request);
    expect(players).toEqual([teller, other, teller]);
    expect(lines.map(({ by, knows }) => [by, knows])).toEqual([
      [teller.name, false],
      [other.name, false],
      [teller.name, true],
    ]);
    expect(lines[0]?.says).toBe(secret);
    expect(isTold(guests, lines)).toBe(false);
  });

  it('are reported when a server tells the other one', async () => {
    const lines = await playGuests(guests, 'maren', recallingFor(() => true).request);
    expect(isTold(guests, lines)).toBe(true);
  });
});

import { differing, get, type Input, members, post, type Send, untilSaid } from './input.js';

/** A mind with this many large directives. */
const largeMind = async (npcId: string, send: Send): Promise<void> => {
  for (let n = 0; n < 8; n += 1) {
    const npcState = n % 2 === 0 ? members(9_900) : { notes: differing(490_000) };
    await send(post(`/npcs/${npcId}/directive`, { observation: 'Well?', npcState }));
  }
};

/** A mind whose turns end in large verdicts. */
const judgedMind = async (npcId: string, send: Send): Promise<string> => {
  let turnId = '';
  for (let n = 0; n < 4; n += 1) {
    const answer = (await send(
      post(`/npcs/${npcId}/verdict`, { observation: 'Well?', generatedOutput: `{${'"a":1,'.repeat(60_000)}"b":2}` }),
    )) as { turnId?: string };
    turnId = answer.turnId ?? '';
  }
  return turnId;
};

/** Waits until a replay of decisions in the background is over. */
const replayed =
  (trial: object): Input =>
  async (npcId, send) => {
    await largeMind(npcId, send);
    await judgedMind(npcId, send);
    const until = async (begun: unknown): Promise<void> => {
      const asked = get(`/npcs/${npcId}/replays/${(begun as { replayId: string }).replayId}`);
      await untilSaid(send, asked, (said) => (said as { status: string }).status !== 'running');
    };
    return { ...post(`/npcs/${npcId}/replays`, trial), until };
  };

/** A route that reads a large mind. */
const ofLargeMind =
  (path: string): Input =>
  async (npcId, send) => {
    await largeMind(npcId, send);
    return get(`/npcs/${npcId}/${path}`);
  };

/** Reads of a history, and checks of it. */
export const historyInputs: Readonly<Record<string, Input>> = {
  'a page of the history': ofLargeMind('history?limit=500'),
  'the state at a revision': ofLargeMind('state?asOf=6'),
  'the history as lines': ofLargeMind('history/export'),
  'the history as CSV': ofLargeMind('history/export?format=csv'),
  'a bundle': async (npcId, send) => {
    await largeMind(npcId, send);
    await send(post('/audit/checkpoints', {}));
    return get(`/npcs/${npcId}/history/bundle`);
  },
  'a search': async (npcId, send) => {
    await largeMind(npcId, send);
    return get(`/search?q=${encodeURIComponent('word Well')}&limit=100`);
  },
  'the turns of a mind': async (npcId, send) => {
    await judgedMind(npcId, send);
    return get(`/npcs/${npcId}/turns?limit=500`);
  },
  'why of a verdict': async (npcId, send) => get(`/npcs/${npcId}/verdicts/${await judgedMind(npcId, send)}/why`),
  'a checkpoint': async (npcId, send) => {
    for (let n = 0; n < 200; n += 1) await send(post('/npcs', { npcId: `${npcId}-${n}` }));
    return post('/audit/checkpoints', {});
  },
  'an audit': async (npcId, send) => {
    await largeMind(npcId, send);
    return post('/audit/verify', { npcIds: [npcId] });
  },
  'the breaks of a chain': ofLargeMind('chain-breaks'),
  'a replay': replayed({}),
  'a replay with texts of 490 kB': replayed({
    outputs: [{ turnId: 'x', generatedOutput: '{'.repeat(490_000) }],
  }),
};

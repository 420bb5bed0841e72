import { describe, expect, it } from 'vitest';

import { createMindClient } from '../../../src/body/mind-client.js';
import { createMindRequest, MindError, type FetchLike } from '../../../src/body/mind-request.js';
import { createScriptedInference } from '../../../src/body/scripted-inference.js';
import { scriptOf } from '../../../src/cli/demo/play-scene.js';
import { runDemo, type DemoSettings, type DemoWorld } from '../../../src/cli/demo/run-demo.js';
import { scene } from '../../../src/cli/demo/scene.js';
import { createFakeMind, type FakeDecide } from '../../support/fake-mind.js';

const lines = scene.acts.flatMap((act) => act.lines);

/** Decides as the scene expects. */
const asWritten: FakeDecide = ({ text, tape }) => {
  const refused = lines.find(({ says }) => says === tape.observation)?.refused;
  const common = { stateTransform: {}, memoryStore: [], signature: null, action: null };
  if (refused !== undefined)
    return {
      ...common,
      valid: false,
      dialogue: refused.because,
      code: refused.code,
      details: refused.rule === undefined ? {} : { drRuleId: refused.rule },
      refusedAction: { type: 'GIVE', target: 'traveller' },
    };
  return {
    ...common,
    valid: true,
    dialogue: text,
    signature: 'signed',
    action: { type: 'SPEAK', target: '' },
    memoryStore: [{ text: tape.observation, type: 'observation', importance: 0.5 }],
  };
};

const night = (more: { decide?: FakeDecide; settings?: Partial<DemoSettings>; world?: Partial<DemoWorld> } = {}) => {
  const fake = createFakeMind(more.decide ?? asWritten);
  const printed: string[] = [];
  const stopped: string[] = [];
  const away: FetchLike = () => Promise.reject(new TypeError('fetch failed'));
  const fetchFor = (url: string): FetchLike => (url.includes('nobody') ? away : fake.fetch);
  const settings: DemoSettings = {
    url: 'http://anima:8080',
    urlGiven: false,
    run: 'r1',
    scripted: true,
    pauseMs: 0,
    ...more.settings,
  };
  const world: DemoWorld = {
    requestTo: (url, key) =>
      createMindRequest({ baseUrl: url, fetch: fetchFor(url), ...(key === undefined ? {} : { key }) }),
    mindAt: (url, key) => createMindClient({ baseUrl: url, key, fetch: fetchFor(url) }),
    startServer: () =>
      Promise.resolve({
        url: 'http://started:9',
        pid: 7,
        stop: () => {
          stopped.push('http://started:9');
          return Promise.resolve();
        },
      }),
    adminKey: () => Promise.resolve('am_live_owner'),
    inference: createScriptedInference(scriptOf(scene)),
    print: (line) => printed.push(line),
    sleep: () => Promise.resolve(),
    now: () => Date.UTC(2026, 0, 1),
    signal: new AbortController().signal,
    ...more.world,
  };
  return { fake, printed, stopped, result: runDemo(scene, settings, world) };
};

describe('the demo', () => {
  it('plays every line in four requests and reports that all went as written', async () => {
    const { result } = night();
    const { ok, turns, refused, unexpected, server } = await result;
    expect(turns.filter(({ surprise }) => surprise !== null)).toEqual([]);
    expect({ ok, unexpected, server }).toEqual({
      ok: true,
      unexpected: 0,
      server: { url: 'http://anima:8080', startedByDemo: false },
    });
    expect(turns).toHaveLength(lines.length);
    expect(turns.every(({ requests }) => requests === 4)).toBe(true);
    expect(refused).toBe(lines.filter((line) => line.refused !== undefined).length);
  });

  it('prints each turn, then the history of one NPC, then the reasons of one refusal', async () => {
    const { result, printed } = night();
    await result;
    const text = printed.join('\n');
    const last = text.indexOf(`${String(lines.length).padStart(3)}  to `);
    const history = text.indexOf('npx anima history demo-maren-r1');
    const why = text.indexOf('npx anima why demo-maren-r1 ');
    expect(last).toBeGreaterThan(0);
    expect(history).toBeGreaterThan(last);
    expect(why).toBeGreaterThan(history);
    expect(text.slice(why)).toContain('verdict: REFUSED, ITEM_NOT_IN_INVENTORY');
    expect(text.slice(why)).toContain('the model wrote');
  });

  it('creates its own key without a rate limit, uses only that for the scene, and revokes it', async () => {
    const { result, fake } = night();
    await result;
    expect(fake.requests.find(({ path }) => path === '/keys')?.body).toEqual({
      name: 'demo r1',
      scopes: ['npc', 'rules', 'audit'],
      rateLimit: 'off',
      expiresAt: '2026-01-01T01:00:00.000Z',
    });
    const used = new Set(
      fake.requests.filter(({ path }) => path.startsWith('/npcs')).map(({ headers }) => headers.get('authorization')),
    );
    expect([...used]).toEqual(['Bearer am_live_k1_secret']);
    expect(fake.keys.size).toBe(0);
  });

  it('registers the rules of the house and of the watch, and does not touch an existing preset', async () => {
    const { result, fake } = night();
    fake.rulesets.set('rpg', { rulesetId: 'rpg', rulesetRules: [], template: null, version: 4 });
    await result;
    expect([...fake.rulesets.keys()].sort()).toEqual(['demo-inn', 'demo-watch', 'rpg']);
    expect(fake.rulesets.get('rpg')).toMatchObject({ version: 4 });
  });

  it('revokes its key also when a line cannot be played', async () => {
    const failing = { complete: () => Promise.reject(new Error('no model')) };
    const { result, fake } = night({ world: { inference: failing } });
    await expect(result).rejects.toThrow('no model');
    expect(fake.keys.size).toBe(0);
  });

  it('names every line that ended differently from the script', async () => {
    const agreeable: FakeDecide = (asked) => ({ ...asWritten(asked), valid: true });
    const { result, printed } = night({ decide: agreeable });
    const { ok, unexpected } = await result;
    expect(ok).toBe(false);
    expect(unexpected).toBe(lines.filter((line) => line.refused !== undefined).length);
    expect(printed.join('\n')).toContain('UNEXPECTED');
  });

  it('does not compare another model with the scene', async () => {
    const agreeable: FakeDecide = (asked) => ({ ...asWritten(asked), valid: true });
    const { result } = night({ decide: agreeable, settings: { scripted: false } });
    expect(await result).toMatchObject({ ok: true, unexpected: 0, why: null });
  });

  it('starts a server when none runs, plays there and stops it', async () => {
    const { result, stopped } = night({ settings: { url: 'http://nobody:8080' } });
    expect((await result).server).toEqual({ url: 'http://started:9', startedByDemo: true });
    expect(stopped).toEqual(['http://started:9']);
  });

  it('stops the server that it started also when it fails', async () => {
    const { result, stopped } = night({
      settings: { url: 'http://nobody:8080' },
      world: { adminKey: () => Promise.resolve(null) },
    });
    await expect(result).rejects.toThrow(/needs a key with the scope admin/);
    expect(stopped).toEqual(['http://started:9']);
  });

  it('starts no server when an address is given', async () => {
    const { result } = night({
      settings: { url: 'http://nobody:8080', urlGiven: true },
      world: { startServer: () => Promise.reject(new Error('must not start')) },
    });
    await expect(result).rejects.toThrow('No Anima server answers at http://nobody:8080');
  });

  it("passes on the server's refusal of a key that may not issue keys", async () => {
    const forbidden: FetchLike = (url) =>
      Promise.resolve(
        url.endsWith('/status')
          ? new Response('{"status":"online"}')
          : new Response('{"error":{"code":"FORBIDDEN","message":"This key lacks the scope."}}', { status: 403 }),
      );
    const { result } = night({
      world: { requestTo: (url) => createMindRequest({ baseUrl: url, fetch: forbidden }) },
    });
    await expect(result).rejects.toBeInstanceOf(MindError);
  });
});

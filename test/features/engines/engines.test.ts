import { beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemoryOwnerKeyFile } from '../../support/memory/owner-key-file.js';
import { createEngines, type Engines } from '../../../src/features/engines/engines.js';
import { chooseDefaultCortex, lookUpCortex } from '../../../src/features/engines/init-cortex.js';
import { firstStart } from '../../../src/features/keys/first-start.js';
import type { CortexEngine } from '../../../src/ports/cortex.js';
import { settle } from '../../support/settle.js';
import { type KeyServer, openKeyServer } from '../keys/key-scene.js';

const engine = (id: string, name: string, state = 'ready'): CortexEngine => ({
  id,
  name,
  runtime: 'http',
  parameters: 0,
  state: () => state,
  down: () => null,
  complete: () => Promise.resolve({ text: id, stats: {} }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
const scripted = engine('scripted', 'Scripted');
const openai = engine('openai', 'llama3.1:8b');
const command = (commandId: string) => ({
  tenant: 'local',
  actor: 'k1',
  commandId,
  correlationId: commandId,
  causationId: null,
});

describe('the engines of a server', () => {
  let events: MemoryEventStore;
  let server: KeyServer;
  const enginesOf = (keys: KeyServer, all = [scripted, openai], standard = openai): Engines =>
    createEngines(all, standard, (tenant) => keys.directory.tenant(tenant).cortexId);
  const choices = async (): Promise<unknown[]> =>
    (await events.read('tenant-local', { direction: 'forwards', from: 0, limit: 100 })).events.flatMap(
      ({ type, data }) => (type === 'CortexChosen' ? [data] : []),
    );

  beforeEach(async () => {
    events = new MemoryEventStore();
    server = await openKeyServer(events);
    await firstStart(server, new MemoryOwnerKeyFile());
  });

  it('are found by their name or the name of their model [6.2b]', () => {
    const engines = enginesOf(server);
    expect(engines.find('openai')).toBe(openai);
    expect(engines.find('llama3.1:8b')).toBe(openai);
    expect(engines.find('gpt')).toBeNull();
  });

  it('include the server’s default for a tenant who has chosen none [6.2b, 6.3b]', () => {
    expect(enginesOf(server).engineOf('local')).toBe(openai);
    for (const name of ['', 'api-integrated']) {
      expect(lookUpCortex(enginesOf(server), 'local', name)).toEqual({
        cortexId: 'openai',
        runtime: 'http',
        state: 'ready',
      });
    }
  });

  it('become a tenant’s default by one event, also on other servers [6.3b]', async () => {
    const other = await openKeyServer(events, { seed: 'other' });
    await chooseDefaultCortex(server, enginesOf(server), command('c1'), 'Scripted');
    await chooseDefaultCortex(server, enginesOf(server), command('c2'), 'scripted');
    await settle();
    expect(await choices()).toEqual([{ cortexId: 'scripted' }]);
    for (const each of [server, other]) {
      expect(enginesOf(each).engineOf('local')).toBe(scripted);
      expect(enginesOf(each).engineOf('studio')).toBe(openai);
    }
    expect(enginesOf(await openKeyServer(events)).engineOf('local')).toBe(scripted);
  });

  it('cannot become a default while they are not ready or do not exist [6.2c, 6.3c]', async () => {
    const engines = enginesOf(server, [scripted, engine('openai', 'm', 'It is down.')], scripted);
    expect((await chooseDefaultCortex(server, engines, command('c1'), 'openai')).state).toBe('It is down.');
    expect(await chooseDefaultCortex(server, engines, command('c2'), 'gpt')).toEqual({
      cortexId: 'gpt',
      runtime: 'none',
      state: 'No engine or model on this server has this name.',
    });
    expect(await choices()).toEqual([]);
  });

  it('do not replace a chosen engine that a server does not have [6.3d]', async () => {
    await chooseDefaultCortex(server, enginesOf(server), command('c1'), 'openai');
    const engines = enginesOf(server, [scripted], scripted);
    expect(() => engines.engineOf('local')).toThrow(
      expect.objectContaining({
        code: 'CORTEX_UNAVAILABLE',
        details: { cortexId: 'openai', reason: expect.stringContaining('"openai"') },
      }) as Error,
    );
    expect(lookUpCortex(engines, 'local', '')).toEqual({
      cortexId: 'openai',
      runtime: 'none',
      state: expect.stringContaining('does not have') as string,
    });
    expect(engines.engineOf('studio')).toBe(scripted);
  });
});

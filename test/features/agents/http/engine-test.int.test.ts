import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createEngines } from '../../../../src/features/engines/engines.js';
import { engineTestRoute } from '../../../../src/features/agents/http/engine-test.js';
import { fakeCortex } from '../../../support/fake-cortex.js';
import { gate } from '../../../support/gate.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';

describe('the route that tests an engine', () => {
  let app: TestApp;
  let say: () => Promise<string>;
  beforeEach(async () => {
    say = () => Promise.resolve('Hm.');
    const { engine } = fakeCortex(() => say());
    const clock = new ManualClock();
    const engines = createEngines([engine], engine, () => null);
    app = await startApp([engineTestRoute({ engines, ports: { clock }, agentWaitMs: 12_000 })], {
      clock,
      keys: { good: testPrincipal(), other: testPrincipal({ scopes: ['rules'] }) },
    });
  });
  afterEach(() => app.stop());
  const test = (cortexId: string, key = 'good') =>
    app.post(`/cortex/${cortexId}/test`, undefined, { authorization: `Bearer ${key}` });

  it('answers with the checks, and refuses unknown engines and keys [6.10a]', async () => {
    const { status, body } = await test('fake');
    expect([status, body.cortexId, body.name, body.passed]).toEqual([200, 'fake', 'Fake', false]);
    const checks = body.checks as { check: string }[];
    expect(checks.map(({ check }) => check)).toEqual(['reachable', 'schema', 'reasoning', 'context', 'speed', 'turn']);
    const unknown = await test('gpt');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'CORTEX_NOT_FOUND']);
    expect((await test('fake', 'other')).status).toBe(403);
  });

  it('runs one test at a time [6.10d]', async () => {
    const { opened, open } = gate();
    let calls = 0;
    say = async () => {
      calls += 1;
      await opened;
      return 'Hm.';
    };
    const first = test('fake');
    await expect.poll(() => calls).toBe(1);
    const second = await test('fake');
    expect([second.status, second.body.error.code, second.headers.get('retry-after')]).toEqual([503, 'BUSY', '10']);
    open();
    expect((await first).status).toBe(200);
    expect((await test('fake')).status).toBe(200);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { activityRoutes } from '../../../../src/features/search/http/activity.js';
import type { Ports } from '../../../../src/ports/ports.js';
import { startApp, type TestApp } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';

let app: TestApp;
beforeEach(async () => {
  const clock = new ManualClock();
  const readModels = { reachedPosition: () => Promise.resolve(), counts: () => Promise.resolve([]) };
  app = await startApp(activityRoutes({ ports: { clock, readModels } as unknown as Ports }), { clock });
});
afterEach(() => app.stop());

describe('GET /activity', () => {
  it.each(['', 'step=6h', 'step=1d', 'to=2026-03-01T10:20:00Z'])(
    'has 24 buckets without from: %s [10.14e]',
    async (query) => {
      const { status, body } = await app.get(`/activity?${query}`);
      expect([status, body.buckets.length]).toEqual([200, 24]);
      expect(Date.parse(body.from)).toBe(Date.parse(body.buckets[0].at));
    },
  );

  it.each(['to=9999-12-31T23:30:00Z', 'to=0000-01-01T05:00:00Z', 'from=9999-12-31T20:00:00Z&to=9999-12-31T23:30:00Z'])(
    'refuses times that no answer can name: %s [10.14e]',
    async (query) => {
      const { status, body } = await app.get(`/activity?${query}`);
      expect([status, body.error?.code]).toEqual([400, 'SCHEMA_INVALID']);
    },
  );
});

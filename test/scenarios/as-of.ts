import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Reply } from '../support/api.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** The events in the life of a mind; each names a request. */
type Step =
  | { readonly does: 'store' | 'decide'; readonly text: string }
  | { readonly does: 'confirm' | 'clear' | 'archive' | 'register' };

const text = fc.constantFrom('the player stole a ruby', 'it rained', 'the gate is old', 'soup was served');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constantFrom('store', 'decide'), text }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constantFrom('confirm', 'clear', 'archive', 'register') }) },
);

/** The state of a mind at a moment never changes: the same on every profile. */
export const asOfScenarios = (profile: string, open: OpenServer, numRuns: number): void => {
  describe(`a mind as of a moment on ${profile}`, () => {
    const running = projectingServer(open);
    let minds = 0;

    const play = async (path: string, step: Step): Promise<void> => {
      const { api } = running;
      const done = async (reply: Promise<Reply>): Promise<void> => {
        const { status, text: answer } = await reply;
        expect(status, answer).toBeLessThan(300);
      };
      switch (step.does) {
        case 'store':
          return done(api.post(`${path}/memory`, { text: step.text }));
        case 'decide': {
          const said = { dialogue: 'Hm.', stateDelta: { last: step.text }, memoryStore: [{ text: step.text }] };
          return done(api.post(`${path}/verdict`, { observation: step.text, generatedOutput: JSON.stringify(said) }));
        }
        case 'confirm': {
          const listed = (await api.get(`${path}/memory`)).body as readonly { text: string; confirmed: boolean }[];
          const open = listed.find(({ confirmed }) => !confirmed);
          return open === undefined ? undefined : done(api.post(`${path}/memory`, { text: open.text }));
        }
        case 'clear':
          return done(api('DELETE', `${path}/memory/clear`));
        case 'archive':
          await api('DELETE', path);
          return;
        case 'register':
          return done(
            api.post('/npcs', { npcId: path.slice('/npcs/'.length), data: { hp: minds }, persona: `p${minds}` }),
          );
      }
    };

    /** Everything that can be read of a mind as of a moment. */
    const seen = async (path: string, asOf: string): Promise<readonly unknown[]> => {
      const { api } = running;
      const query = `asOf=${encodeURIComponent(asOf)}`;
      const replies = [
        await api.get(`${path}/state?${query}`),
        await api.get(`${path}/memory?${query}`),
        await api.post(`${path}/memory/recall`, { query: 'a thief took my jewelry', asOf }),
      ];
      return replies.map(({ status, body, text: answer }) => {
        expect(status, answer).toBe(200);
        return body as unknown;
      });
    };

    it('never changes, whatever happens to it later [10.1h]', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
          const path = `/npcs/lasting-${String((minds += 1))}`;
          await play(path, { does: 'register' });
          const then = new Map<string, readonly unknown[]>();
          for (const one of steps) {
            await play(path, one);
            const history = (await running.api.get(`${path}/history?direction=backwards&limit=1`)).body as {
              readonly events: readonly { readonly revision: number; readonly at: string }[];
            };
            const [last] = history.events;
            if (last === undefined) continue;
            // A moment must be over before anything else may happen within its millisecond.
            while (Date.now() <= Date.parse(last.at) + CLOCK_MS) await new Promise((resolve) => setTimeout(resolve, 1));
            for (const moment of [String(last.revision), last.at])
              if (!then.has(moment)) then.set(moment, await seen(path, moment));
          }
          const isStoring = steps.some(({ does }) => does === 'store' || does === 'decide');
          const recalled = [...then.values()].map(([, , memories]) => (memories as readonly unknown[]).length);
          expect(Math.max(...recalled) > 0).toBe(isStoring);
          for (const [moment, before] of then) expect(await seen(path, moment), moment).toEqual(before);
        }),
        { numRuns, endOnFailure: true },
      );
    }, 240_000);
  });
};

/** The maximum difference between the clocks of the servers of one machine. */
const CLOCK_MS = 2;

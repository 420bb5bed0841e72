import type { Completed, Completion, CortexEngine } from '../../src/ports/cortex.js';

/** An engine that answers as the test specifies, and counts its calls. */
export const fakeCortex = (say: (asked: Completion, signal: AbortSignal) => Promise<string>) => {
  const asked: Completion[] = [];
  let state = 'ready';
  let down: string | null = null;
  const engine: CortexEngine = {
    id: 'fake',
    name: 'Fake',
    runtime: 'test',
    parameters: 0,
    state: () => state,
    down: () => down,
    complete: async (completion, signal): Promise<Completed> => {
      asked.push(completion);
      return { text: await say(completion, signal), stats: {} };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return {
    engine,
    asked,
    set: (now: string) => {
      state = now;
      down = now === 'ready' ? null : now;
    },
    /** Its cached state is too old to count. */
    forget: () => (down = null),
  };
};

import { condition, defineUpdate, proxyLocalActivities, setHandler } from '@temporalio/workflow';

import type { BareActivities } from './bare-activities.js';

/** How many updates a workflow answers before it ends: as many as a turn has steps. */
const UPDATES = 4;

const { nothing } = proxyLocalActivities<BareActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 1 },
});

const answering = async (answer: (payload: unknown) => Promise<unknown>): Promise<void> => {
  let left = UPDATES;
  setHandler(defineUpdate<unknown, [unknown]>('step'), async (payload) => {
    const answered = await answer(payload);
    left -= 1;
    return answered;
  });
  await condition(() => left === 0);
};

/** Answers each update with its payload. */
export const bareUpdate = (): Promise<void> => answering((payload) => Promise.resolve(payload));

/** The same, through a local activity that does nothing. */
export const bareLocalActivity = (): Promise<void> => answering(nothing);

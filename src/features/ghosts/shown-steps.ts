import { nullWhenLevelLost, type PlayDeps, type PlayedSession, settingFor } from './play-slice.js';
import type { RecordedStep } from './steps-log.js';

/** The names of a session's goals; null if its level is lost, although its steps are not. Propagates errors from the levels. */
const goalNames = async (deps: Pick<PlayDeps, 'levels'>, session: PlayedSession): Promise<readonly string[] | null> => {
  const setting = await settingFor(deps, session).catch(nullWhenLevelLost);
  return setting && setting.level.goals.map(({ id }) => id);
};

/** Steps in a response: without the parts that are only needed to continue playing. Propagates errors from the levels. */
export const shownSteps = async (
  deps: Pick<PlayDeps, 'levels'>,
  session: PlayedSession,
  steps: readonly RecordedStep[],
): Promise<readonly object[]> => {
  const goals = session.driver === 'remote' ? await goalNames(deps, session) : null;
  return steps.map(({ checkpoint: _, remote, ...step }) => {
    if (remote === undefined) return step;
    const { reached, ...told } = remote.told;
    if (reached === undefined || goals === null) return { ...step, told };
    return { ...step, told: { ...told, reached: reached.map((position) => goals[position] ?? '') } };
  });
};

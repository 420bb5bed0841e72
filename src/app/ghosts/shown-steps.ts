import { type PlayDeps, type PlayedSession, settingFor } from './play-slice.js';
import type { RecordedStep } from './steps-log.js';

/** Steps as they are shown (contract 9.6, 9.9): without what only playing on needs. Raises what the levels raise. */
export const shownSteps = async (
  deps: Pick<PlayDeps, 'levels'>,
  session: PlayedSession,
  steps: readonly RecordedStep[],
): Promise<readonly object[]> => {
  const goals = session.driver === 'remote' ? (await settingFor(deps, session)).level.goals : [];
  return steps.map(({ checkpoint: _, remote, ...step }) => {
    if (remote === undefined) return step;
    const { reached, ...told } = remote.told;
    const names = reached?.map((position) => goals[position]?.id ?? '');
    return { ...step, told: { ...told, ...(names === undefined ? {} : { reached: names }) } };
  });
};

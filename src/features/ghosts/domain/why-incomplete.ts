/** How a session ended, according to its results. */
export type ShownEnding = {
  readonly resultsStatus: string;
  readonly resultsErrors: readonly string[];
  readonly resultsTimedOut: boolean;
};

/** Why a session is no pass, whatever its tests say: it ended before it had done all. Null where it had, or is not over. */
export const whyIncomplete = ({ resultsStatus, resultsErrors, resultsTimedOut }: ShownEnding): string | null => {
  if (resultsStatus === 'failed') return ['It could not go on.', ...resultsErrors].join(' ');
  if (resultsStatus === 'stopped') return 'It was stopped.';
  return resultsTimedOut ? 'Its time was over before it had done all.' : null;
};

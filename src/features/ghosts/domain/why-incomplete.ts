/** How a session ended, according to its results. */
export type ShownEnding = {
  readonly resultsStatus: string;
  readonly resultsErrors: readonly string[];
  readonly resultsTimedOut: boolean;
};

/** Why a session does not pass, whatever its tests report: it ended early. Null if it was completed or is still running. */
export const whyIncomplete = ({ resultsStatus, resultsErrors, resultsTimedOut }: ShownEnding): string | null => {
  if (resultsStatus === 'failed') return ['It failed.', ...resultsErrors].join(' ');
  if (resultsStatus === 'stopped') return 'It was stopped.';
  return resultsTimedOut ? 'It timed out.' : null;
};

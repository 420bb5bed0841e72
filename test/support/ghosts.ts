import type { JsonObject } from '../../src/kernel/base/json.js';

/** A recorded step, as the server returns it. */
export type GhostStep = {
  readonly step: number;
  readonly revision: number;
  readonly turns: unknown;
  readonly action: unknown;
};
export type GhostResults = {
  readonly resultsTests: readonly {
    readonly testName: string;
    readonly testPassed: boolean;
    readonly testSkipped?: true;
    readonly testError: string | null;
  }[];
  readonly resultsMetrics: readonly (readonly [string, number])[];
  readonly resultsFindings: readonly {
    readonly n: number;
    readonly kind: string;
    readonly subject: string;
    readonly detail: string;
  }[];
  readonly resultsPartial?: true;
} & JsonObject;

/** What two sessions with one seed have in common: everything except times, ids and hashes. */
export const comparableSteps = (steps: readonly GhostStep[]): readonly object[] =>
  steps.map((step) => ({ ...step, at: undefined, ms: undefined }));

export const comparableResults = ({
  resultsSessionId: _,
  resultsDuration: __,
  resultsMetrics,
  resultsTests,
  resultsFindings,
  ...rest
}: GhostResults): object => ({
  ...rest,
  resultsFindings: resultsFindings.filter(({ kind }) => kind !== 'slow_step'),
  resultsTests: resultsTests.map(({ testName, testPassed, testError }) => ({ testName, testPassed, testError })),
  resultsMetrics: resultsMetrics.filter(([name]) => !/^(?:stepsPerSecond$|stepMs\.|slowestStep$)/.test(name)),
});

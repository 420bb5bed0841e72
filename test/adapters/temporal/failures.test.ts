import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';

import { updateFailureOf } from '../../../src/adapters/temporal/failures.js';
import { UPDATE_LATE, PROCESS_BUSY, RUN_ENDING, STEP_FAILED } from '../../../src/kernel/processes/process-step.js';

const failedWith = (type: string, details: unknown[] = []): unknown =>
  updateFailureOf(new WorkflowUpdateFailedError('Workflow Update failed', failure(type, details)));

const failure = (type: string, details: unknown[]): ApplicationFailure =>
  ApplicationFailure.create({ message: 'of the server or the workflow', type, nonRetryable: true, details });

it.each([
  ['the run was about to end', RUN_ENDING, 'again'],
  ['the run ended before it answered', 'AcceptedUpdateCompletedWorkflow', 'again'],
  ['the worker left the update out of its reply', 'UnprocessedUpdate', 'again'],
  ['too many wait for the process', PROCESS_BUSY, 'full'],
  ['nobody waited any more', UPDATE_LATE, 'late'],
])('resends an update, or explains why not, when %s', (_, type, kind) => {
  expect(failedWith(type)).toEqual({ kind });
});

it('returns what a step threw, to the right caller', () => {
  expect(failedWith(STEP_FAILED, ['token'])).toMatchObject({ kind: 'threw', token: 'token' });
  expect(failedWith('TypeError')).toMatchObject({ kind: 'threw', token: null });
});

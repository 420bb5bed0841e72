import { convertToCommandError } from '@eventstore/db-client/dist/utils/CommandError.js';
import { type ServiceError, Metadata, status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';

import { isBetweenEvents } from '../../../src/adapters/eventstore/store-failures.js';

const failedWith = (code: status): Error => {
  const error: ServiceError = Object.assign(new Error('failed'), { code, details: 'failed', metadata: new Metadata() });
  return convertToCommandError(error);
};

it.each([
  ['a position between two events', status.UNKNOWN, true],
  ['a stream that a proxy cut', status.INTERNAL, false],
  ['a server without memory', status.RESOURCE_EXHAUSTED, false],
])('distinguishes %s from the other failures that are unknown to the client', (_, code, is) => {
  expect(isBetweenEvents(failedWith(code))).toBe(is);
});

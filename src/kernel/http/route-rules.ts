import type { RouteDefinition } from './route.js';

/** One media type, or the range of all. */
const MEDIA_TYPE = /^(\*\/\*|[a-z0-9.+-]+\/[a-z0-9.+-]+)$/;

/** Why a definition cannot work, as a sentence; null if it is valid. */
const faultOf = ({
  method,
  scope,
  body,
  bodyLimit,
  bytes,
  responses,
  writesTo,
  keepAnswer,
  restore,
  admits,
}: RouteDefinition): string | null => {
  const streams = Object.values(responses).some(({ stream }) => stream !== undefined);
  if (streams && method !== 'GET' && restore === undefined)
    return 'streams its answer, which only GET does: a stream cannot be kept for repeats';
  if (admits !== undefined && scope !== null) return 'takes a grant and a key at once';
  if (bytes === undefined) {
    const isJson = Object.values(responses).every(
      ({ contentType = 'application/json' }) => contentType === 'application/json',
    );
    return isJson || method !== 'POST' || scope === null
      ? null
      : 'answers POST with what is not JSON, which cannot be kept for repeats';
  }
  if (method === 'GET' || method === 'DELETE') return `takes bytes with ${method}, which has no body`;
  if (body !== undefined || bodyLimit !== undefined) return 'takes bytes and JSON at once';
  if (writesTo !== undefined || keepAnswer !== undefined || restore !== undefined)
    return 'takes bytes, so it has no Idempotency-Key to reserve a place or keep an answer for';
  const wrong = [bytes].flat().find(({ accepts }) => !MEDIA_TYPE.test(accepts));
  return wrong === undefined ? null : `takes bytes of ${wrong.accepts}, which is no media type`;
};

/** @throws Error for a definition that cannot work */
export const requireSound = (definition: RouteDefinition): void => {
  const fault = faultOf(definition);
  if (fault !== null) throw new Error(`${definition.operationId} ${fault}`);
};

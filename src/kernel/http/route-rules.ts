import { isRepeatable, type RouteDefinition } from './route.js';

/** One media type, or the range of all types. */
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
    return 'streams its response, but only a GET route may: a stream cannot be stored for repeated requests';
  if (admits !== undefined && scope !== null) return 'accepts both a grant and a key';
  if (bytes === undefined) {
    const isJson = Object.values(responses).every(
      ({ contentType = 'application/json' }) => contentType === 'application/json',
    );
    return isJson || !isRepeatable({ method, scope })
      ? null
      : `answers ${method} with something other than JSON, which cannot be stored for repeated requests`;
  }
  if (method === 'GET' || method === 'DELETE') return `accepts bytes with ${method}, which has no body`;
  if (body !== undefined || bodyLimit !== undefined) return 'accepts both bytes and JSON';
  if (writesTo !== undefined || keepAnswer !== undefined || restore !== undefined)
    return 'accepts bytes, so it has no Idempotency-Key for which it could reserve a slot or store a response';
  const wrong = [bytes].flat().find(({ accepts }) => !MEDIA_TYPE.test(accepts));
  return wrong === undefined ? null : `accepts bytes of ${wrong.accepts}, which is not a media type`;
};

/** @throws Error for a definition that cannot work */
export const requireSound = (definition: RouteDefinition): void => {
  const fault = faultOf(definition);
  if (fault !== null) throw new Error(`${definition.operationId} ${fault}`);
};

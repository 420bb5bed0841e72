import { inSlices } from '../../concurrency/in-slices.js';
import { readJsonSlices } from '../../base/read-json.js';
import { announcesBody, DEFAULT_BODY_LIMIT, jsonTypesOf, openBody, readBody, requireJson } from '../guard/read-body.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';

/**
 * Reads a body of JSON, or opens one of bytes.
 * @throws Rejection BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON; ClientGone
 */
export const takeBody = (definition: RouteDefinition): RequestMiddleware => {
  const { bytes: accepts, bodyLimit = DEFAULT_BODY_LIMIT } = definition;
  if (accepts !== undefined) {
    const accepted = [accepts].flat();
    return (ctx, next) => {
      ctx.state.bytes = openBody(ctx.req, ctx.res, accepted);
      return next();
    };
  }
  const types = jsonTypesOf(definition);
  return async (ctx, next) => {
    if (announcesBody(ctx.req)) {
      const bytes = await readBody(ctx.req, ctx.res, bodyLimit);
      if (bytes.length > 0) {
        requireJson(ctx.req, types);
        ctx.state.json = await inSlices(readJsonSlices(bytes));
      }
    }
    return next();
  };
};

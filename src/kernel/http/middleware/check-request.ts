import type { Written } from '../../read-models/written.js';
import { makeCommandId } from '../../streams/command-id.js';
import type { Clock } from '../../../ports/clock.js';
import type { Random } from '../../../ports/random.js';
import { compileDropNulls } from '../guard/null-members.js';
import { compileMisspelt } from '../guard/misspelt.js';
import { compileDeciding } from '../guard/misspelt-member.js';
import { compilePathParams } from '../guard/path-params.js';
import { compileQuery } from '../guard/query.js';
import { checkOf, schemaRejection } from '../guard/schema-check.js';
import type { RequestMiddleware } from '../request-state.js';
import type { RouteDefinition } from '../route.js';
import { addHeaders, memberWarning } from '../warning.js';

/** Reads the parameters of path and query. @throws Rejection ID_INVALID, SCHEMA_INVALID */
export const readTarget = ({ path, params, query }: RouteDefinition): RequestMiddleware => {
  const readParams = compilePathParams(path, params);
  const readQuery = compileQuery(query);
  return (ctx, next) => {
    const { state } = ctx;
    state.params = readParams((ctx['captures'] as readonly string[] | undefined) ?? []);
    const { query: found, issues } = readQuery(state.query);
    state.search = found;
    state.issues = issues;
    return next();
  };
};

export type CheckDeps = {
  readonly clock: Clock;
  readonly random: Random;
  /** Null while the ports are not open. */
  readonly written: Written | null;
};

/**
 * Whether an `Accept` header names exactly this media type. A range such as any type does not ask for a stream, and neither does a type with the
 * weight 0 (RFC 9110, 12.5.1).
 */
export const acceptsType = (accept: string | undefined, type: string): boolean =>
  (accept ?? '').split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });

/** The stream that a client may request instead of JSON. */
export const onDemandOf = ({ responses }: RouteDefinition): string | undefined =>
  Object.values(responses).find(({ onDemand }) => onDemand !== undefined)?.onDemand;

/** Checks the body against its schema, and builds the request that the handler gets. @throws Rejection SCHEMA_INVALID, MEMBER_MISSPELT */
export const checkRequest = (definition: RouteDefinition, { clock, random, written }: CheckDeps): RequestMiddleware => {
  const { body, method, deciding } = definition;
  // In a merge patch `null` removes.
  const dropNulls = body === undefined || method === 'PATCH' ? null : compileDropNulls(body);
  const findMisspelt = body === undefined ? null : compileMisspelt(body);
  const checkBody = body === undefined ? null : checkOf('body', body);
  const requireDeciding = deciding === undefined ? null : compileDeciding(deciding);
  const onDemand = onDemandOf(definition);
  return (ctx, next) => {
    const { state } = ctx;
    const { json, issues, principal } = state;
    if (json.mayHoldNull) dropNulls?.(json.value);
    const meant = findMisspelt?.(json.value) ?? [];
    if (meant.length > 0) addHeaders(ctx, memberWarning(meant));
    const bodyIssues = checkBody?.(json.value) ?? null;
    if (bodyIssues !== null || issues.length > 0) throw schemaRejection([...issues, ...(bodyIssues ?? [])]);
    requireDeciding?.(json.value);
    const { headers } = ctx.req;
    state.call = {
      params: state.params,
      query: state.search,
      body: json.value,
      bytes: state.bytes,
      principal,
      granted: state.granted,
      requestId: state.requestId,
      commandId: makeCommandId(clock, random),
      keyed: false,
      resumed: false,
      done: false,
      wantsStream: onDemand !== undefined && acceptsType(headers.accept, onDemand),
      wrote: written?.position(principal.keyId) ?? 0,
      noteWritten: (position) => written?.noted(principal.keyId, position),
      header: (name) => {
        const value = headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(', ') : value;
      },
      koa: ctx,
    };
    return next();
  };
};

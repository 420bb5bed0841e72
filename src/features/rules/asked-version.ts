import { defined } from '../../kernel/base/defined.js';
import { Rejection } from '../../kernel/base/rejection.js';

/**
 * The version of a set that a query asks for; null if it names none.
 * @throws Rejection SCHEMA_INVALID for a digest without a version
 */
export const askedVersion = (
  rulesetId: string,
  { version, digest }: { readonly version?: number; readonly digest?: string },
): { readonly rulesetId: string; readonly version: number; readonly digest?: string } | null => {
  if (version !== undefined) return { rulesetId, version, ...defined({ digest }) };
  if (digest === undefined) return null;
  throw new Rejection('SCHEMA_INVALID', {
    details: { issues: [{ in: 'query', pointer: '/digest', message: 'needs a version, too' }] },
  });
};

import { Rejection } from '../base/rejection.js';
import type { Call } from './route.js';

/** The revision that a read must include; undefined without the header. @throws Rejection HEADER_INVALID */
export const minRevision = (call: Call): number | undefined => {
  const header = call.header('anima-min-revision');
  if (header === undefined) return undefined;
  if (!/^\d{1,15}$/.test(header)) {
    throw new Rejection('HEADER_INVALID', {
      message: 'Anima-Min-Revision must be a revision: 0 or a positive whole number.',
      details: { header: 'Anima-Min-Revision' },
    });
  }
  return Number(header);
};

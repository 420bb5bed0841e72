import { rejections } from '../src/kernel/http/rejections.js';
import { statuses, statusTitle } from '../src/kernel/http/statuses.js';
import { GENERATED } from './markdown.js';

const INTRODUCTION = `
Every error code of the API, grouped by HTTP status, with its standard message. A response may have a more specific one. Codes are stable;
messages may be improved at any time.

See [Errors](conventions/errors.md) for the shape of an error and for retries.
`;

/** The reference page of all error codes. */
export const errorPage = (): string => {
  const codes = Object.keys(statuses) as (keyof typeof statuses)[];
  const sections = [...new Set(Object.values(statuses))].sort().map((status) => {
    const lines = codes
      .filter((code) => statuses[code] === status)
      .map((code) => `- \`${code}\`: ${rejections[code].replaceAll('<', '&lt;')}`);
    return [`## ${String(status)} ${statusTitle(status)}`, '', ...lines].join('\n');
  });
  return `${['# Error codes', GENERATED, INTRODUCTION.trim(), ...sections].join('\n\n')}\n`;
};

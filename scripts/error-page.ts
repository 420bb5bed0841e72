import { rejections } from '../src/kernel/http/rejections.js';
import { statuses } from '../src/kernel/http/statuses.js';
import { GENERATED, markdownTable, tableField } from './markdown.js';

const INTRODUCTION = `
Every error code of the API, grouped by HTTP status, with its standard message. A response may have a more specific message. Program against
the code: codes are stable, messages may be improved at any time.

Retry a request when the response has \`Retry-After\`. Responses with 429 and 503 always have it, other refusals only when the same request may
succeed later. See [Errors](conventions/errors.md) for the shape of an error and for retries.
`;

const titles: Readonly<Record<number, string>> = {
  400: 'The request is malformed',
  401: 'The API key is missing or invalid',
  403: 'The API key lacks a permission',
  404: 'Something does not exist',
  405: 'The method is not supported',
  409: 'The request conflicts with the current state',
  410: 'Too late',
  413: 'Too much data',
  415: 'The media type is not supported',
  422: 'The content is refused',
  429: 'Too many requests: retry after `Retry-After`',
  500: 'The server failed: retry if the request is idempotent',
  503: 'Temporarily unavailable: retry after `Retry-After`',
};

/** The reference page of all error codes. */
export const errorPage = (): string => {
  const codes = Object.keys(statuses) as (keyof typeof statuses)[];
  const sections = [...new Set(Object.values(statuses))].sort().map((status) => {
    const title = titles[status];
    if (title === undefined) throw new Error(`no title for HTTP ${String(status)}`);
    const rows = codes
      .filter((code) => statuses[code] === status)
      .map((code) => [`\`${code}\``, tableField(rejections[code]).replaceAll('<', '&lt;')]);
    return [`## ${String(status)} ${title}`, '', ...markdownTable(['Code', 'Message'], rows)].join('\n');
  });
  return `${['# Error codes', GENERATED, INTRODUCTION.trim(), ...sections].join('\n\n')}\n`;
};

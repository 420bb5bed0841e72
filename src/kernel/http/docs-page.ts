import { type RejectionCode, rejections } from '../base/rejection.js';
import { apiVersion } from './api-version.js';
import { statuses } from './statuses.js';

/**
 * What the docs page may do: load scripts and styles of this server and send requests to it, and nothing else. The viewer draws its icons from
 * `data:` images. It needs neither inline styles nor `eval`, so neither is allowed.
 */
export const docsPagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

const errorRow = (code: RejectionCode): string =>
  `<tr><td>${statuses[code]}</td><td><code>${code}</code></td><td>${escape(rejections[code])}</td></tr>`;

/** The docs page: a viewer of `/openapi.json`, and the table of all error codes. */
export const docsPage = (): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Anima ${apiVersion}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css"><link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/swagger-ui-bundle.js" defer></script><script src="/docs/docs.js" type="module"></script></head>
<body>
<nav><a href="/openapi.json">openapi.json</a><a href="#errors">All error codes</a></nav>
<noscript>The list of routes needs JavaScript. The same information as data: <a href="/openapi.json">openapi.json</a>.</noscript>
<div id="api"></div>
<section id="errors">
<h2>Errors</h2>
<p>Every error is <code>{"error": {"code", "message", "details", "requestId"}}</code>. Only a 403 of <code>POST /rules</code> is <code>{"error": "&lt;sentence&gt;"}</code>.</p>
<p>A refusal with <code>Retry-After</code> is temporary: send the same request again after that many seconds. A <code>POST</code> with an <code>Idempotency-Key</code> is done once, however often it is sent.
Without the key, a request that opens a turn or records something may have been done although its answer was lost. A repeat does it again.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>
${(Object.keys(rejections) as RejectionCode[]).map(errorRow).join('\n')}
</tbody></table>
</section>
</body>
</html>
`;

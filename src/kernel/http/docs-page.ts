import { apiVersion } from './api-version.js';
import { rejections } from './rejections.js';
import { statuses, statusTitle } from './statuses.js';

/**
 * The content security policy of the docs pages: they may load scripts and styles from this server and send requests to it, and nothing else. The
 * viewer draws its icons from `data:` images. It needs neither inline styles nor `eval`, so neither is allowed.
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

const head = (title: string, more = ''): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>
<link rel="icon" href="data:,">
${more}<link rel="stylesheet" href="/docs/docs.css"></head>`;

/** The API for humans: a viewer of `/openapi.json`. */
export const docsPage = (): string => `${head(
  `Anima ${apiVersion}`,
  `<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script><script src="/docs/docs.js" type="module"></script>
`,
)}
<body>
<nav><a href="/openapi.json">openapi.json</a><a href="/docs/errors">Error codes</a></nav>
<noscript>This page needs JavaScript. <a href="/openapi.json">openapi.json</a> holds the same information as data.</noscript>
<div id="api"></div>
</body>
</html>
`;

const codes = Object.keys(statuses) as (keyof typeof statuses)[];

const errorRow = (code: keyof typeof statuses): string =>
  `<tr id="${code}"><td><code>${code}</code></td><td>${escape(rejections[code])}</td></tr>`;

const ofStatus = (
  status: number,
): string => `<h2 id="${String(status)}">${String(status)} ${statusTitle(status).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</h2>
<table><thead><tr><th>Code</th><th>Meaning</th></tr></thead><tbody>
${codes
  .filter((code) => statuses[code] === status)
  .map(errorRow)
  .join('\n')}
</tbody></table>`;

const ordered = [...new Set(Object.values(statuses))].sort((one, other) => one - other);

/** Every error code with its meaning, grouped by status. Each status and each code is an anchor. */
export const errorsPage = (): string => `${head(`Error codes of Anima ${apiVersion}`)}
<body>
<nav><a href="/docs">Routes</a><a href="/openapi.json">openapi.json</a></nav>
<main>
<h1>Error codes</h1>
<p>The body of every error is <code>{"error": {"code", "message", "details", "requestId"}}</code>, with one exception: a 403 of <code>POST /rules</code> is <code>{"error": "&lt;message&gt;"}</code>.</p>
<p>An error with <code>Retry-After</code> is temporary: send the same request again after that many seconds. A <code>POST</code> with an <code>Idempotency-Key</code> takes effect once, however often you send it.
Without the key, a request whose response was lost may already have opened a turn or recorded events, and a repeat does so a second time.</p>
<p>By status: ${ordered.map((status) => `<a href="#${String(status)}">${String(status)}</a>`).join(' ')}</p>
${ordered.map(ofStatus).join('\n')}
</main>
</body>
</html>
`;

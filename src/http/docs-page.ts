import type { TSchema } from '@sinclair/typebox';

import { rejections } from '../domain/shared/rejection.js';
import { apiVersion } from './api-version.js';
import { withNullMembers } from './guard/null-members.js';
import { templatePath } from './openapi.js';
import type { RouteDefinition } from './route.js';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

const schemaBlock = (title: string, schema: TSchema | undefined): string =>
  schema === undefined
    ? ''
    : `<details><summary>${title}</summary><pre>${escape(JSON.stringify(schema, null, 2))}</pre></details>`;

const responseLine = ([status, { description, schema, contentType }]: [
  string,
  RouteDefinition['responses'][number],
]): string =>
  `<li><b>${status}</b> ${escape(description)}${contentType === undefined ? '' : ` <code>${escape(contentType)}</code>`}${schemaBlock('schema', schema)}</li>`;

const routeSection = (definition: RouteDefinition): string => {
  const { operationId, method, path, summary, description, scope, ext, deprecated, query, body, responses } =
    definition;
  const marks = [
    ext === true ? '(ext)' : '',
    deprecated === undefined ? '' : `(deprecated since ${escape(deprecated)})`,
  ]
    .filter((mark) => mark !== '')
    .join(' ');
  return `<section id="${escape(operationId)}">
<h3><code>${method} ${escape(templatePath(path))}</code> ${marks}</h3>
<p>${escape(summary)}. ${scope === null ? 'No key needed.' : `Scope <code>${scope}</code>.`}</p>
${description === undefined ? '' : `<p>${escape(description)}</p>`}
${schemaBlock('query', query)}${schemaBlock('body', body === undefined ? undefined : withNullMembers(body))}
<ul>${Object.entries(responses).map(responseLine).join('')}</ul>
</section>`;
};

const errorRow = ([code, [status, message]]: [string, readonly [number, string]]): string =>
  `<tr><td>${status}</td><td><code>${code}</code></td><td>${escape(message)}</td></tr>`;

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h3{margin:2rem 0 .25rem}code,pre{font:14px/1.4 ui-monospace,monospace}pre{background:#f4f4f4;padding:.75rem;overflow:auto}
table{border-collapse:collapse}td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}pre{background:#222}td,th{border-color:#333}a{color:#8ab4f8}}`;

/** The interface as one page that needs nothing else: every route with its schemas, and the table of all error codes (contract 1.5). */
export const docsPage = (routes: readonly RouteDefinition[]): string => {
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  const sections = tags.map(
    (tag) =>
      `<h2>${escape(tag)}</h2>\n${routes
        .filter((definition) => definition.tag === tag)
        .map(routeSection)
        .join('\n')}`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Anima ${apiVersion}</title><style>${style}</style></head>
<body>
<h1>Anima ${apiVersion}</h1>
<p>The mind of game NPCs, as a service. Send <code>Authorization: Bearer &lt;key&gt;</code> and JSON. The same as data: <a href="/openapi.json">openapi.json</a>.
Routes marked (ext) are additions of this server. <a href="#errors">All error codes</a>.</p>
${sections.join('\n')}
<h2 id="errors">Errors</h2>
<p>Every error is <code>{"error": {"code", "message", "details", "requestId"}}</code>, but each 403 of <code>POST /rules</code>, which is <code>{"error": "&lt;sentence&gt;"}</code>.</p>
<p>A refusal with <code>Retry-After</code> passes: send the same request again after so many seconds. A <code>POST</code> with an <code>Idempotency-Key</code> is done once however often it is sent.
Without one, a request that opens a turn, or records something, may have done so although its answer was lost, and does it again when it is repeated.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>
${Object.entries(rejections).map(errorRow).join('\n')}
</tbody></table>
</body>
</html>
`;
};

// Starts the viewer (swagger-ui) with this server's OpenAPI document. It is a separate file because the page runs no inline scripts.

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColours();
dark.addEventListener('change', followColours);

/** The viewer's own search covers only tags and paths; this one also covers methods, names, summaries and descriptions. */
const search = (tagged, phrase) => {
  const words = phrase.toLowerCase().split(/\s+/);
  const texts = (operation) => [
    operation.get('path'),
    operation.get('method'),
    ...['operationId', 'summary', 'description'].map((member) => operation.getIn(['operation', member], '')),
  ];
  return tagged
    .map((group, tag) =>
      group.update('operations', (operations) =>
        operations.filter((operation) => {
          const text = [tag, ...texts(operation)].join(' ').toLowerCase();
          return words.every((word) => text.includes(word));
        }),
      ),
    )
    .filter((group) => group.get('operations').size > 0);
};

/** Turns `#<operationId>`, which links of this server use, into the viewer's own `#/<tag>/<operationId>`. */
const expandFragment = ({ paths }) => {
  const name = location.hash.slice(1);
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const named = operations.find(({ operationId }) => operationId === name);
  if (named !== undefined) history.replaceState(null, '', `#/${encodeURIComponent(named.tags[0])}/${name}`);
};

/** The values of schemas that say no more than their type. */
const plain = { string: 'string', number: 0, integer: 0, boolean: false, array: [], null: null };

/**
 * A value for a schema with its required members only, so that a request form starts small.
 * @param open the references that lead here; a schema that contains itself stops at the second visit
 */
const smallest = (schema, named, open = []) => {
  if (typeof schema !== 'object' || schema === null) return {};
  const { $ref, allOf = [], oneOf, anyOf, properties = {}, required = [] } = schema;
  if ($ref !== undefined)
    return open.includes($ref) ? {} : smallest(named[$ref.split('/').pop()], named, [...open, $ref]);
  for (const name of ['const', 'example', 'default']) if (name in schema) return schema[name];
  for (const name of ['examples', 'enum']) if (schema[name]?.length > 0) return schema[name][0];
  const parts = [...allOf, ...(oneOf ?? anyOf ?? []).slice(0, 1)].map((part) => smallest(part, named, open));
  const members = required.map((name) => [name, smallest(properties[name], named, open)]);
  const [type] = [schema.type ?? (members.length > 0 ? 'object' : undefined)].flat();
  if (type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => smallest(schema.items, named, open));
  if (type !== 'object' && type !== undefined) return schema.minimum ?? plain[type];
  const [value] = parts;
  if (parts.length > 0 && (typeof value !== 'object' || value === null)) return value;
  return Object.assign({}, ...parts, Object.fromEntries(members));
};

/** Gives each JSON request body without an example its smallest one. The viewer would fill in every optional member. */
const withSmallExamples = (spec) => {
  const named = spec.components?.schemas ?? {};
  for (const path of Object.values(spec.paths)) {
    for (const { requestBody } of Object.values(path)) {
      const json = requestBody?.content?.['application/json'];
      if (json?.schema === undefined || 'example' in json || 'examples' in json) continue;
      json.example = smallest(json.schema, named);
    }
  }
  return spec;
};

const options = {
  deepLinking: true,
  filter: true,
  plugins: [() => ({ fn: { opsFilter: search } })],
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // The scopes that allow a route are an extension (`x-scopes`).
  showExtensions: true,
  // The list of all schemas is below the routes, and closed at first.
  defaultModelsExpandDepth: 0,
  // The page forgets the key when it is closed.
  persistAuthorization: false,
  // Otherwise the viewer sends the document to a validator on the internet.
  validatorUrl: null,
};

const show = (spec) => {
  expandFragment(spec);
  SwaggerUIBundle({ spec: withSmallExamples(spec), dom_id: '#api', ...options });
};

const answer = await fetch('/openapi.json');
if (answer.ok) show(await answer.json());
else
  document.querySelector('#api').textContent =
    `The server did not send the list of routes (status ${answer.status}). Reload the page.`;

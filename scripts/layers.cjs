// Which folder may import which. .dependency-cruiser.cjs makes its rules from these lists.
//
// A row applies to the files in and below its folder, except those in a folder with a separate row. Every file may import from its own folder.
// `imports` names what else it may import: a folder with a row means the files of that row, any other folder means everything in it. `<feature>` is
// the feature of the importing file, `<any>` is any feature. `null` allows the complete product. `because` is the message for a violation.

/**
 * Features in order, from those that need no other to those that need most. Each names the features that it builds on, and may import their
 * dependencies as well.
 */
const features = [
  ['keys', [], 'tenants, their API keys with scopes and limits, and the keys that this server signs with'],
  ['engines', ['keys'], 'the language models of this server, and which of them speaks for a tenant'],
  ['rules', [], 'rule sets: instructions and prohibitions, what they decide, and the bridge that checks an action'],
  ['levels', ['rules'], 'levels: taken from maps, and found by name'],
  ['npcs', ['rules'], 'minds: their events and state, histories, the live event stream, breaks of a chain'],
  ['turns', ['npcs'], 'turns and acts: steps, prompts, verdicts and their signatures, and why a turn ended as it did'],
  ['memory', ['turns'], 'memories confirmed, recalled, retracted, and traced to where they come from'],
  ['agents', ['memory', 'engines'], 'turns that the server plays from beginning to end'],
  ['cards', ['memory'], 'character cards: read into minds, and made from them'],
  ['souls', ['memory'], 'souls: minds as signed documents, and the archive that keeps them'],
  ['replays', ['turns'], 'decisions made again from what was recorded, trials of other rules, coverage of rules'],
  ['ghosts', ['levels', 'turns', 'engines'], 'ghost sessions: played, reported, reproduced, compared'],
  ['proofs', ['npcs'], 'the signed log of all heads, checkpoints, and histories that prove themselves'],
  ['search', ['npcs'], 'what was said to and by minds, found by its words, and how much happened'],
];

/** The foundation of the features. Each of these folders imports those before it. */
const foundation = [
  ['src/kernel/base', 'values and functions that need nothing else: JSON, texts, names, bounds, refusals'],
  ['src/kernel/model-text', 'what models write: reasoning, special tokens, calls of functions, answers as objects'],
  ['src/kernel/crypto', 'digests and ids made from them, Merkle trees, the forms of keys and signatures, CIDs, PNG'],
  ['src/ports', 'promises that adapters keep: event store, read models, process runtime, clock, randomness'],
  ['src/kernel/concurrency', 'how work shares the event loop, time and memory: mutex, semaphores, time limits, pauses'],
  ['src/kernel/streams', 'folds, stream writers, snapshots, commands, looking up earlier ones, hash chain, histories'],
  [
    'src/kernel/processes',
    'what a state machine is, processes folded from their streams, one step, limits of runtimes',
  ],
  ['src/kernel/read-models', 'feeding read models, rebuilding and waiting for them, the relay'],
  ['src/kernel/http', 'the HTTP server: middleware, what a route is, answers and refusals, OpenAPI, the docs page'],
];
const upTo = (last) =>
  foundation.slice(0, foundation.findIndex(([folder]) => folder === last) + 1).map(([folder]) => folder);
const values = upTo('src/kernel/crypto');
const domains = 'src/features/<any>/domain';
const useCases = 'src/features/<any>';

const oneStep = ['src/kernel/streams', 'src/kernel/processes', 'activities'];
const adapter = (name, holds, ...more) => ({
  folder: `src/adapters/${name}`,
  holds,
  imports: ['src/adapters/shared', ...upTo('src/kernel/concurrency'), ...more],
  because:
    'An adapter keeps a promise and uses no other adapter, so each can be removed alone. A runtime knows one step of a process, and no state machine.',
});

const rows = [
  ...foundation.map(([folder, holds], index) => ({
    folder,
    holds,
    imports: foundation.slice(0, index).map(([earlier]) => earlier),
    because: 'The kernel knows no feature, and each of its folders only those before it in scripts/layers.cjs.',
  })),
  {
    folder: 'src/features/<feature>/domain',
    holds: 'what a feature decides, as pure functions: events with their decoder, state, commands',
    imports: [...values, 'src/ports', domains],
    because: 'A domain is pure: it decides from its arguments alone, and is tested without anything else.',
  },
  {
    folder: 'src/features/<feature>',
    holds: 'use cases: what the server does with the domain, through ports',
    imports: ['src/kernel', 'src/ports', domains, useCases, 'workflows', 'projections'],
    because: 'A use case runs against ports, and does not know its callers: routes, commands and roles.',
  },
  {
    folder: 'src/features/<feature>/http',
    holds: 'routes: one definition validates requests, and makes OpenAPI and the docs page',
    imports: ['src/kernel', 'src/ports', domains, useCases, 'projections'],
    because:
      'A route turns a request into a command or a query. It takes what it needs, and imports no other feature’s routes.',
  },
  {
    folder: 'src/features/<feature>/cli',
    holds: 'commands of `anima`',
    imports: [
      'src/kernel',
      'src/ports',
      domains,
      useCases,
      'src/features/<feature>/http',
      'src/cli/shared',
      'src/body',
    ],
    because:
      'A command is a client of the server. It shares src/cli/shared with the commands of other features, and nothing else.',
  },
  {
    folder: 'workflows',
    holds: 'a pure state machine for each process',
    imports: [...values, 'src/kernel/processes/state-machine.ts', domains],
    because:
      'A state machine decides from state and input alone, so any runtime can drive it and a replay computes it again.',
  },
  {
    folder: 'workflows/temporal',
    holds: 'what Temporal runs: the workflow of a process and of a shard, and what they and a worker say to each other',
    imports: [
      'src/kernel/base',
      'src/kernel/processes/process-limits.ts',
      'src/kernel/processes/process-step.ts',
      'src/ports/process-runtime.ts',
    ],
    because:
      'Temporal’s workflows drive every process. Knowing a state machine would bind open workflows to that version of it.',
  },
  {
    folder: 'activities',
    holds: 'one step of any process, or of a batch of them',
    imports: [...upTo('src/kernel/processes'), 'workflows/temporal'],
    because:
      'The step is the same for all processes and under every runtime: a state machine is passed in, never imported.',
  },
  {
    folder: 'activities/effects',
    holds: 'what the steps of each process need from the world: facts for its decisions, and its effects',
    imports: [...upTo('src/kernel/read-models'), domains, useCases, 'workflows', 'projections'],
    because: 'Effects bring a state machine and its feature together; no step and no feature depends on them.',
  },
  {
    folder: 'projections',
    holds: 'one value for each read model',
    imports: [...values, 'src/ports', 'src/kernel/read-models/row-order.ts', domains],
    because: 'A read model is a function of events. A port says what a projection is; the rest is the domain.',
  },
  adapter('shared', 'what several adapters have in common', 'src/kernel/streams', 'src/kernel/read-models'),
  adapter(
    'embedded',
    'SQLite files, the files of the archive, a runtime with timers and a queue',
    'src/adapters/files',
    ...oneStep,
  ),
  adapter('temporal', 'the runtime that drives processes on Temporal', 'workflows/temporal', ...oneStep),
  adapter('eventstore', 'the event store on EventStoreDB'),
  adapter('embedders', 'vectors from texts: by the bundled model, a model in a folder, or another server'),
  adapter('kafka', 'the feed on Kafka'),
  adapter('postgres', 'PostgreSQL: read models, snapshots, archive, idempotency keys, limits, the relay’s place'),
  adapter('vectors', 'exact search among vectors'),
  adapter('files', 'files beside the data: the owner key, the secret'),
  adapter('cortex', 'engines that continue prompts: the scripted one, model servers, local models'),
  adapter('archives', 'archives of others: an IPFS node, guarded fetches from gateways'),
  adapter('prometheus', 'metrics'),
  adapter('system', 'clock and randomness of the machine'),
  {
    folder: 'src/config',
    holds: 'settings; its `env.ts` is the only reader of the environment',
    imports: upTo('src/ports'),
    because: 'Settings are read before anything is opened.',
  },
  {
    folder: 'src/body',
    holds: 'the TypeScript client of the protocol; it speaks HTTP like any game',
    imports: [],
    because:
      'The body speaks the protocol over HTTP like any game. An import from the server would be a second way in.',
  },
  {
    folder: 'src/roles',
    holds: 'what a server process does: answer requests, drive processes, make read models, relay; lists all routes',
    imports: ['src/adapters', 'src/features', 'src/kernel', 'src/ports', 'src/config', 'activities', 'projections'],
    because:
      'A profile says which roles there are and what they run on. A role that knows its profile could run on no other.',
  },
  {
    folder: 'src/profiles',
    holds: 'which adapters are opened together',
    imports: [
      'src/roles',
      'src/adapters',
      'src/kernel',
      'src/ports',
      'src/config',
      'activities',
      'workflows',
      'projections',
    ],
    because: 'A profile is opened by a server or a command, and needs neither.',
  },
  {
    folder: 'src/server',
    holds: 'the server: socket first, then its profile and its roles; lists all processes',
    imports: null,
  },
  {
    folder: 'src/cli',
    holds: 'the `anima` program: lists all commands, has the demo and what works without a server',
    imports: null,
  },
  {
    folder: 'src/cli/shared',
    holds: 'what commands have in common: client, terminal, files, texts',
    imports: ['src/kernel/base', 'src/ports', 'src/adapters/files', 'src/config', 'src/body'],
    because: 'Commands of all features use this, so it knows none of them.',
  },
  {
    folder: 'examples',
    holds: 'programs of a studio: a headless game, and a check of souls in Python',
    imports: ['src/body'],
    because: 'An example is what a studio could write: it has the client of the protocol, and nothing of the server.',
  },
  { folder: 'test', holds: 'mirrors the tree; `test/contracts` has one suite for each port', imports: null },
  { folder: 'bench', holds: 'benchmarks: the figures of docs/explanation/performance', imports: null },
];

module.exports = { features, rows };

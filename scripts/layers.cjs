// Which folder may import which. .dependency-cruiser.cjs makes its rules from this list, and `npm run generate` the table in docs/architecture.md.
// `imports` names folders or files besides the folder itself; `null` allows anything. `because` is what a broken rule says.

const core = ['src/ports', 'src/domain'];
const foundation = ['src/concurrency', ...core];
const feature = (name, holds, imports, because) => ({
  rule: `app-${name}`,
  folder: `src/app/${name}`,
  holds,
  imports: [...imports, ...foundation],
  because,
});
const adapter = (
  name,
  holds,
  because = 'An adapter fulfils a port and uses no other adapter: each can be removed alone.',
) => ({
  rule: `adapter-${name}`,
  folder: `src/adapters/${name}`,
  holds,
  imports: ['src/adapters/shared', ...foundation],
  because,
});

const whatRuntimesImport = [
  'src/adapters/shared',
  'activities/advance.ts',
  'activities/process-activities.ts',
  'workflows/state-machine.ts',
  'workflows/process-step.ts',
  'workflows/process-limits.ts',
  'src/app/processes',
  'src/app/streams/command-id.ts',
  ...foundation,
];
const whatRolesImport = [
  'src/adapters',
  'src/app',
  'src/http',
  'src/config',
  'activities',
  'workflows',
  'projections',
  ...foundation,
];
const runtimesKnowNoStateMachine =
  'A runtime calls `advance` and knows what a process is, but never reads a state machine.';

module.exports = [
  {
    rule: 'domain-stands-alone',
    folder: 'src/domain',
    holds: 'what does not depend on where it runs: events, states, deciders, rules, the bridge',
    imports: ['src/ports/event-publisher.ts'],
    because: 'The domain does not depend on where it runs: it is pure, and testable without anything else.',
  },
  {
    rule: 'ports-speak-of-the-domain',
    folder: 'src/ports',
    holds: 'promises to keep: event store, read models, process runtime, clock, randomness',
    imports: ['src/domain'],
    because: 'A port is a promise in the words of the domain. Knowing its users or its adapters would bind it to them.',
  },
  {
    rule: 'concurrency-knows-no-work',
    folder: 'src/concurrency',
    holds: 'how work shares the event loop, time and memory: mutex, semaphores, time limits, pauses',
    imports: core,
    because: 'Every layer with effects uses these primitives, so they must not depend on any of them.',
  },
  {
    rule: 'state-machines-are-pure',
    folder: 'workflows',
    holds: 'one pure state machine for each process, and what a state machine is',
    imports: ['src/domain'],
    because:
      'A state machine decides from state and input alone, so any runtime can drive it and a replay recomputes it.',
  },
  {
    rule: 'workflows-import-no-state-machine',
    files: ['workflows/temporal/', 'workflows/process-step.ts', 'workflows/process-limits.ts'],
    holds:
      'the Temporal workflows, of one process and of a shard, what they and a worker say to each other, and the limits of both runtimes',
    imports: ['src/ports/process-runtime.ts', 'src/domain/shared'],
    because:
      'Temporal’s workflows drive every process. Knowing a state machine would bind open workflows to that version of it.',
  },
  {
    rule: 'projections-are-values',
    folder: 'projections',
    holds: 'one value for each read model',
    imports: core,
    because: 'A read model is a function of events. The ports define what a Projection is; the rest is the domain.',
  },
  feature(
    'streams',
    'folds, stream writers, snapshots, commands and finding them again, hash chain, histories',
    [],
    'There is one way to append to a stream and read it, whatever is in it.',
  ),
  feature(
    'processes',
    'processes folded from their streams, and what their steps need from the world',
    ['src/app/streams', 'workflows/state-machine.ts'],
    'The steps of all processes are the same: a state machine is passed in, never imported.',
  ),
  feature(
    'minds',
    'minds folded from their streams, rule sets and their coverage, breaks of a chain',
    ['src/app/streams'],
    'A mind exists without turns: what it is must not depend on what is done with it.',
  ),
  feature(
    'turns',
    'steps of turns, acts, finding a turn again, signed verdicts',
    ['src/app/minds', 'src/app/processes', 'src/app/streams', 'workflows'],
    'Turns are made of minds and processes; nothing here keeps keys or read models.',
  ),
  feature(
    'memory',
    'memories confirmed, taken back and traced, what of them is visible, recall by meaning, embedding',
    ['src/app/minds', 'src/app/read-models', 'src/app/streams', 'projections'],
    'Memories belong to a mind, not to a turn; what is visible of them is read from their list.',
  ),
  feature(
    'keys',
    'API keys and signing keys: issued, found, followed',
    ['src/app/streams'],
    'A request is authenticated before anything of a mind is read.',
  ),
  feature(
    'cortex',
    'the engines of this server, and which of them speaks for a tenant',
    ['src/app/keys', 'src/app/streams'],
    'What an engine says goes into turns; choosing one needs the tenant and nothing of a mind.',
  ),
  feature(
    'read-models',
    'feeding read models, rebuilding and waiting for them, the relay',
    [],
    'A read model is made from events alone: it knows only what the feed brings.',
  ),
  feature(
    'souls',
    'souls: made from minds, signed, verified, and the archive that keeps them',
    [
      'src/app/minds',
      'src/app/memory',
      'src/app/processes',
      'src/app/read-models',
      'src/app/streams',
      'projections',
      'workflows',
    ],
    'A soul is made from a mind; no turn and no engine has a part in it.',
  ),
  feature(
    'cards',
    'character cards: taken over by minds, and made of them',
    ['src/app/minds', 'src/app/memory', 'src/app/read-models', 'src/app/streams', 'projections'],
    'A card is a mind in another form; no turn and no soul has a part in it.',
  ),
  feature(
    'replays',
    'decisions taken again from what was recorded, by the rules of then or by others',
    ['src/app/minds', 'src/app/processes', 'src/app/streams', 'projections', 'workflows'],
    'A replay reads what a mind has done; it depends on what decides, and on nothing that serves a request.',
  ),
  feature(
    'search',
    'what was said in all minds of a tenant, found by its words',
    ['projections'],
    'A search reads what was recorded; it decides nothing, and knows minds only by what they said.',
  ),
  feature(
    'audit',
    'the log of heads: gathered, signed, handed on, proven; histories that prove themselves',
    ['src/app/minds', 'src/app/processes', 'src/app/streams', 'projections', 'workflows'],
    'A proof speaks of events and hashes: it depends on no turn, and on nothing that serves a request.',
  ),
  feature(
    'levels',
    'levels: taken from maps, found by name, made of names that nobody registered',
    ['src/app/streams'],
    'A level is a place: no mind, no turn and no session has a part in it.',
  ),
  feature(
    'ghosts',
    'ghost sessions: played slice by slice, reported, reproduced, compared',
    [
      'src/app/cortex',
      'src/app/levels',
      'src/app/turns',
      'src/app/minds',
      'src/app/processes',
      'src/app/read-models',
      'src/app/streams',
      'projections',
      'workflows',
    ],
    'The minds of a session live in it alone: nothing here reads or writes a mind of the studio.',
  ),
  {
    rule: 'activities-use-ports',
    folder: 'activities',
    holds: 'one step of any process, of one or of a batch, made from ports',
    imports: ['src/app/processes', 'src/app/streams', 'workflows', ...foundation],
    because: 'Effects are made from ports, so the same step runs under every engine.',
  },
  {
    rule: 'effects-use-features',
    files: ['activities/effects/'],
    holds: 'what the steps of each process need from the world: facts for its decisions, and its effects',
    imports: ['src/app', 'projections', 'workflows', ...foundation],
    because: 'Effects bring a state machine and its feature together; no step and no feature depends on them.',
  },
  {
    rule: 'http-translates',
    folder: 'src/http',
    holds: 'routes: one definition validates, and makes OpenAPI and the docs page',
    imports: ['src/app', 'projections', ...foundation],
    because: 'A route turns a request into a command or a query; where things are stored is not its business.',
  },
  adapter('shared', 'what several adapters have in common', 'Shared code knows none of the adapters that use it.'),
  {
    ...adapter('embedded', 'SQLite files, the files of the archive, a runtime with timers and a queue'),
    imports: ['src/adapters/files', 'src/adapters/shared', ...foundation],
  },
  {
    rule: 'the-embedded-runtime-drives-one-step',
    files: ['src/adapters/embedded/process-runtime.ts', 'src/adapters/embedded/process-actor.ts'],
    holds: 'the runtime that drives processes in this server process',
    imports: whatRuntimesImport,
    because: runtimesKnowNoStateMachine,
  },
  {
    rule: 'the-temporal-runtime-drives-one-step',
    files: ['src/adapters/temporal/'],
    holds: 'the runtime that drives processes on Temporal',
    imports: [
      ...whatRuntimesImport,
      'activities/nearest-deadlines.ts',
      'activities/step-batch.ts',
      'workflows/temporal/process-batch.ts',
    ],
    because: runtimesKnowNoStateMachine,
  },
  adapter('eventstore', 'the event store on EventStoreDB'),
  adapter('embedders', 'vectors from texts: by the model that comes along, a model in a folder, or another server'),
  adapter('kafka', 'the feed on Kafka'),
  adapter('postgres', 'PostgreSQL: read models, snapshots, archive, idempotency keys, limits, the relay’s place'),
  adapter('vectors', 'exact search among vectors'),
  adapter('files', 'files beside the data: the owner key, the secret'),
  adapter('cortex', 'engines that continue prompts: the scripted one, model servers, local models'),
  adapter('archives', 'archives of others: an IPFS node, gateways that are fetched from with care'),
  adapter('prometheus', 'metrics'),
  adapter('system', 'clock and randomness of the machine'),
  {
    rule: 'config-knows-nothing',
    folder: 'src/config',
    holds: 'settings; its `env.ts` is the only reader of the environment',
    imports: core,
    because: 'Settings are read before anything is opened.',
  },
  {
    rule: 'body-is-a-client',
    folder: 'src/body',
    holds: 'the TypeScript client of the protocol; it speaks HTTP like any game',
    imports: [],
    because:
      'The body speaks the protocol over HTTP like any game. An import from the server would be a second way in.',
  },
  {
    rule: 'roles-know-no-profile',
    folder: 'src/roles',
    holds: 'what a process does: answer requests, drive processes, make read models, relay',
    imports: whatRolesImport,
    because:
      'A profile says which roles there are and what they run on. A role that knows its profile could run on no other.',
  },
  {
    rule: 'profiles-open-ports',
    folder: 'src/profiles',
    holds: 'which adapters are opened together',
    imports: ['src/roles', ...whatRolesImport],
    because: 'A profile is opened by a server or a command, and needs neither.',
  },
  {
    rule: 'examples-are-clients',
    folder: 'examples',
    holds: 'programs of a studio: a headless game, and a check of souls in Python',
    imports: ['src/body'],
    because: 'An example is what a studio could write: it has the client of the protocol, and nothing of the server.',
  },
  { folder: 'src/server', holds: 'the server: socket first, then its profile and its roles', imports: null },
  { folder: 'src/cli', holds: 'the `anima` command and the demo', imports: null },
  { folder: 'test', holds: 'mirrors the tree; `test/contracts` has one suite for each port', imports: null },
  { folder: 'bench', holds: 'what docs/performance.md quotes', imports: null },
];

import { projections } from '../../projections/registry.js';
import { Body, GivenUp } from './body.js';
import { Cluster, TURN_DEADLINE_MS } from './cluster.js';
import { Draw } from './draw.js';
import { violationsOf } from './invariants.js';
import { faultsEndMs, leapsOf, type Schedule } from './schedule.js';
import { EPOCH_MS, VirtualTime } from './virtual-time.js';
import { Witness } from './witness.js';
import { sha256Hex } from '../../src/kernel/crypto/sha256.js';

/** How long the effects of the last fault may last, in milliseconds: late messages, leases, waits after refusals. */
const SETTLING_MS = 70_000;
/** How long bodies, and then the read models, may take once nothing fails any longer, in milliseconds. */
const BODIES_MS = 4 * TURN_DEADLINE_MS;
const READ_MODELS_MS = 60_000;
/** In how many runs responses are evicted. In the others every repeat must get the first response. */
const DROPPING = 0.5;

/** How long the runtime may take to end abandoned turns, in milliseconds. */
const EXPIRING_MS = TURN_DEADLINE_MS + 120_000;

export type Outcome = {
  readonly violations: readonly string[];
  readonly acknowledged: number;
  readonly events: number;
  readonly refusals: ReadonlyMap<string, number>;
  readonly virtualMs: number;
  /** A hash of everything that was recorded, and when it ended: the same for the same schedule. */
  readonly fingerprint: string;
};

/** Runs one schedule to its end in virtual time, and checks the invariants. The same schedule has the same outcome. */
export const simulate = async (schedule: Schedule): Promise<Outcome> => {
  const draw = new Draw(`run ${schedule.mode} ${String(schedule.seed)}`);
  const time = new VirtualTime(draw.fork('order'));
  const release = time.takeOverYields();
  try {
    return await run(schedule, draw, time);
  } finally {
    release();
  }
};

const run = async (schedule: Schedule, draw: Draw, time: VirtualTime): Promise<Outcome> => {
  const dropsAnswers = draw.fork('budget').chance(DROPPING);
  const losesAnswers = schedule.faults.some((fault) => fault.kind === 'lossy' && fault.part === 'database');
  const witness = new Witness(dropsAnswers || losesAnswers);
  using cluster = new Cluster(
    time,
    draw.fork('cluster'),
    { ...schedule, dropsAnswers },
    (what) => witness.violated(`a defect: ${what}`),
    (key) => witness.expiredKeys.add(key),
  );
  const leaps = leapsOf(schedule);
  const calmFromMs = schedule.faults.length === 0 ? 0 : faultsEndMs(schedule) + SETTLING_MS;
  let playing = schedule.bodies.length;
  for (const plan of schedule.bodies) {
    const body = new Body({ cluster, time, witness, calmFromMs, leaps }, plan, draw.fork(plan.name));
    body.play().then(
      () => (playing -= 1),
      (error: unknown) => {
        playing -= 1;
        if (!(error instanceof GivenUp))
          witness.violated(`a body failed: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
      },
    );
  }
  if (!(await time.run(() => playing === 0, calmFromMs + BODIES_MS))) {
    witness.violated(`${String(playing)} bodies are not done`);
  }
  const { store, readModels } = cluster;
  const open = await store.openProcesses();
  // A server that was a day ahead has set deadlines for the next day. A single one is still ahead.
  const dueMs = schedule.mode === 'alone' ? [] : open.map(({ due }) => (due === null ? 0 : Date.parse(due) - EPOCH_MS));
  const lastDueMs = Math.max(time.nowMs, ...dueMs);
  if (open.length > 0) await time.run(() => false, lastDueMs + EXPIRING_MS);
  const last = await store.lastPosition();
  let behind = projections.length;
  for (const projection of projections) {
    void readModels.reachedPosition(projection, last, READ_MODELS_MS).then((reached) => (behind -= reached ? 1 : 0));
  }
  if (!(await time.run(() => behind === 0, time.nowMs + READ_MODELS_MS + 1_000)))
    witness.violated('the read models stay behind');
  const violations = [...witness.violations, ...(await violationsOf(cluster, witness))];
  const hashes = (await store.readAll(0, last + 1)).map(({ meta }) => meta.hash);
  const fingerprint = sha256Hex([...hashes, String(time.nowMs)].join());
  const { acks, refusals } = witness;
  return { violations, acknowledged: acks.length, events: last, refusals, virtualMs: time.nowMs, fingerprint };
};

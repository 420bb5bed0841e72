import { MemoryEventStore } from '../support/memory/event-store.js';
import { EmbeddedSnapshots } from '../../src/adapters/embedded/snapshots.js';
import { Projector } from '../../src/kernel/read-models/projector.js';
import { projections } from '../../projections/registry.js';
import { MemoryReadModels } from '../support/memory/read-models.js';
import { seededRandom } from '../support/seeded-random.js';
import type { Draw } from './draw.js';
import { SimulatedRuntime } from './runtime.js';
import { ownEventStore, sharedEventStore } from './event-store.js';
import { IdempotencyDatabase, idempotencyOver } from './idempotency-database.js';
import { Machine } from './machine.js';
import { Link, type Part, type Weather } from './network.js';
import { readModelsOver, writerOver } from './read-models.js';
import { type FiledReservation, ownIdempotency } from './own-idempotency.js';
import type { Reply, Request } from './request.js';
import type { Fault, Schedule } from './schedule.js';
import { createServer, type SimulatedServer } from './server.js';
import { snapshotsOver } from './snapshots.js';
import type { VirtualTime } from './virtual-time.js';

/** After how long an open turn expires, in milliseconds: longer than all faults together delay a body. */
export const TURN_DEADLINE_MS = 300_000;
/** How often a server that cannot start tries again, in milliseconds. */
const START_RETRY_MS = 500;
/** How long until a client notices that no server listens, in milliseconds. */
const REFUSED_MS = 5;

/** How many streams a server caches: fewer than exist, or more. */
const LANES_KEPT = [1, 2, 10_000] as const;

/** How many revisions are between two snapshots: few enough that most minds have some. */
/** How many responses are evicted, as if the tenant's responses exceeded their budget. */
const DROPPED = 0.25;
const SNAPSHOT_EVERY = [1, 3, 10] as const;

/** `running`: the Idempotency-Keys of a single server, by id. */
type Place = { machine: Machine; server: SimulatedServer | null; incarnation: number; readonly running: Set<string> };

/** The key in an id that `idOf` made. */
const keyOf = (id: string): string => (JSON.parse(id) as readonly [string, string])[1];

/** Everything between the bodies and the disks: servers that come and go, and their shared components. */
export class Cluster implements Disposable {
  readonly store = new MemoryEventStore();
  readonly snapshots = EmbeddedSnapshots.open(':memory:');
  readonly readModels: MemoryReadModels;
  readonly #time: VirtualTime;
  readonly #draw: Draw;
  readonly #schedule: Schedule;
  readonly #onDefect: (what: string) => void;
  readonly #onExpired: (key: string) => void;
  readonly #trouble = new Map<Part, number>();
  readonly #hangsUntilMs = new Map<Part, number>();
  readonly #weather: Weather = {
    trouble: (part) => this.#trouble.get(part) ?? 0,
    hangsUntilMs: (part) => this.#hangsUntilMs.get(part) ?? 0,
  };
  readonly #drops: () => boolean;
  readonly #database: IdempotencyDatabase;
  readonly #keys = new Map<string, FiledReservation>();
  readonly #runtime: SimulatedRuntime | null;
  readonly #places: Place[];
  #projectorMachine: Machine | null = null;

  constructor(
    time: VirtualTime,
    draw: Draw,
    schedule: Schedule & { readonly dropsAnswers: boolean },
    onDefect: (what: string) => void,
    onExpired: (key: string) => void,
  ) {
    this.#onExpired = onExpired;
    this.#time = time;
    this.#draw = draw;
    this.#schedule = schedule;
    this.#onDefect = onDefect;
    const dropped = draw.fork('dropped answers');
    this.#drops = () => schedule.dropsAnswers && dropped.chance(DROPPED);
    this.#database = new IdempotencyDatabase(this.#drops);
    this.readModels = new MemoryReadModels(new Machine('database', time, 0).clock);
    const workers = () => this.#places.flatMap((place) => this.#workerAt(place));
    this.#runtime =
      schedule.mode === 'alone' ? null : new SimulatedRuntime(time, draw.fork('runtime'), this.store, workers);
    this.#places = schedule.clocksMs.map((offMs, index) => this.#place(String(index), 0, offMs));
    if (this.#runtime !== null) this.#startProjector(0);
    for (const fault of schedule.faults) time.after(fault.atMs, () => this.#suffer(fault));
  }

  /** Sends a request to some server. Null when no response arrives, which leaves the outcome unknown. */
  send(request: Request, draw: Draw, timeoutMs: number): Promise<Reply | null> {
    const place = draw.pick(this.#places as [Place, ...Place[]]);
    return new Promise((resolve) => {
      this.#time.after(timeoutMs, () => resolve(null));
      const { machine } = place;
      const link = new Link('clients', new Machine('client', this.#time, 0), this.#time, draw, this.#weather);
      const handled = link.call(() => {
        const { server } = place;
        if (server === null || machine !== place.machine || machine.dead) return Promise.resolve(null);
        return new Promise<Reply | null>((answer) => {
          const forget = machine.onDeath(() => answer(null));
          machine.wake(() => {
            void server.handle(request).then((reply) => {
              forget();
              answer(reply);
            });
          });
        });
      });
      handled.then(resolve, () => this.#time.after(REFUSED_MS, () => resolve(null)));
    });
  }

  [Symbol.dispose](): void {
    this.snapshots[Symbol.dispose]();
  }

  /** A new server, with its own link to each component. */
  #place(name: string, incarnation: number, offMs: number): Place {
    const machine = new Machine(`${name}.${String(incarnation)}`, this.#time, offMs);
    const place: Place = { machine, server: null, incarnation, running: new Set() };
    const draw = this.#draw.fork(`server ${machine.name}`);
    const link = (part: Part): Link => new Link(part, machine, this.#time, draw.fork(part), this.#weather);
    const common = {
      machine,
      random: seededRandom(`${String(this.#schedule.seed)} ${machine.name}`),
      readModels: readModelsOver(this.readModels, link('reads')),
      turnDeadlineMs: TURN_DEADLINE_MS,
      writersKept: draw.fork('memory').pick(LANES_KEPT),
      snapshotEvery: draw.fork('snapshots').pick(SNAPSHOT_EVERY),
      onDefect: this.#onDefect,
    };
    if (this.#runtime !== null) {
      place.server = createServer({
        ...common,
        events: sharedEventStore(this.store, link('store'), draw.fork('adapter')),
        idempotency: idempotencyOver(this.#database, link('database'), machine.name),
        snapshots: snapshotsOver(this.snapshots, link('database')),
        runtime: this.#runtime.port(link('runtime')),
      });
      return place;
    }
    const events = ownEventStore(this.store, link('store'));
    const idempotency = ownIdempotency(this.#keys, machine.clock, place.running, this.#drops);
    const server = createServer({ ...common, events, idempotency, snapshots: this.snapshots, runtime: null });
    const start = (): void => {
      server.start().then(
        () => (place.server = server),
        () => machine.clock.after(START_RETRY_MS, start),
      );
    };
    start();
    this.#project(machine, new Link('reads', machine, this.#time, draw.fork('projector'), this.#weather), incarnation);
    return place;
  }

  #workerAt({ machine, server }: Place) {
    if (server === null || machine.dead) return [];
    // Steps travel over the network in both directions.
    const link = new Link('runtime', new Machine('runtime', this.#time, 0), this.#time, this.#draw, {
      trouble: () => 0,
      hangsUntilMs: () => 0,
    });
    const woken: SimulatedServer['step'] = (args) =>
      new Promise((resolve, reject) => machine.wake(() => void server.step(args).then(resolve, reject)));
    return [{ step: (args: Parameters<SimulatedServer['step']>[0]) => link.call(() => woken(args)) }];
  }

  #startProjector(incarnation: number): void {
    const machine = new Machine(`projector.${String(incarnation)}`, this.#time, 0);
    this.#projectorMachine = machine;
    const draw = this.#draw.fork(machine.name);
    this.#project(machine, new Link('reads', machine, this.#time, draw, this.#weather), incarnation);
  }

  #project(machine: Machine, link: Link, incarnation: number): void {
    const draw = this.#draw.fork(`events of projector ${String(incarnation)}`);
    const events = sharedEventStore(this.store, new Link('store', machine, this.#time, draw, this.#weather), draw);
    const log = { error: () => undefined };
    const start = (): void => {
      const projector = new Projector(
        { events, writer: writerOver(this.readModels, link), clock: machine.clock, log },
        projections,
      );
      projector.start().catch(() => machine.clock.after(START_RETRY_MS, start));
    };
    start();
  }

  #suffer(fault: Fault): void {
    switch (fault.kind) {
      case 'freeze': {
        const { machine } = this.#at(fault.server);
        machine.freeze();
        this.#time.after(fault.forMs, () => machine.thaw());
        return;
      }
      case 'death': {
        this.#kill(fault.server, fault.forMs);
        return;
      }
      case 'slow': {
        const { machine } = this.#at(fault.server);
        machine.slowness = fault.times;
        this.#time.after(fault.forMs, () => (machine.slowness = 1));
        return;
      }
      case 'outrun': {
        const { machine } = this.#at(fault.server);
        machine.outrun = true;
        this.#time.after(fault.forMs, () => (machine.outrun = false));
        return;
      }
      case 'clock': {
        const { machine, running } = this.#at(fault.server);
        machine.setClockBy(fault.byMs);
        const nowMs = machine.clock.now().getTime();
        for (const [id, { expiresMs }] of this.#keys) {
          if (expiresMs <= nowMs && (machine.dead || !running.has(id))) this.#onExpired(keyOf(id));
        }
        return;
      }
      case 'hang':
        this.#hangsUntilMs.set(fault.part, Math.max(this.#weather.hangsUntilMs(fault.part), fault.atMs + fault.forMs));
        return;
      case 'lossy':
        this.#trouble.set(fault.part, fault.chance);
        this.#time.after(fault.forMs, () => this.#trouble.delete(fault.part));
        return;
      case 'forgetful runtime':
        return this.#runtime?.forget();
      case 'projector death': {
        const dead = this.#projectorMachine;
        if (dead === null || dead.dead) return;
        dead.die();
        this.#time.after(fault.forMs, () => this.#startProjector(Number(dead.name.split('.')[1]) + 1));
      }
    }
  }

  #kill(server: number, forMs: number): void {
    const { machine, incarnation } = this.#at(server);
    if (machine.dead) return;
    machine.die();
    this.#time.after(forMs, () => {
      this.#places[server] = this.#place(String(server), incarnation + 1, machine.wallOffsetMs);
    });
  }

  #at(server: number): Place {
    const place = this.#places[server];
    if (place === undefined) throw new RangeError(`there is no server ${String(server)}`);
    return place;
  }
}

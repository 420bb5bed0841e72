import { Draw } from './draw.js';
import type { Part } from './network.js';

/** `shared`: several servers over the components of the distributed profile. `alone`: one at a time over those of the embedded profile. */
export type Mode = 'shared' | 'alone';

/** The kind of run: with faults, or without any. */
export type Kind = { readonly mode: Mode; readonly faulty: boolean };

export type Fault =
  | {
      readonly kind: 'freeze' | 'death' | 'outrun';
      readonly server: number;
      readonly atMs: number;
      readonly forMs: number;
    }
  | {
      readonly kind: 'slow';
      readonly server: number;
      readonly atMs: number;
      readonly forMs: number;
      readonly times: number;
    }
  | { readonly kind: 'clock'; readonly server: number; readonly atMs: number; readonly byMs: number }
  | { readonly kind: 'hang'; readonly part: Part; readonly atMs: number; readonly forMs: number }
  | {
      readonly kind: 'lossy';
      readonly part: Part;
      readonly atMs: number;
      readonly forMs: number;
      readonly chance: number;
    }
  | { readonly kind: 'forgetful runtime'; readonly atMs: number }
  | { readonly kind: 'projector death'; readonly atMs: number; readonly forMs: number };

/** The plan of one body. It plays turns as a `thin` or `fat` client. With `own` it sends its own tape and never the returned one. */
export type BodyPlan = {
  readonly name: string;
  readonly does: 'turns' | 'acts' | 'updates' | 'rules' | 'reads';
  readonly npcId: string;
  readonly atMs: number;
  readonly times: number;
  readonly pauseMs: number;
  readonly mode: 'thin' | 'fat';
  readonly tapes: 'returned' | 'own';
  /** Leaves one turn until it has expired, and then continues. */
  readonly dawdles: boolean;
};

/** Everything that is decided before a simulation begins. The rest is drawn from the seed as it runs. */
export type Schedule = {
  readonly seed: number;
  readonly mode: Mode;
  /** The error of the wall clock of each server, in milliseconds; one server for each. */
  readonly clocksMs: readonly number[];
  readonly bodies: readonly BodyPlan[];
  readonly faults: readonly Fault[];
};

/** How long after the last body has begun faults may still begin, in milliseconds: most bodies are still at work then. */
const FAULTS_MS = 4_000;
/** A clock that is changed by this or more, in milliseconds, ends the keys of a day and the deadlines of turns. */
const LEAP_MS = 24 * 60 * 60 * 1_000;
/** How many faulty schedules have a clock that jumps, and how many have read models that hang. */
const LEAPING = 0.2;
const HANGING = 0.2;
/** The time over which the bodies begin, in milliseconds: all together, or one after the other. */
const BEGINNINGS_MS = [20, 1_000, 10_000] as const;
/** When the servers have started, in milliseconds. */
const STARTED_MS = 100;
const MINDS: readonly [string, ...string[]] = ['mira', 'bran', 'old-tom'];

export const drawSchedule = (seed: number, { mode, faulty }: Kind): Schedule => {
  const draw = new Draw(`${mode} ${faulty ? 'faulty' : 'calm'} ${String(seed)}`);
  const servers = mode === 'alone' ? 1 : draw.int(1, 4);
  const beginMs = draw.pick(BEGINNINGS_MS);
  return {
    seed,
    mode,
    clocksMs: Array.from({ length: servers }, () => Math.round(draw.between(-3_000, 3_000))),
    bodies: Array.from({ length: draw.int(2, 16) }, (_, index) =>
      drawBody(draw.fork(`body ${String(index)}`), index, beginMs),
    ),
    faults: faulty
      ? [
          ...Array.from({ length: draw.int(1, 8) }, () => drawFault(draw, mode, servers, beginMs + FAULTS_MS)),
          ...drawRareFaults(draw.fork('rare'), mode, servers, beginMs + FAULTS_MS),
        ]
      : [],
  };
};

/** A single server keeps the new time. Among others it is corrected, as NTP does. */
const drawRareFaults = (draw: Draw, mode: Mode, servers: number, withinMs: number): readonly Fault[] => {
  const faults: Fault[] = [];
  const isShared = mode === 'shared';
  if (draw.chance(LEAPING)) {
    const [server, atMs] = [draw.int(0, servers - 1), Math.round(draw.between(0, withinMs))];
    const byMs = LEAP_MS + Math.round(draw.between(0, 7_200_000));
    faults.push({ kind: 'clock', server, atMs, byMs });
    const backMs = atMs + Math.round(draw.between(100, 20_000));
    if (isShared) faults.push({ kind: 'clock', server, atMs: backMs, byMs: -byMs });
  }
  if (isShared && draw.chance(HANGING)) {
    const [atMs, forMs] = [draw.between(0, withinMs), draw.between(500, 30_000)].map(Math.round) as [number, number];
    faults.push({ kind: 'hang', part: 'reads', atMs, forMs });
  }
  return faults;
};

/** The periods in which some clock is a day or more ahead, in milliseconds. Turns that are open then may expire immediately. */
export const leapsOf = ({ faults }: Schedule): readonly { readonly fromMs: number; readonly toMs: number }[] =>
  faults.flatMap((fault) => {
    if (fault.kind !== 'clock' || fault.byMs < LEAP_MS) return [];
    const back = faults.find((other) => other.kind === 'clock' && other.byMs === -fault.byMs);
    return [{ fromMs: fault.atMs, toMs: back?.atMs ?? fault.atMs }];
  });

const drawBody = (draw: Draw, index: number, beginMs: number): BodyPlan => ({
  name: `body-${String(index)}`,
  does: draw.pick(['turns', 'turns', 'turns', 'acts', 'acts', 'updates', 'rules', 'reads']),
  // Most bodies share one mind, where they interfere.
  npcId: draw.chance(0.7) ? MINDS[0] : draw.pick(MINDS),
  atMs: Math.round(STARTED_MS + draw.between(0, beginMs)),
  times: draw.int(1, 4),
  pauseMs: draw.pick([0, 10, 500, 3_000]),
  mode: draw.pick(['thin', 'fat']),
  tapes: draw.pick(['returned', 'own']),
  dawdles: draw.chance(0.1),
});

/** In its own process a store does not lose answers, but its disk may be full. */
const lossyParts: Readonly<Record<Mode, readonly [Part, ...Part[]]>> = {
  alone: ['store', 'clients'],
  shared: ['store', 'store', 'database', 'runtime', 'reads', 'clients'],
};

type OftenFault = Exclude<Fault['kind'], 'hang'>;

const drawFault = (draw: Draw, mode: Mode, servers: number, withinMs: number): Fault => {
  const atMs = Math.round(draw.between(0, withinMs));
  const server = draw.int(0, servers - 1);
  const kinds: readonly [OftenFault, ...OftenFault[]] =
    mode === 'alone'
      ? ['freeze', 'death', 'death', 'clock', 'lossy']
      : [
          'freeze',
          'freeze',
          'death',
          'slow',
          'outrun',
          'clock',
          'lossy',
          'lossy',
          'lossy',
          'forgetful runtime',
          'projector death',
        ];
  const kind = draw.pick(kinds);
  switch (kind) {
    case 'freeze':
      return {
        kind,
        server,
        atMs,
        forMs: Math.round(
          draw.pick([draw.between(10, 3_000), draw.between(3_000, 60_000), draw.between(10_000, 20_000)]),
        ),
      };
    case 'death':
    case 'outrun':
      return { kind, server, atMs, forMs: Math.round(draw.between(10, 20_000)) };
    case 'projector death':
      return { kind, atMs, forMs: Math.round(draw.between(10, 20_000)) };
    case 'slow':
      return { kind, server, atMs, forMs: Math.round(draw.between(1_000, 30_000)), times: draw.int(2, 40) };
    case 'clock':
      return { kind, server, atMs, byMs: Math.round(draw.between(-8_000, 8_000)) };
    case 'lossy': {
      const part = draw.pick(lossyParts[mode]);
      return { kind, part, atMs, forMs: Math.round(draw.between(500, 20_000)), chance: draw.pick([0.02, 0.1, 0.3]) };
    }
    case 'forgetful runtime':
      return { kind, atMs };
  }
};

/** When the last fault is over, in milliseconds; 0 without faults. */
export const faultsEndMs = ({ faults }: Schedule): number =>
  Math.max(0, ...faults.map((fault) => fault.atMs + ('forMs' in fault ? fault.forMs : 0)));

/** One line for each fault and body, for the reader looking for the defect. */
export const describeSchedule = ({ seed, mode, clocksMs, bodies, faults }: Schedule): string =>
  [
    `seed ${String(seed)}, ${mode}, clocks off by ${clocksMs.join(', ')} ms`,
    ...faults.map((fault) => `  fault ${JSON.stringify(fault)}`),
    ...bodies.map((body) => `  body  ${JSON.stringify(body)}`),
  ].join('\n');

import type { JsonObject } from '../../src/kernel/base/json.js';
import { type Cluster, TURN_DEADLINE_MS } from './cluster.js';
import type { Draw } from './draw.js';
import type { Reply, Request } from './request.js';
import type { BodyPlan } from './schedule.js';
import type { VirtualTime } from './virtual-time.js';
import type { Acknowledged, Witness } from './witness.js';

/** How long a client waits for a response, in milliseconds: while there are faults, and when there are none. */
const IMPATIENT_MS = [2_000, 15_000] as const;
const PATIENT_MS = 120_000;
/** How long it waits before it repeats a request without a response, in milliseconds. */
const PAUSE_MS = [50, 2_000] as const;
/** How often it repeats one request, and how many requests one turn may take. */
const ATTEMPTS = 500;
const STEPS = 12;
/** How many of its responses it requests again at the end. */
const REPEATED = 6;

export type BodyDeps = {
  readonly cluster: Cluster;
  readonly time: VirtualTime;
  readonly witness: Witness;
  /** From this time on nothing may be refused, in milliseconds. */
  readonly calmFromMs: number;
  /** The periods in which some clock is a day or more ahead. */
  readonly leaps: readonly { readonly fromMs: number; readonly toMs: number }[];
};

/** The result of one request, for the witness. */
type Marked = Pick<Acknowledged, 'npcId' | 'marker' | 'types'>;

/** A client that follows the protocol: it waits for `Retry-After`, and repeats requests that got no response. */
export class Body {
  readonly #deps: BodyDeps;
  readonly #plan: BodyPlan;
  readonly #draw: Draw;
  readonly #own: Acknowledged[] = [];
  #keys = 0;
  #dawdled = false;

  constructor(deps: BodyDeps, plan: BodyPlan, draw: Draw) {
    this.#deps = deps;
    this.#plan = plan;
    this.#draw = draw;
  }

  /** Carries out its plan; once the faults are over it requests some of its responses again. @throws GivenUp */
  async play(): Promise<void> {
    const { time, calmFromMs } = this.#deps;
    const { atMs, times, pauseMs } = this.#plan;
    await time.sleep(atMs);
    for (let done = 0; done < times; done += 1) {
      await this.#act(`${this.#plan.name} ${String(done)}`);
      await time.sleep(pauseMs);
    }
    await time.sleep(calmFromMs - time.nowMs);
    for (const earlier of this.#own.slice(-REPEATED)) await this.#repeat(earlier);
  }

  async #act(marker: string): Promise<void> {
    const { npcId, does } = this.#plan;
    const path = `/npcs/${npcId}`;
    const asked = { observation: marker, ...this.#ruleset() };
    switch (does) {
      case 'turns':
        return this.#turn(marker);
      case 'acts': {
        const act = this.#draw.pick(['directive', 'context', 'verdict']);
        const body = act === 'verdict' ? { ...asked, generatedOutput: said(marker) } : asked;
        const types = recordedBy[act];
        await this.#post(`${path}/${act}`, body, { npcId, marker, types });
        return;
      }
      case 'updates': {
        const types = ['NpcRegistered', 'NpcUpdated'];
        await this.#post('/npcs', { npcId, data: { marker } }, { npcId, marker, types });
        return;
      }
      case 'rules': {
        const body = { rulesetId: 'house', rulesetRules: [{ ruleName: marker }] };
        await this.#post('/rules', body, { npcId: null, marker, types: ['RulesetRegistered'] });
        return;
      }
      case 'reads':
        await this.#ask({ method: 'GET', path }, [404]);
        await this.#history(path);
    }
  }

  async #turn(marker: string): Promise<void> {
    const beganMs = this.#deps.time.nowMs;
    try {
      await this.#steps(marker, () => this.#isLeaptOver(beganMs));
    } finally {
      if (this.#isLeaptOver(beganMs)) this.#deps.witness.mayExpire.add(marker);
    }
  }

  /** Whether some clock was a day ahead at some time since then. */
  #isLeaptOver(sinceMs: number): boolean {
    const { time, leaps } = this.#deps;
    return leaps.some(({ fromMs, toMs }) => fromMs <= time.nowMs && sinceMs <= toMs);
  }

  async #steps(marker: string, mayExpire: () => boolean): Promise<void> {
    const { npcId, mode, tapes } = this.#plan;
    const path = `/npcs/${npcId}/process`;
    let own: JsonObject = { observation: marker, ...this.#ruleset() };
    let body: JsonObject = { tape: own };
    const instructions: string[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      // Without a key, a late repeat of an opening would open another turn. So would a step that sends only its tape.
      const keyed = step === 0 || (mode === 'fat' && tapes === 'own') || this.#draw.chance(0.3);
      const marked = { npcId, marker, types: this.#plan.dawdles ? [] : ['TurnOpened'] };
      const reply = await this.#post(path, body, marked, keyed);
      const { instruction, tape } = reply.body as { instruction: { type: string }; tape: JsonObject };
      instructions.push(instruction.type);
      if (instruction.type === 'Finalize') {
        if (!mayExpire()) this.#ended(marker, instructions);
        return;
      }
      await this.#dawdle(step);
      const result = resultOf(instruction.type, npcId, marker);
      const carried = tapes === 'own' ? own : tape;
      own = mode === 'fat' ? { ...carried, ...writtenOf(result) } : own;
      body = mode === 'fat' ? { tape: own } : { tape: carried, lastResult: result };
    }
    this.#deps.witness.violated(`the turn "${marker}" did not end: ${instructions.join(', ')}`);
  }

  #ended(marker: string, instructions: readonly string[]): void {
    const isWhole = instructions.join() === 'IdentifyActor,QueryVector,ExecuteInference,Finalize';
    if (!isWhole && !this.#plan.dawdles) {
      this.#deps.witness.violated(`the turn "${marker}" was told ${instructions.join(', ')}`);
    }
  }

  /** Once in its life it leaves a turn until that expires. */
  async #dawdle(step: number): Promise<void> {
    if (!this.#plan.dawdles || this.#dawdled || !this.#draw.chance((step + 1) / 3)) return;
    this.#dawdled = true;
    await this.#deps.time.sleep(TURN_DEADLINE_MS + 20_000);
  }

  #ruleset(): JsonObject {
    return this.#draw.chance(0.3) ? { rulesetId: 'house' } : {};
  }

  async #history(path: string): Promise<void> {
    const reply = await this.#ask({ method: 'GET', path: `${path}/history?limit=500` }, [404]);
    if (reply.status !== 404) this.#deps.witness.sawHistory(this.#plan.npcId, reply.body);
  }

  async #post(path: string, body: JsonObject, marked: Marked, keyed = true): Promise<Reply> {
    const request: Request = { method: 'POST', path, body, ...(keyed ? { key: this.#newKey() } : {}) };
    const reply = await this.#ask(request);
    const acknowledged = { ...marked, request, reply };
    this.#own.push(acknowledged);
    this.#deps.witness.acknowledged(acknowledged);
    return reply;
  }

  /** A repeat has the same response, except for a step of a turn that has expired since. */
  async #repeat(earlier: Acknowledged): Promise<void> {
    const { request, reply } = earlier;
    const { witness, leaps } = this.#deps;
    // Without a key, a step of a turn that ended long ago by the server's clock opens another one.
    if (request.key === undefined && (this.#plan.dawdles || leaps.length > 0)) return;
    if (witness.mayRecur(earlier)) return;
    witness.repeated(request, reply, await this.#ask(request));
  }

  /** Retries until there is a response. @throws GivenUp on a refusal that is not or no longer allowed */
  async #ask(request: Request, allowed: readonly number[] = []): Promise<Reply> {
    const { time, cluster, witness, calmFromMs } = this.#deps;
    const what = `${request.method} ${request.path} (${this.#plan.name})`;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const sentMs = time.nowMs;
      const calm = sentMs >= calmFromMs;
      const reply = await cluster.send(request, this.#draw, calm ? PATIENT_MS : this.#draw.between(...IMPATIENT_MS));
      if (reply !== null && (reply.status < 300 || allowed.includes(reply.status))) return reply;
      const told = reply === null ? 'no answer' : refusalOf(reply);
      const retryAfter = Number(reply?.headers['retry-after']);
      if (calm || (reply !== null && Number.isNaN(retryAfter))) {
        witness.violated(
          `${what} got ${told} at ${sentMs.toFixed(0)} ms; nothing may be refused after ${calmFromMs.toFixed(0)} ms`,
        );
        throw new GivenUp();
      }
      witness.refused(told);
      await time.sleep(
        reply === null ? this.#draw.between(...PAUSE_MS) : retryAfter * 1_000 * this.#draw.between(1, 1.5),
      );
    }
    witness.violated(`${what} was never answered`);
    throw new GivenUp();
  }

  #newKey(): string {
    this.#keys += 1;
    return `${this.#plan.name}-${String(this.#keys)}`;
  }
}

/** Ends a body; its results are already recorded. */
export class GivenUp extends Error {}

const recordedBy = {
  directive: ['DirectiveGiven'],
  context: ['ContextBuilt'],
  verdict: ['VerdictReached', 'VerdictRefused'],
} as const;

const said = (marker: string): string => JSON.stringify({ dialogue: 'Yes.', stateDelta: { [marker]: true } });

const resultOf = (instruction: string, npcId: string, marker: string): JsonObject => {
  switch (instruction) {
    case 'IdentifyActor':
      return { type: 'IdentifyActorResult', actor: { npcId, persona: 'Busy.', data: {} } };
    case 'QueryVector':
      return { type: 'QueryVectorResult', memories: [] };
    default:
      return { type: 'ExecuteInferenceResult', generatedOutput: said(marker) };
  }
};

/** The additions of a fat client to its tape. */
const writtenOf = ({ type: _, ...result }: JsonObject): JsonObject =>
  'memories' in result ? { ...result, vectorQueried: true } : result;

const refusalOf = ({ status, headers, body }: Reply): string => {
  const { error } = body as { readonly error?: { readonly code: string } };
  const replayed = headers['idempotency-replayed'] === 'true' ? ', replayed' : '';
  return `${String(status)} ${error?.code ?? JSON.stringify(body)}${replayed}`;
};

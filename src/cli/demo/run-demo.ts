import type { MindClient } from '../../body/mind-client.js';
import type { Inference } from '../../body/inference.js';
import { MindError, type MindRequest } from '../../body/mind-request.js';
import type { HistoryEvent, JsonMembers } from '../../body/protocol.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import { eventLine } from '../shared/history-text.js';
import { treeLines } from '../shared/tree.js';
import { whyTree } from '../shared/why-tree.js';
import { type GuestLine, isTold, playGuests, showGuest } from './guests.js';
import { npcIdOf, type PlayedLine, playScene, setStage } from './play-scene.js';
import { isServing, type StartedServer } from './server.js';
import type { Scene } from './scene/types.js';
import { showTurn } from './show-turn.js';
import { wrapped } from '../shared/text.js';

export type DemoSettings = {
  readonly url: string;
  /** Whether the user gave that address; if so, the demo starts no server. */
  readonly urlGiven: boolean;
  /** Makes the ids of this run unique: letters and digits. */
  readonly run: string;
  readonly scripted: boolean;
  /** The pause between two turns; 0 for none. */
  readonly pauseMs: number;
};

export type DemoWorld = {
  readonly requestTo: (url: string, key?: string) => MindRequest;
  readonly mindAt: (url: string, key: string) => MindClient;
  readonly startServer: () => Promise<StartedServer>;
  /** The key that issues the demo's own key. Called once a server runs, because a first start creates it. */
  readonly adminKey: () => Promise<string | null>;
  readonly inference: Inference;
  readonly print: (line: string) => void;
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

export type DemoResult = {
  /** Every line was played, and in a scripted run every line went as scripted. */
  readonly ok: boolean;
  readonly server: { readonly url: string; readonly startedByDemo: boolean };
  readonly npcs: Readonly<Record<string, string>>;
  readonly turns: readonly PlayedLine[];
  /** What two players said to one NPC. */
  readonly guests: readonly GuestLine[];
  readonly refused: number;
  readonly unexpected: number;
  readonly history: { readonly npcId: string; readonly events: readonly HistoryEvent[] };
  /** The explanation of one refusal, as `anima why` shows it. */
  readonly why: JsonMembers | null;
};

const HISTORY_PAGE = 500;
const MAX_HISTORY_PAGES = 20;

const historyOf = async (mind: MindClient, npcId: string): Promise<readonly HistoryEvent[]> => {
  const events: HistoryEvent[] = [];
  let from: number | undefined = 0;
  for (let page = 0; page < MAX_HISTORY_PAGES && from !== undefined; page += 1) {
    const { events: more, next } = await mind.history(npcId, { from, limit: HISTORY_PAGE });
    events.push(...more);
    from = next;
  }
  return events;
};

const heading = (text: string): string[] => ['', text, '='.repeat(text.length), ''];

const playThrough = async (
  scene: Scene,
  { mind, request }: { readonly mind: MindClient; readonly request: MindRequest },
  settings: DemoSettings,
  world: DemoWorld,
): Promise<Omit<DemoResult, 'server'>> => {
  const say = (lines: readonly string[]): void => {
    lines.forEach(world.print);
  };
  const { run, scripted } = settings;
  say([...heading(scene.title), ...wrapped(scene.opening, '')]);
  await setStage({ scene, mind, run });
  const turns = await playScene({
    scene,
    mind,
    run,
    scripted,
    inference: world.inference,
    signal: world.signal,
    onAct: (title) => say(heading(title)),
    onLine: async (line, written) => {
      say(showTurn(line, written));
      if (settings.pauseMs > 0) await world.sleep(settings.pauseMs);
    },
  });
  say(wrapped(scene.closing, ''));

  const host = scene.guests.to;
  say(heading(scene.guests.title));
  const guests = await playGuests(scene.guests, npcIdOf(host, run), request);
  say(guests.flatMap((line) => showGuest(scene.cast[host].name, line)));
  const leaked = isTold(scene.guests, guests);
  if (leaked)
    say(wrapped(`${scene.guests.other.name} heard what ${scene.guests.teller.name} had told.`, '', 'UNEXPECTED '));

  const npcId = npcIdOf(scene.asksWhy.of, run);
  const { name } = scene.cast[scene.asksWhy.of];
  const events = await historyOf(mind, npcId);
  say([...heading(`The history of ${name} (npx anima history ${npcId})`), ...events.map(eventLine)]);

  const asked = turns.find(({ to, says, valid }) => to === scene.asksWhy.of && says === scene.asksWhy.says && !valid);
  const subject = asked ?? turns.find(({ to, valid }) => to === scene.asksWhy.of && !valid);
  const turnId = subject?.turnId ?? null;
  const why = turnId === null ? null : await mind.why(npcId, turnId);
  if (why !== null && turnId !== null && subject !== undefined) {
    const title = `Why line ${String(subject.number)} was refused (npx anima why ${npcId} ${turnId})`;
    say([...heading(title), ...treeLines(whyTree(why))]);
  }

  const refused = turns.filter(({ valid }) => !valid).length;
  const unexpected = turns.filter(({ surprise }) => surprise !== null).length + (leaked ? 1 : 0);
  say([
    '',
    `Played ${String(turns.length)} lines in ${String(turns.reduce((sum, { requests }) => sum + requests, 0))} requests. ` +
      `Refused: ${String(refused)}. Not as scripted: ${String(unexpected)}.`,
  ]);
  return {
    ok: unexpected === 0,
    npcs: Object.fromEntries(Object.keys(scene.cast).map((who) => [who, npcIdOf(who as keyof Scene['cast'], run)])),
    turns,
    guests,
    refused,
    unexpected,
    history: { npcId, events },
    why,
  };
};

/** The demo's own key: without a rate limit, and short-lived in case the demo is killed before it revokes it. */
type OwnKey = { readonly keyId: string; readonly key: string };

const LIFETIME_MS = 3_600_000;
const SCOPES = ['npc', 'rules', 'audit'];

/**
 * Issues a key for one run.
 * @param request sends with a key of scope `admin`
 * @throws MindError, for example `FORBIDDEN` when that key may not issue keys
 */
const issueOwnKey = async (request: MindRequest, run: string, now: number): Promise<OwnKey> => {
  const issued = (await request('POST', '/keys', {
    name: `demo ${run}`,
    scopes: SCOPES,
    rateLimit: 'off',
    expiresAt: new Date(now + LIFETIME_MS).toISOString(),
  })) as OwnKey;
  return { keyId: issued.keyId, key: issued.key };
};

/** Revokes it. @throws MindError */
const revokeOwnKey = async (request: MindRequest, { keyId }: OwnKey): Promise<void> => {
  await request('DELETE', `/keys/${encodeURIComponent(keyId)}`);
};

/** Plays with its own key, and always revokes it. */
const playWithOwnKey = async (
  scene: Scene,
  url: string,
  settings: DemoSettings,
  world: DemoWorld,
): Promise<Omit<DemoResult, 'server'>> => {
  const adminKey = await world.adminKey();
  if (adminKey === null)
    throw new StartProblem(
      'The demo needs a key with the scope admin to issue its own key. Pass one with --key or ANIMA_API_KEY, or set ANIMA_DATA_DIR to the data directory of the server, which holds its owner key.',
    );
  const admin = world.requestTo(url, adminKey);
  const own = await issueOwnKey(admin, settings.run, world.now());
  try {
    return await playThrough(
      scene,
      { mind: world.mindAt(url, own.key), request: world.requestTo(url, own.key) },
      settings,
      world,
    );
  } finally {
    await revokeOwnKey(admin, own).catch((error: unknown) => {
      // It expires soon; the result of the scene matters more.
      world.print(
        `The demo could not revoke its key ${own.keyId} (${error instanceof MindError ? error.code : 'no answer'}). It expires within an hour.`,
      );
    });
  }
};

/**
 * Plays a scene on a running server, or on one that it starts and stops.
 * @throws StartProblem, MindError, InferenceError, TurnError when the scene could not be played to its end
 */
export const runDemo = async (scene: Scene, settings: DemoSettings, world: DemoWorld): Promise<DemoResult> => {
  if (await isServing(world.requestTo(settings.url))) {
    const played = await playWithOwnKey(scene, settings.url, settings, world);
    return { ...played, server: { url: settings.url, startedByDemo: false } };
  }
  if (settings.urlGiven)
    throw new StartProblem(
      `No Anima server answers at ${settings.url}. Start one there, or omit the address to let the demo start its own.`,
    );
  const server = await world.startServer();
  try {
    world.print(`No server was running. Started one at ${server.url} (pid ${String(server.pid)}) for this demo.`);
    const played = await playWithOwnKey(scene, server.url, settings, world);
    return { ...played, server: { url: server.url, startedByDemo: true } };
  } finally {
    await server.stop();
  }
};

import type { MindClient } from '../../body/mind-client.js';
import type { Inference } from '../../body/inference.js';
import { MindError, type MindRequest } from '../../body/mind-request.js';
import type { HistoryEvent, JsonMembers } from '../../body/protocol.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import { eventLine } from '../shared/history-text.js';
import { treeLines } from '../shared/tree.js';
import { whyTree } from '../shared/why-tree.js';
import { npcIdOf, type PlayedLine, playScene, setStage } from './play-scene.js';
import { isServing, type StartedServer } from './server.js';
import type { Scene } from './scene/types.js';
import { showTurn } from './show-turn.js';
import { wrapped } from '../shared/text.js';

export type DemoSettings = {
  readonly url: string;
  /** Whether the user gave that address; then no server is started in its place. */
  readonly urlGiven: boolean;
  /** Makes ids of this run new: letters and digits. */
  readonly run: string;
  readonly scripted: boolean;
  /** The pause between two turns, so that they can be read; 0 for none. */
  readonly pauseMs: number;
};

/** What the demo touches. */
export type DemoWorld = {
  readonly requestTo: (url: string, key?: string) => MindRequest;
  readonly mindAt: (url: string, key: string) => MindClient;
  readonly startServer: () => Promise<StartedServer>;
  /** The key that issues the demo's own; asked when a server runs, because the first start makes it. */
  readonly adminKey: () => Promise<string | null>;
  readonly inference: Inference;
  readonly print: (line: string) => void;
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

export type DemoResult = {
  /** Everything was played, and in a scripted run everything went as written. */
  readonly ok: boolean;
  readonly server: { readonly url: string; readonly startedByDemo: boolean };
  readonly npcs: Readonly<Record<string, string>>;
  readonly turns: readonly PlayedLine[];
  readonly refused: number;
  readonly unexpected: number;
  readonly history: { readonly npcId: string; readonly events: readonly HistoryEvent[] };
  /** What one refusal rested on, as `anima why` shows it. */
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
  mind: MindClient,
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

  const npcId = npcIdOf(scene.asksWhy.of, run);
  const { name } = scene.cast[scene.asksWhy.of];
  const events = await historyOf(mind, npcId);
  say([...heading(`What is recorded of ${name} (GET /npcs/${npcId}/history)`), ...events.map(eventLine)]);

  const asked = turns.find(({ to, says, valid }) => to === scene.asksWhy.of && says === scene.asksWhy.says && !valid);
  const subject = asked ?? turns.find(({ to, valid }) => to === scene.asksWhy.of && !valid);
  const turnId = subject?.turnId ?? null;
  const why = turnId === null ? null : await mind.why(npcId, turnId);
  if (why !== null && turnId !== null && subject !== undefined) {
    const title = `What the refusal of line ${String(subject.number)} rested on (anima why ${npcId} ${turnId})`;
    say([...heading(title), ...treeLines(whyTree(why))]);
  }

  const refused = turns.filter(({ valid }) => !valid).length;
  const unexpected = turns.filter(({ surprise }) => surprise !== null).length;
  say([
    '',
    `${String(turns.length)} lines played in ${String(turns.reduce((sum, { requests }) => sum + requests, 0))} requests; ` +
      `${String(refused)} actions refused, ${String(unexpected)} lines did not go as written.`,
  ]);
  return {
    ok: unexpected === 0,
    npcs: Object.fromEntries(Object.keys(scene.cast).map((who) => [who, npcIdOf(who as keyof Scene['cast'], run)])),
    turns,
    refused,
    unexpected,
    history: { npcId, events },
    why,
  };
};

/** The demo's own key: without a rate limit, and worthless soon even if the demo is killed before it revokes it. */
type OwnKey = { readonly keyId: string; readonly key: string };

const LIFETIME_MS = 3_600_000;
/** What the demo does: it plays, registers rules and reads histories. */
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

/** Plays with its own key, and revokes it whatever happens. */
const playWithOwnKey = async (
  scene: Scene,
  url: string,
  settings: DemoSettings,
  world: DemoWorld,
): Promise<Omit<DemoResult, 'server'>> => {
  const adminKey = await world.adminKey();
  if (adminKey === null)
    throw new StartProblem(
      'The demo needs a key with the scope admin to make its own: give one with --key or ANIMA_API_KEY, or set ANIMA_DATA_DIR to the directory with the server’s owner-key file.',
    );
  const admin = world.requestTo(url, adminKey);
  const own = await issueOwnKey(admin, settings.run, world.now());
  try {
    return await playThrough(scene, world.mindAt(url, own.key), settings, world);
  } finally {
    await revokeOwnKey(admin, own).catch((error: unknown) => {
      // It expires by itself; what the scene came to matters more.
      world.print(
        `The demo's key ${own.keyId} was not revoked (${error instanceof MindError ? error.code : 'no answer'}).`,
      );
    });
  }
};

/**
 * Plays a scene on a running server, or on one that is started for it and stopped after it.
 * @throws StartProblem, MindError, InferenceError, TurnError when it could not be played to its end
 */
export const runDemo = async (scene: Scene, settings: DemoSettings, world: DemoWorld): Promise<DemoResult> => {
  if (await isServing(world.requestTo(settings.url))) {
    const played = await playWithOwnKey(scene, settings.url, settings, world);
    return { ...played, server: { url: settings.url, startedByDemo: false } };
  }
  if (settings.urlGiven)
    throw new StartProblem(`No Anima server answers at ${settings.url}: start one there, or leave out the address.`);
  const server = await world.startServer();
  try {
    world.print(`No server was running: started one at ${server.url} (pid ${String(server.pid)}) for this demo.`);
    const played = await playWithOwnKey(scene, server.url, settings, world);
    return { ...played, server: { url: server.url, startedByDemo: true } };
  } finally {
    await server.stop();
  }
};

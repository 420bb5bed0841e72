import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Command, InvalidArgumentError } from 'commander';

import { systemClock } from '../adapters/system/clock.js';
import { onStopSignals } from '../adapters/system/stop-signals.js';
import { readOwnerKey } from '../adapters/files/owner-key-file.js';
import { sleepFor } from '../body/deadline.js';
import { InferenceError, type Inference } from '../body/inference.js';
import { createMindClient } from '../body/mind-client.js';
import { createMindRequest, MindError } from '../body/mind-request.js';
import { createOpenAiInference } from '../body/openai-inference.js';
import { TurnError } from '../body/play-turn.js';
import { createScriptedInference } from '../body/scripted-inference.js';
import { clientSettings, describeFailure } from './shared/client.js';
import { scriptOf } from './demo/play-scene.js';
import { runDemo, type DemoResult, type DemoSettings } from './demo/run-demo.js';
import { scene } from './demo/scene.js';
import { startDemoServer } from './demo/server.js';
import { examples, jsonOption } from './shared/options.js';
import { CommandFailed, print, printJson, type Terminal } from './shared/terminal.js';
import { counted } from './shared/text.js';
import { defined } from '../kernel/base/defined.js';

const READING_PAUSE_MS = 300;
const RUN_BYTES = 3;
/** The compiled server, next to the compiled command. */
const SERVER_ENTRY = fileURLToPath(new URL('../main.js', import.meta.url));

type Flags = {
  readonly url?: string;
  readonly key?: string;
  readonly inference: string;
  readonly model: string;
  readonly inferenceKeyFile?: string;
  readonly fast?: true;
  readonly json?: true;
};

/** Parses an address. @param allowed the message for any other text */
const addressElse =
  (allowed: string) =>
  (text: string): string => {
    if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw new InvalidArgumentError(allowed);
    return text.replace(/\/+$/, '');
  };

const address = addressElse('It must be a URL such as http://127.0.0.1:8080.');
const modelAddress = addressElse('It must be "scripted", or a URL such as http://127.0.0.1:11434/v1.');
const scriptedOrAddress = (text: string): string => (text === 'scripted' ? text : modelAddress(text));

const fileText = async (path: string): Promise<string> => {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new CommandFailed(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
};

const inferenceFrom = async ({ inference, model, inferenceKeyFile }: Flags, cwd: string): Promise<Inference> => {
  if (inference === 'scripted') return createScriptedInference(scriptOf(scene));
  const apiKey = inferenceKeyFile === undefined ? undefined : await fileText(resolve(cwd, inferenceKeyFile));
  return createOpenAiInference({ baseUrl: inference, model, ...defined({ apiKey }) });
};

const settingsFrom = (flags: Flags, terminal: Terminal): DemoSettings => ({
  url: flags.url ?? clientSettings(terminal).url,
  urlGiven: flags.url !== undefined || (terminal.env['ANIMA_URL'] ?? '').trim() !== '',
  run: randomBytes(RUN_BYTES).toString('hex'),
  scripted: flags.inference === 'scripted',
  pauseMs: flags.json === true || flags.fast === true || terminal.stdout.isTTY !== true ? 0 : READING_PAUSE_MS,
});

const play = async (
  flags: Flags,
  settings: DemoSettings,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<DemoResult> => {
  const { key, dataDir } = clientSettings(terminal);
  const requestTo = (baseUrl: string, as?: string) => createMindRequest({ baseUrl, ...defined({ key: as }) });
  return runDemo(scene, settings, {
    requestTo,
    mindAt: (baseUrl, as) => createMindClient({ baseUrl, key: as }),
    startServer: () =>
      startDemoServer({
        program: [SERVER_ENTRY],
        env: terminal.env,
        cwd: terminal.cwd,
        lookedAt: settings.url,
        requestTo,
        sleep: sleepFor,
        signal,
      }),
    adminKey: async () => flags.key ?? key ?? (await readOwnerKey(dataDir)),
    inference: await inferenceFrom(flags, terminal.cwd),
    print: (line) => {
      if (flags.json !== true) print(terminal, line);
    },
    sleep: sleepFor,
    now: () => Date.now(),
    signal,
  });
};

/** The failure to show when the scene could not be played to its end. */
const asFailure = (error: unknown, url: string): unknown => {
  if (error instanceof MindError) return new CommandFailed(describeFailure(error, url) ?? error.message);
  if (error instanceof InferenceError || error instanceof TurnError) return new CommandFailed(error.message);
  return error;
};

const demo = async (flags: Flags, terminal: Terminal): Promise<void> => {
  const stop = new AbortController();
  const settings = settingsFrom(flags, terminal);
  // The first interrupt ends the demo cleanly: it revokes its key and stops its server.
  const unlisten = onStopSignals(process, systemClock, { stop: () => stop.abort(), giveUp: () => process.exit(1) });
  try {
    const result = await play(flags, settings, terminal, stop.signal);
    if (flags.json === true) printJson(terminal, result);
    if (!result.ok) throw new CommandFailed(`${counted(result.unexpected, 'line', 'lines')} did not go as scripted.`);
  } catch (error) {
    throw stop.signal.aborted ? new CommandFailed('The demo was interrupted.') : asFailure(error, settings.url);
  } finally {
    unlisten();
  }
};

/** `anima demo`: plays the scripted scene. Fails when a line does not go as scripted. */
export const demoCommand = (terminal: Terminal): Command =>
  new Command('demo')
    .description(
      'play a scripted scene with three NPCs and a secret between two players, then show the history of one NPC and why one of its actions was refused',
    )
    .option(
      '--url <url>',
      'address of the server (default: ANIMA_URL; if neither is set and no server is running, the demo starts one)',
      address,
    )
    .option('--key <key>', 'API key with the scope admin (default: ANIMA_API_KEY or the owner key)')
    .option(
      '--inference <scripted|url>',
      '"scripted" for ready-made answers, or the URL of an OpenAI-compatible API such as http://127.0.0.1:11434/v1',
      scriptedOrAddress,
      'scripted',
    )
    .option('--model <name>', 'model to use at that URL', 'default')
    .option('--inference-key-file <file>', 'file with the API key for that URL')
    .option('--fast', 'do not pause between turns')
    .addOption(jsonOption())
    .action((flags: Flags) => demo(flags, terminal))
    .addHelpText(
      'after',
      examples('demo', 'demo --inference http://127.0.0.1:11434/v1 --model qwen2.5:7b-instruct --fast'),
    );

import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { drawPorts, isFree } from './ports.js';
import { end, isAlive, killNow, launch } from './processes.js';
import type { FirstStart, Server, ServerName, Site } from './server.js';
import { type Entry, type State, forgetState, readState, writeState } from './state.js';
import { waitUntil } from './waiting.js';

/** A server that was signalled to end is killed after this many milliseconds. */
const STOP_LIMIT_MS = 30_000;
/** How much of a log is repeated when a start fails, in characters. */
const LOG_LIMIT = 3_000;
/** How often a server is started if other programs take one of its ports between the draw and the start each time. */
const START_TRIES = 3;
const AS_USUAL: FirstStart = { guarded: false, foreign: 0 };

export type Condition = 'running' | 'dead' | 'stopped' | 'elsewhere';

/**
 * The servers of one directory: their stored state, and the operations on each. The caller holds the directory's lock. It runs one operation at a
 * time on each server, but may act on several servers concurrently.
 */
export class Supervisor {
  readonly #directory: string;
  readonly #cache: string;
  #state: State;
  #written: Promise<void> = Promise.resolve();

  private constructor(directory: string, cache: string, state: State) {
    this.#directory = directory;
    this.#cache = cache;
    this.#state = state;
  }

  static async open(directory: string, cache: string): Promise<Supervisor> {
    return new Supervisor(directory, cache, await readState(directory));
  }

  entry(name: ServerName): Entry | undefined {
    return this.#state[name];
  }

  async condition(name: ServerName): Promise<Condition> {
    const entry = this.#state[name];
    if (entry === undefined) return 'stopped';
    if (entry.process !== undefined) return (await isAlive(entry.process)) ? 'running' : 'dead';
    return entry.ports.length === 0 ? 'elsewhere' : 'stopped';
  }

  /** Notes an external server; its addresses are passed on unchanged. */
  async adopt(name: ServerName, addresses: Entry['addresses']): Promise<void> {
    await this.stop(name, 'SIGTERM');
    await this.#remember(name, { ports: [], addresses });
  }

  /** The addresses of a server on its present or former ports; empty if it has none. */
  async addresses(server: Server): Promise<Entry['addresses']> {
    const ports = this.#state[server.name]?.ports ?? [];
    return ports.length === 0 ? {} : server.addresses(this.#site(server.name, ports));
  }

  /**
   * Starts a server on its data and waits until it answers. If it already runs, this only waits.
   * @param doing called at each step with what it waits for
   */
  async start(server: Server, doing: (step: string) => void, first = AS_USUAL): Promise<void> {
    const { name } = server;
    const before = this.#state[name];
    if (before?.process !== undefined && (await isAlive(before.process))) {
      doing('waiting for a response');
      const { process: running, ports } = before;
      await this.#ready(
        server,
        this.#site(name, ports),
        { pid: running.pid, said: () => readFile(this.#log(name), 'utf8') },
        running,
      );
      return;
    }
    await this.install(server, doing);
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#startOnce(server, doing, first);
        return;
      } catch (error) {
        // It no longer listens: another program that has one of its ports now took it.
        const ports = this.#state[name]?.ports ?? [];
        const free = await Promise.all(ports.map(isFree));
        if (tries === START_TRIES || free.every(Boolean)) throw error;
        doing('restarting: another program took one of its ports');
      }
    }
  }

  /** Downloads and builds what a server lacks, and starts nothing. @param doing as in `start` */
  async install(server: Server, doing: (step: string) => void): Promise<void> {
    doing(server.installing);
    await server.install(this.#cache);
  }

  async #startOnce(server: Server, doing: (step: string) => void, first: FirstStart): Promise<void> {
    const { name } = server;
    const before = this.#state[name];
    doing('preparing its data');
    const site = { ...this.#site(name, await this.#ports(server)), ...first };
    await this.#remember(name, { ports: site.ports, addresses: {} });
    await mkdir(site.directory, { recursive: true });
    const started = await launch(await server.prepare(site), this.#log(name));
    doing('waiting for a response');
    // Remembered before the wait, so the server can still be stopped after an interrupt.
    await this.#remember(name, { ports: site.ports, process: started.identity, addresses: before?.addresses ?? {} });
    try {
      await this.#ready(server, site, started, started.identity);
    } catch (error) {
      await end(started.identity, server.stopSignal, STOP_LIMIT_MS);
      await this.#remember(name, { ports: site.ports, addresses: {} });
      const said = (await started.said()).slice(-LOG_LIMIT).trim();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${reason}\nThe end of ${this.#log(name)}:\n${said}`, { cause: error });
    }
    await this.#remember(name, {
      ports: site.ports,
      process: started.identity,
      addresses: await server.addresses(site),
    });
  }

  /** Ends a server gracefully; its data and its ports are kept. */
  async stop(name: ServerName, signal: NodeJS.Signals): Promise<void> {
    const entry = this.#state[name];
    if (entry?.process !== undefined) await end(entry.process, signal, STOP_LIMIT_MS);
    await this.#remember(
      name,
      entry === undefined || entry.ports.length === 0 ? undefined : { ports: entry.ports, addresses: {} },
    );
  }

  /** kill -9. Its addresses remain in `env`, and clients find no server there. */
  async kill(name: ServerName): Promise<void> {
    const running = this.#state[name]?.process;
    if (running === undefined || !(await isAlive(running))) throw new Error('it is not running');
    await killNow(running);
  }

  /** Removes the data of a server, which is stopped first. */
  async discard(server: Server): Promise<void> {
    await this.stop(server.name, server.stopSignal);
    const site = this.#site(server.name, []);
    if (existsSync(site.directory)) {
      for (const directory of (await server.elsewhere?.(site)) ?? [])
        await rm(directory, { recursive: true, force: true });
    }
    await rm(site.directory, { recursive: true, force: true });
  }

  /** Removes all state, and the directory, unless it contains foreign files. */
  async forget(): Promise<void> {
    await this.#written;
    await forgetState(this.#directory);
  }

  #log(name: ServerName): string {
    return join(this.#directory, name, 'log');
  }

  #site(name: ServerName, ports: readonly number[]): Site {
    return { directory: join(this.#directory, name), cache: this.#cache, ports, ...AS_USUAL };
  }

  /** The ports that it had before, so that its clients find it again, unless one is taken. */
  async #ports(server: Server): Promise<readonly number[]> {
    const before = this.#state[server.name]?.ports ?? [];
    const free = await Promise.all(before.map(isFree));
    return before.length === server.portCount && free.every(Boolean) ? before : drawPorts(server.portCount);
  }

  async #ready(
    server: Server,
    site: Site,
    started: Parameters<Server['answers']>[1],
    identity: NonNullable<Entry['process']>,
  ) {
    await waitUntil(
      `${server.name} to respond`,
      server.readyLimitMs,
      async () => !(await isAlive(identity)) || server.answers(site, started),
    );
    if (!(await isAlive(identity))) throw new Error('it exited before it responded');
  }

  /** One write at a time, because several servers are started concurrently. */
  async #remember(name: ServerName, entry: Entry | undefined): Promise<void> {
    const { [name]: _before, ...others } = this.#state;
    this.#state = entry === undefined ? others : { ...others, [name]: entry };
    this.#written = this.#written.then(() => writeState(this.#directory, this.#state));
    await this.#written;
  }
}

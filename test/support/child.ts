import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { built } from './built.js';

/** How long a child may take to print an awaited line, in milliseconds: generous, because a machine may be busy. */
const WAIT_MS = 90_000;
const HOOKS = new URL('./typescript-hooks.mjs', import.meta.url);
const END_WITH_PARENT = new URL('./end-with-parent.mjs', import.meta.url);

const running = new Set<Child>();

/** Kills the children that are still running. @returns a description of each */
export const endChildren = async (): Promise<readonly string[]> => {
  const left = [...running];
  await Promise.all(left.map((child) => child.kill()));
  return left.map(({ command }) => command);
};

export type ChildOptions = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** A child process of Node; disposing of it kills it. */
export class Child implements AsyncDisposable {
  readonly command: string;
  readonly #process: ChildProcess;
  readonly #changed = new Set<() => void>();
  readonly #exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  #stdout = '';
  #stderr = '';
  #over = false;

  constructor(command: readonly string[], options: ChildOptions) {
    const words = [...command, ...(options.args ?? [])];
    this.command = words.join(' ');
    this.#process = spawn(process.execPath, ['--import', END_WITH_PARENT.href, ...words], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => this.#said(() => (this.#stdout += text)));
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#said(() => (this.#stderr += text)));
    running.add(this);
    this.#exited = new Promise((resolve, reject) => {
      this.#process.once('error', reject);
      // `close` and not `exit`: by then all output has been read.
      this.#process.once('close', (code, signal) => {
        running.delete(this);
        this.#said(() => (this.#over = true));
        resolve({ code, signal });
      });
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The complete lines of standard output so far, without a line that a kill cut off. */
  get lines(): readonly string[] {
    return this.#stdout.split('\n').slice(0, -1);
  }

  /** Resolves with the first complete line of standard output that matches. Rejects when the child ends or WAIT_MS pass without one. */
  waitForLine(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        this.#changed.delete(look);
        act();
      };
      const fail = (why: string) =>
        settle(() => reject(new Error(`${why} before ${String(pattern)}\n${this.#stdout}\n${this.#stderr}`)));
      const look = (): void => {
        const line = this.lines.find((candidate) => pattern.test(candidate));
        if (line !== undefined) settle(() => resolve(line));
        else if (this.#over) fail('The child ended');
      };
      const timer = setTimeout(() => fail(`${WAIT_MS} ms passed`), WAIT_MS);
      this.#changed.add(look);
      look();
    });
  }

  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** How the child ended. */
  exited(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
    return this.#exited;
  }

  /** kill -9: nothing in the child can react to it. Resolves when the child is gone. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #said(take: () => void): void {
    take();
    for (const look of [...this.#changed]) look();
  }
}

/** Starts a file of the build, for example `src/main.js`, in its own process. */
export const startBuilt = (file: string, options: ChildOptions = {}): Child => new Child([built(file)], options);

/** Starts a TypeScript file that is not part of the build, such as a test's own program, in its own process. */
export const startTypeScript = (file: URL, options: ChildOptions = {}): Child =>
  new Child(['--import', HOOKS.href, fileURLToPath(file)], options);

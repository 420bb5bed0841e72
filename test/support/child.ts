import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** How long a child may take to print an awaited line, in milliseconds. */
const WAIT_MS = 30_000;
const HOOKS = new URL('./typescript-hooks.mjs', import.meta.url);

export type ChildOptions = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** A child process of Node; disposing of it kills it. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #changed = new Set<() => void>();
  readonly #exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  #stdout = '';
  #stderr = '';
  #over = false;

  constructor(command: readonly string[], options: ChildOptions) {
    this.#process = spawn(process.execPath, [...command, ...(options.args ?? [])], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => this.#said(() => (this.#stdout += text)));
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#said(() => (this.#stderr += text)));
    this.#exited = new Promise((resolve, reject) => {
      this.#process.once('error', reject);
      // `close` and not `exit`: by then all output has been read.
      this.#process.once('close', (code, signal) => {
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

  /** The whole lines of standard output so far, without a line that a kill cut short. */
  get lines(): readonly string[] {
    return this.#stdout.split('\n').slice(0, -1);
  }

  /** Resolves with the first whole line of standard output that matches. Rejects when the child ends or 30 s pass without one. */
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

/** Starts a TypeScript file of this repository in its own process; nothing needs to be built. */
export const startTypeScript = (file: URL, options: ChildOptions = {}): Child =>
  new Child(['--import', HOOKS.href, fileURLToPath(file)], options);

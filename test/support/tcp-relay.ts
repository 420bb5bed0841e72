import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A relay in front of a server. With it a test takes the server away: closed like a killed one, or silent like a machine that was cut off. */
export class TcpRelay implements AsyncDisposable {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;
  #silent = false;
  #mute = false;
  #deaf = false;
  #swallowed = 0;
  #received = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
  }

  get port(): number {
    return this.#port;
  }

  /** How many chunks from clients were not passed on. */
  get swallowed(): number {
    return this.#swallowed;
  }

  /** How many bytes the server has sent. */
  get received(): number {
    return this.#received;
  }

  /** Listens; the second time on the same port. */
  async open(): Promise<void> {
    const server = createServer((socket) => this.#relay(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Breaks every connection and refuses new ones. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    const closed = new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Accepts connections and data but passes nothing on. Data sent in the meantime is lost. */
  silence(silent: boolean): void {
    this.#silent = silent;
  }

  /** Passes on data from clients, but no answers of the server. The answers are lost. */
  mute(mute: boolean): void {
    this.#mute = mute;
  }

  /** Passes on data from the server, but nothing from clients. What they send in the meantime is lost. */
  deafen(deaf: boolean): void {
    this.#deaf = deaf;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #relay(socket: Socket): void {
    const upstream = connect(this.#target);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (data) => {
        if (from === upstream) this.#received += data.length;
        const lost = this.#silent || (to === socket ? this.#mute : this.#deaf);
        if (!lost) to.write(data);
        else if (to === upstream) this.#swallowed += 1;
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}

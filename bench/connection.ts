import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const NOTHING = Buffer.alloc(0);

/** An HTTP/1.1 request as bytes, made once and sent often. */
export const requestBytes = (port: number, key: string, path: string, body: string): Buffer =>
  Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ].join('\r\n') +
      HEAD_END +
      body,
  );

/**
 * One persistent connection that sends one request at a time. It reads only the status and the length of an answer. Node's own client costs several
 * times as much as the measured servers, and would dominate the measurement.
 */
export class Connection implements Disposable {
  readonly #socket: Socket;
  #received: Buffer = NOTHING;
  #answered: ((status: number) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;
  #disposed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed a connection')));
  }

  /** @throws Error if no server listens there */
  static async open(port: number): Promise<Connection> {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Sends a request while none is in progress. Exactly one of the two callbacks is called, once. */
  send(request: Buffer, answered: (status: number) => void, failed: (error: Error) => void): void {
    if (this.#socket.destroyed) {
      failed(new Error('the server closed a connection'));
      return;
    }
    this.#answered = answered;
    this.#failed = failed;
    this.#socket.write(request);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = received.indexOf(HEAD_END);
    const length = headEnd < 0 ? null : /\r\ncontent-length: *(\d+)/i.exec(received.toString('latin1', 0, headEnd));
    if (headEnd >= 0 && length === null) {
      this.#fail(new Error('an answer does not say how long it is'));
      return;
    }
    if (headEnd < 0 || received.length < headEnd + HEAD_END.length + Number(length?.[1])) {
      this.#received = received;
      return;
    }
    this.#received = NOTHING;
    const answered = this.#answered;
    this.#answered = null;
    this.#failed = null;
    answered?.(Number(received.toString('latin1', 9, 12)));
  }

  #fail(error: Error): void {
    if (this.#disposed) return;
    const failed = this.#failed;
    this.#answered = null;
    this.#failed = null;
    failed?.(error);
  }
}

import type { AllStreamSubscription, Position, StreamSubscription } from '@eventstore/db-client';

import { jsonBytes } from '../../kernel/base/json.js';
import { READ_BYTES, untilFull } from '../../kernel/base/page-size.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import { SUBSCRIPTION_BATCH } from '../shared/follow.js';
import type { LogHorizon } from './log-horizon.js';
import { type StreamNames, toRecorded } from './stored-event.js';

/** How long the server may take to confirm a subscription, in milliseconds. */
const CONFIRM_MS = 1_500;
/** The maximum number of events that wait for the reader, and of bytes of JSON in them; beyond it no more are read from the connection. */
const EVENTS_WAITING = SUBSCRIPTION_BATCH * 2;
const BYTES_WAITING = READ_BYTES;

/** Where a subscription continues: after this event, with its size in bytes of JSON, or after this position in the log. */
export type FeedPlace = { readonly event?: RecordedEvent; readonly bytes?: number; readonly checkpoint?: Position };

const bytesOf = ({ bytes = 0 }: FeedPlace): number => bytes;

export type ServerSubscription = AllStreamSubscription | StreamSubscription;

/** One subscription of the server, until it is lost: the events that came and were not yet passed on. */
export class SubscriptionLeg {
  readonly #subscription: ServerSubscription;
  readonly #changed: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #horizon: LogHorizon;
  readonly #node: AbortSignal;
  readonly #left = (): void => this.#end();
  #places: FeedPlace[] = [];
  #bytes = 0;
  #paused = false;
  #caughtUp = false;
  #over = false;
  #failure: unknown = undefined;

  /**
   * `node` aborts when the client leaves the node that serves it. `streamOf` returns a stream's name in the port's form, null for a stream outside
   * the namespace. `changed` is called whenever there may be news.
   */
  constructor(
    open: (checkpointReached: (position: Position) => void) => ServerSubscription,
    node: AbortSignal,
    streamOf: StreamNames['fromServer'],
    horizon: LogHorizon,
    changed: () => void,
  ) {
    this.#changed = changed;
    this.#horizon = horizon;
    this.#node = node;
    node.addEventListener('abort', this.#left, { once: true });
    this.#timer = setTimeout(() => this.#end(), CONFIRM_MS);
    const subscription = open((position) => this.#checkpoint(position));
    this.#subscription = subscription;
    const end = (): void => this.#end();
    subscription.on('confirmation', () => clearTimeout(this.#timer));
    subscription.on('caughtUp', () => {
      this.#caughtUp = true;
      changed();
    });
    subscription.on('error', (error: unknown) => {
      this.#failure ??= error;
      end();
    });
    subscription.on('end', end);
    subscription.on('close', end);
    (subscription as StreamSubscription).on('data', ({ event }) => {
      const stream = event === undefined ? null : streamOf(event.streamId);
      if (event === undefined || stream === null || this.#over) return;
      const recorded = toRecorded(event, stream);
      this.#horizon.meet(recorded.position);
      const bytes = jsonBytes(recorded.data) + jsonBytes(recorded.meta);
      this.#places.push({ event: recorded, bytes });
      this.#bytes += bytes;
      if (this.#places.length >= EVENTS_WAITING || this.#bytes >= BYTES_WAITING) this.#pause(true);
      changed();
    });
  }

  /** Nothing more will come. */
  get over(): boolean {
    return this.#over;
  }

  /** What ended it; undefined without a reason. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Everything up to the present came and was taken. */
  get caughtUp(): boolean {
    return this.#caughtUp && this.#places.length === 0 && this.#subscription.readableLength === 0;
  }

  /** The events that came, in order, at most a page. */
  take(): readonly FeedPlace[] {
    const taken = [...untilFull(this.#places.slice(0, SUBSCRIPTION_BATCH), bytesOf, READ_BYTES)];
    this.#places.splice(0, taken.length);
    for (const place of taken) this.#bytes -= bytesOf(place);
    if (this.#places.length < SUBSCRIPTION_BATCH && this.#bytes < BYTES_WAITING) this.#pause(false);
    return taken;
  }

  /** Also ends the server's subscription. The rest of it is read and dropped; otherwise the client would wait for it when it is closed. */
  close(): void {
    this.#end();
    this.#places = [];
    this.#subscription.resume();
    this.#subscription.unsubscribe().catch(() => undefined);
  }

  #checkpoint(checkpoint: Position): void {
    // The client reports this before it delivers the earlier events that it still holds.
    if (this.#over || this.#subscription.readableLength > 0) return;
    this.#places.push({ checkpoint });
    this.#changed();
  }

  #pause(paused: boolean): void {
    if (paused === this.#paused || this.#over) return;
    this.#paused = paused;
    if (paused) this.#subscription.pause();
    else this.#subscription.resume();
  }

  #end(): void {
    if (this.#over) return;
    clearTimeout(this.#timer);
    this.#node.removeEventListener('abort', this.#left);
    this.#over = true;
    this.#changed();
  }
}

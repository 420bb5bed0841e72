import type { Consumer } from 'kafkajs';

/** Watches a consumer until `end` is called. */
export type LossWatch = {
  /** Rejects with the error for which the client gave up, or if it has shown no activity for too long. */
  readonly lost: Promise<never>;
  end(): void;
};

/**
 * Begins to watch a consumer. The client (kafkajs 2.2.4) may silently hang for ever after a lost connection: what is sent while a connection is being
 * closed is neither refused nor timed out (https://github.com/tulios/kafkajs/issues/660). While it works it fetches or sends heartbeats.
 * @param silentMs how long it may show no activity, in milliseconds
 */
export const watchForLoss = ({ on, events }: Pick<Consumer, 'on' | 'events'>, silentMs: number): LossWatch => {
  let lose = (_error: Error): void => undefined;
  const lost = new Promise<never>((_, reject) => (lose = reject));
  // It may be lost before any caller waits.
  lost.catch(() => undefined);
  const silence = setTimeout(
    () => lose(new Error(`The Kafka client showed no activity for ${silentMs} ms.`)),
    silentMs,
  );
  const heard = (): void => void silence.refresh();
  const forget = [
    on(events.CRASH, ({ payload }) => lose(payload.error)),
    on(events.CONNECT, heard),
    on(events.GROUP_JOIN, heard),
    on(events.FETCH, heard),
    on(events.HEARTBEAT, heard),
  ];
  return {
    lost,
    end: () => {
      clearTimeout(silence);
      for (const one of forget) one();
    },
  };
};

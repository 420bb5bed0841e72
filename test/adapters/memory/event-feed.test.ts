import { MemoryFeed } from '../../../src/adapters/memory/event-feed.js';
import { eventFeedContract } from '../../contracts/event-feed.js';

eventFeedContract('Memory', () => {
  const feed = new MemoryFeed(8);
  return { partitions: 8, writer: () => feed, feed: () => feed, [Symbol.asyncDispose]: () => Promise.resolve() };
});

export { yieldToEventLoop as nextTurn } from '../../concurrency/yield-to-event-loop.js';

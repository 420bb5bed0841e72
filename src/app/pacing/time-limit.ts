export { withTimeLimit } from '../../concurrency/time-limit.js';

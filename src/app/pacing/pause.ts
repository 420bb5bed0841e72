export { pause, retryMs } from '../../concurrency/pause.js';

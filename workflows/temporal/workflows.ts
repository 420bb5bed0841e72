/**
 * The workflows of Temporal's workers: under its name the workflow that runs many processes of a shard, and for every other type, which is the name
 * of a process, the workflow that runs one.
 */
export { default } from './durable-process.js';
export { durableShard as turns } from './durable-shard.js';

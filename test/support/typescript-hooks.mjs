// Lets a child process, and its threads, run the TypeScript sources directly: `node --import <this file> <file>.ts`. Nothing has to be built first, so
// no build can be stale.
import { register } from 'node:module';

register('./typescript-loader.mjs', import.meta.url);

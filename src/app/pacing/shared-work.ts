export type { SingleFlight as SharedWork } from '../../concurrency/single-flight.js';

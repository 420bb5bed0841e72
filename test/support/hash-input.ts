import { jcs } from '../../src/kernel/base/json.js';
import { type HashedEvent, hashedText } from '../../src/kernel/streams/hash-chain.js';

/** The hash input of a recorded event. */
export const hashInput = (event: HashedEvent): string => hashedText(event, jcs(event.data)).withId(event.id);

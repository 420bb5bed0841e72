import { randomBytes } from 'node:crypto';

import { systemRandom } from '../../../src/adapters/system/random.js';
import { payloadEncryption } from '../../../src/adapters/temporal/payload-codec.js';
import { processRuntimeContract } from '../../contracts/process-runtime.js';
import { temporalRuntimeUnderTest } from '../../support/temporal-runtime-under-test.js';

const key = randomBytes(32);
const payloads = payloadEncryption({ encrypting: key, all: [key] }, systemRandom);

processRuntimeContract('Temporal, which is shown nothing', temporalRuntimeUnderTest(payloads));

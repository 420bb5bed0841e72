import { processRuntimeContract } from '../../contracts/process-runtime.js';
import { temporalRuntimeUnderTest } from '../../support/temporal-runtime-under-test.js';

processRuntimeContract('Temporal', temporalRuntimeUnderTest(null));

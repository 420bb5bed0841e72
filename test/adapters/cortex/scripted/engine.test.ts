import { createScriptedEngine } from '../../../../src/adapters/cortex/scripted/engine.js';
import { cortexEngineContract } from '../../../contracts/cortex-engine.js';

cortexEngineContract(
  'the scripted engine',
  () =>
    Promise.resolve({
      engine: createScriptedEngine(),
      fail: () => undefined,
      hang: () => undefined,
      dispose: () => Promise.resolve(),
    }),
  { infallible: true },
);

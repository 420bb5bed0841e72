import { describe, expect, it } from 'vitest';

import { embedderDependency } from '../../src/server/embedder.js';
import { NumberEmbedder } from '../support/recall-scene.js';

const embedder = (down: () => string | null) => Object.assign(new NumberEmbedder(), { down });

describe('The embedder among the dependencies', () => {
  it('is a remote one, without which the server is still ready [6.4f]', () => {
    expect(embedderDependency(new NumberEmbedder())).toEqual({});
    expect(embedderDependency(embedder(() => null))).toEqual({ embedder: { ok: true, needed: false } });
    expect(embedderDependency(embedder(() => 'It is away.'))).toEqual({
      embedder: { ok: false, detail: 'It is away.', needed: false },
    });
  });
});

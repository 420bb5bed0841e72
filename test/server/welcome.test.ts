import { describe, expect, it } from 'vitest';

import { welcome } from '../../src/server/welcome.js';

const shown = (url: string, dataDir: string): string => welcome({ dataDir }, { url, ownerKey: null }, '/srv/game');

describe('the first screen', () => {
  it('needs no settings for a server at the default address', () => {
    const text = shown('http://127.0.0.1:8080', '/srv/game/.anima');
    expect(text).toContain('scene:       npm run demo\n');
    expect(text).toContain('terminal:  npx anima talk mira\n');
    expect(text).toContain('$(cat /srv/game/.anima/owner-key)');
  });

  it('names the address and the data directory that the demo needs to find it', () => {
    expect(shown('http://127.0.0.1:18471', '/srv/game/.anima')).toContain(
      'scene:       ANIMA_URL=http://127.0.0.1:18471 npm run demo\n',
    );
    expect(shown('http://127.0.0.1:18471', '/srv/game/.anima')).toContain(
      'terminal:  ANIMA_URL=http://127.0.0.1:18471 npx anima talk mira\n',
    );
    const text = shown('http://127.0.0.1:8080', "/srv/a b/it's");
    expect(text).toContain("scene:       ANIMA_DATA_DIR='/srv/a b/it'\\''s' npm run demo\n");
    expect(text).toContain("$(cat '/srv/a b/it'\\''s/owner-key')");
  });
});

import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { cardTextIn, withCards } from '../../src/features/cards/card-picture.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import { codeOf, patientApiOf, type Reply } from '../support/api.js';
import { v1Card, v2Card, v3Card } from '../features/cards/domain/cards.js';
import { zipOf } from '../features/cards/zip-of.js';
import { projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

const PNG = 'image/png';
type Stored = { readonly type: string; readonly text: string; readonly importance: number };

/** Import and export of character cards over HTTP: the same on every profile. */
export const cardScenarios = (profile: string, open: OpenServer): void => {
  describe(`character cards on ${profile}`, () => {
    const running = projectingServer(open);
    let minds = 0;
    const freshId = (): string => `mira of a card ${String(minds++)} é`;
    const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;
    const ok = (reply: Reply): Reply => {
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };
    const take = (npcId: string, card: unknown) => running.api.post(`${pathOf(npcId)}/card`, card);
    const send = async (
      npcId: string,
      bytes: Uint8Array,
      headers: Record<string, string> = { 'content-type': PNG },
    ) => {
      const response = await fetch(`${running.server.url}${pathOf(npcId)}/card`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.server.ownerKey}`, ...headers },
        body: Buffer.from(bytes),
      });
      return { status: response.status, body: (await response.json()) as JsonObject };
    };
    const refusal = async (sent: ReturnType<typeof send>): Promise<readonly unknown[]> => {
      const { status, body } = await sent;
      return [status, (body['error'] as JsonObject | undefined)?.['code']];
    };
    const shown = async (npcId: string, query = ''): Promise<JsonObject> =>
      ok(await running.api.get(`${pathOf(npcId)}/card${query}`)).body as JsonObject;
    const picture = async (npcId: string, query: string): Promise<Buffer> => {
      const response = await fetch(`${running.server.url}${pathOf(npcId)}/card${query}`, {
        headers: { authorization: `Bearer ${running.server.ownerKey}` },
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, PNG]);
      return Buffer.from(await response.arrayBuffer());
    };
    const memoriesOf = async (npcId: string): Promise<readonly Stored[]> =>
      ok(await running.api.get(`${pathOf(npcId)}/memory`)).body as readonly Stored[];
    const types = async (npcId: string): Promise<readonly string[]> =>
      (
        ok(await running.api.get(`${pathOf(npcId)}/history?limit=500`)).body as { events: { type: string }[] }
      ).events.map(({ type }) => type);

    it('create a mind: its persona, its lore, and the card itself, which is returned unchanged [8.9a, 8.9c, 8.9g, 8.9o]', async () => {
      const npcId = freshId();
      const answer = ok(await take(npcId, v2Card()));
      expect(answer.body).toEqual({
        npcId,
        created: true,
        name: 'Mira',
        cardVersion: 2,
        persona: expect.stringContaining('Mira keeps the inn.') as string,
        lore: { entries: 5, stored: 3, known: 0, left: 2, disabled: 1 },
        warnings: [],
      });
      expect(answer.headers.get('anima-revision')).toBe('3');
      expect(await types(npcId)).toEqual(['NpcRegistered', ...Array.from({ length: 3 }, () => 'MemoryStored')]);
      expect(await memoriesOf(npcId)).toMatchObject([
        { type: 'knowledge', text: 'The gate is old.', importance: 0.5 },
        { type: 'knowledge', text: 'ford, river: It froze over.' },
        { type: 'knowledge', text: 'There is a war.', importance: 1 },
      ]);
      expect(await shown(npcId)).toEqual(v2Card());
      expect(await shown(npcId, '?version=3')).toMatchObject({
        spec: 'chara_card_v3',
        data: { unheard_of: [1, null, { deep: true }] },
      });
      expect(ok(await running.api.get(pathOf(npcId))).body).toMatchObject({ data: {} });
      const { prompt } = ok(await running.api.post(`${pathOf(npcId)}/context`, { observation: 'A guest.' })).body as {
        readonly prompt: string;
      };
      expect([prompt.includes('Mira keeps the inn.'), prompt.includes('unheard_of')]).toEqual([true, false]);
    });

    it('are found by the words of a player, in recall and in the turn of an agent', async () => {
      const npcId = freshId();
      ok(await take(npcId, v2Card()));
      // The first recall of a server may arrive before the model has made all vectors.
      await expect
        .poll(
          async () =>
            (await running.api.post(`${pathOf(npcId)}/memory/recall`, { query: 'What about the river?', limit: 1 }))
              .body as unknown,
          { timeout: 20_000, interval: 200 },
        )
        .toMatchObject([{ text: 'ford, river: It froze over.', type: 'knowledge' }]);
      const turn = ok(
        await running.api.post(`/v1/agents/${encodeURIComponent(npcId)}/process`, { input: 'How is the gate?' }),
      );
      expect(turn.body).toMatchObject({ memoriesRecalled: expect.arrayContaining(['The gate is old.']) as string[] });
    });

    it('change nothing when they are imported again, once or concurrently, and never affect other data of the mind [8.9c, 8.9i]', async () => {
      const npcId = freshId();
      ok(await running.api.post('/npcs', { npcId, data: { hp: 3 } }));
      const together = await Promise.all(Array.from({ length: 6 }, () => take(npcId, v3Card())));
      expect(together.map((reply) => (ok(reply).body as { lore: { stored: number } }).lore.stored).sort()).toEqual([
        0, 0, 0, 0, 0, 1,
      ]);
      expect(ok(await take(npcId, v3Card())).body).toMatchObject({ created: false, lore: { stored: 0, known: 1 } });
      expect(await types(npcId)).toEqual(['NpcRegistered', 'NpcUpdated', 'MemoryStored']);
      expect(ok(await running.api.get(pathOf(npcId))).body).toMatchObject({ data: { hp: 3 } });
      ok(await running.api('DELETE', `${pathOf(npcId)}/memory/clear`));
      expect(ok(await take(npcId, v3Card())).body).toMatchObject({ lore: { stored: 1, known: 0 } });
      expect(await shown(npcId)).toEqual(v3Card());
    });

    it('can be imported from pictures, and exported in them [8.9l, 8.9o, 8.9r]', async () => {
      const npcId = freshId();
      expect(await send(npcId, withCards({ ccv3: v3Card(), chara: v1Card }))).toMatchObject({
        status: 200,
        body: { cardVersion: 3, lore: { stored: 1 } },
      });
      expect(await send(npcId, withCards({ ccv3: v3Card() }))).toMatchObject({
        body: { lore: { stored: 0, known: 1 } },
      });
      const three = await picture(npcId, '?format=png');
      expect(JSON.parse((await cardTextIn(three, 1_000_000)).toString('utf8'))).toEqual(v3Card());
      expect(three.toString('latin1')).toContain('chara\0');
      const two = await picture(npcId, '?format=png&version=2');
      expect(JSON.parse((await cardTextIn(two, 1_000_000)).toString('utf8'))).toMatchObject({
        spec: 'chara_card_v2',
        data: { nickname: 'Mi' },
      });
      expect(two.toString('latin1')).not.toContain('ccv3\0');
      const other = freshId();
      expect(await send(other, two)).toMatchObject({ status: 200, body: { created: true, cardVersion: 2 } });
    });

    it('contain the current persona, and are generated for a mind without one [8.9o, 8.9p, 8.9q]', async () => {
      const changed = freshId();
      ok(await take(changed, v2Card()));
      ok(await running.api.post('/npcs', { npcId: changed, persona: 'Mira sold the inn.' }));
      const { data } = (await shown(changed)) as { data: JsonObject };
      expect(data).toMatchObject({
        description: 'Mira sold the inn.',
        personality: '',
        scenario: '',
        system_prompt: '',
        tags: ['fantasy'],
      });
      const bare = freshId();
      ok(await running.api.post('/npcs', { npcId: bare, persona: 'Keeps bees.', data: { name: 'Bo' } }));
      const agent = `/v1/agents/${encodeURIComponent(bare)}/memory`;
      for (const [text, type] of [
        ['Bees sleep.', 'knowledge'],
        ['It rained.', 'observation'],
        ['Honey keeps.', 'knowledge'],
      ]) {
        expect((await running.api.post(agent, { text, type })).status).toBe(201);
      }
      const made = await shown(bare);
      expect(made).toMatchObject({ spec: 'chara_card_v3', data: { name: 'Bo', description: 'Keeps bees.' } });
      expect(
        (made['data'] as { character_book: { entries: readonly JsonObject[] } }).character_book.entries,
      ).toMatchObject([
        { content: 'Bees sleep.', constant: true },
        { content: 'Honey keeps.', constant: true },
      ]);
      expect(ok(await take(freshId(), made)).body).toMatchObject({ name: 'Bo', lore: { stored: 2 } });
    });

    it.each([
      ['a1-world-info-names.json', { entries: 1, left: 1, disabled: 1 }, []],
      ['a2-enabled-text.json', { entries: 1, left: 1, disabled: 1 }, []],
      ['a3-entries-map.json', { entries: 1, left: 0, disabled: 0 }, ['The lamp is old.']],
      ['a3-one-bad-entry.json', { entries: 2, left: 1, disabled: 0 }, ['The lamp is old.']],
      ['a4-agnai.json', { entries: 1, left: 0, disabled: 0 }, ['The lamp is old.']],
      ['a5-keys-text.json', { entries: 1, left: 0, disabled: 0 }, ['lamp, light: It burns whale oil.']],
      ['a6-bom.json', { entries: 0, left: 0, disabled: 0 }, []],
    ] as const)(
      'are read as applications write them: %s [8.9a, 8.9u, 8.9v, 8.9w, 8.9x, 8.9z]',
      async (name, lore, texts) => {
        const npcId = freshId();
        const bytes = await readFile(`test/fixtures/cards/${name}`);
        const { status, body } = await send(npcId, bytes, { 'content-type': 'application/json' });
        expect([status, body['lore']]).toEqual([200, { ...lore, stored: texts.length, known: 0 }]);
        expect(body['warnings']).toHaveLength(name === 'a3-one-bad-entry.json' ? 1 : 0);
        expect((await memoriesOf(npcId)).map(({ text }) => text)).toEqual(texts);
        expect(JSON.stringify(body['persona'])).not.toContain('contest');
        ok(await running.api.post('/npcs', { npcId, persona: 'Another.' }));
        const given: unknown = JSON.parse(bytes.toString('utf8').replace('\ufeff', ''));
        expect(await shown(npcId, '?format=original')).toEqual(given);
      },
    );

    it('are read from compressed chunks and from a CHARX [8.9l, 8.9t]', async () => {
      const compressed = await readFile('test/fixtures/cards/a7-ztxt.png');
      expect(await send(freshId(), compressed)).toMatchObject({ status: 200, body: { name: 'Orla', cardVersion: 3 } });
      const charx = zipOf([{ name: 'card.json', content: JSON.stringify(v3Card()) }]);
      const npcId = freshId();
      expect(await send(npcId, charx, { 'content-type': 'application/zip' })).toMatchObject({
        status: 200,
        body: { cardVersion: 3, lore: { stored: 1 } },
      });
      expect(await shown(npcId)).toEqual(v3Card());
    });

    const fileOf = async (npcId: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${running.server.url}${pathOf(npcId)}/card?format=file`, {
        headers: { authorization: `Bearer ${running.server.ownerKey}`, ...headers },
      });
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    };

    it('come back as the file that was imported, byte for byte [8.9ac]', async () => {
      const json = Buffer.from(`\ufeff${JSON.stringify(v3Card(), null, 3)}\n\n`);
      const zip = zipOf([
        { name: 'card.json', content: JSON.stringify(v3Card()) },
        { name: 'assets/icon.png', content: 'a picture' },
      ]);
      const behind = Buffer.concat([Buffer.from('ffd8ffe0ffd9', 'hex'), zip]);
      const large = Buffer.concat([behind.subarray(0, 6), Buffer.alloc(8 * 1024 * 1024, 7), zip]);
      const npcId = freshId();
      for (const [sentAs, bytes, type, extension] of [
        [PNG, withCards({ ccv3: v3Card(), chara: v1Card }), PNG, 'png'],
        ['application/zip', zip, 'application/zip', 'charx'],
        ['image/jpeg', large, 'image/jpeg', 'jpeg'],
        [PNG, behind, 'image/jpeg', 'jpeg'],
        ['application/json', json, 'application/json', 'json'],
      ] as const) {
        expect(await send(npcId, bytes, { 'content-type': sentAs })).toMatchObject({
          status: 200,
          body: { warnings: [] },
        });
        const before = await types(npcId);
        expect((await send(npcId, bytes, { 'content-type': sentAs })).status).toBe(200);
        expect(await types(npcId)).toEqual(before);
        const { response, bytes: returned } = await fileOf(npcId);
        expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
        expect(returned.equals(bytes)).toBe(true);
        expect(response.headers.get('content-disposition')).toMatch(new RegExp(`^attachment; .*\\.${extension}"$`));
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
        const etag = response.headers.get('etag') ?? '';
        expect((await fileOf(npcId, { 'if-none-match': etag })).response.status).toBe(304);
      }
      expect(ok(await running.api.post('/npcs', { npcId, persona: 'Another.' })).status).toBe(200);
      expect((await fileOf(npcId)).bytes.equals(json)).toBe(true);
      const bare = freshId();
      ok(await running.api.post('/npcs', { npcId: bare, persona: 'Keeps bees.' }));
      expect(codeOf(await running.api.get(`${pathOf(bare)}/card?format=file`))).toBe('ARCHIVE_NOT_FOUND');
      expect(codeOf(await running.api.get(`${pathOf(freshId())}/card?format=file`))).toBe('NPC_NOT_FOUND');
    });

    it('are refused by name if they are files of another kind [8.9y]', async () => {
      const letta = { agents: [], blocks: [], tools: [], name: 'Orla', description: 'x' };
      const { status, body } = await send(freshId(), Buffer.from(JSON.stringify(letta)), {
        'content-type': 'application/json',
      });
      expect([status, (body['error'] as JsonObject)['message']]).toEqual([
        422,
        expect.stringContaining('This is a Letta agent file'),
      ]);
    });

    it('are returned with an ETag and a safe file name [8.9n]', async () => {
      const npcId = freshId();
      ok(await take(npcId, v1Card));
      const first = ok(await running.api.get(`${pathOf(npcId)}/card`));
      const etag = first.headers.get('etag') ?? '';
      expect(first.headers.get('content-disposition')).toMatch(/^attachment; filename="mira_of_a_card_\d+_\.json"$/);
      expect((await running.api.get(`${pathOf(npcId)}/card`, { 'if-none-match': etag })).status).toBe(304);
      expect((await running.api.get(`${pathOf(npcId)}/card?format=png`, { 'if-none-match': etag })).status).toBe(200);
      ok(await running.api.post('/npcs', { npcId, persona: 'Another.' }));
      expect((await running.api.get(`${pathOf(npcId)}/card`, { 'if-none-match': etag })).status).toBe(200);
    });

    it('are refused with their own codes, and nothing is stored [1.2h, 8.9a, 8.9aa, 8.9h, 8.9i, 8.9m, 8.9n]', async () => {
      const npcId = freshId();
      const crcBroken = withCards({ chara: v1Card });
      crcBroken[20] = 7;
      const compressed = withCards({ chara: v1Card });
      compressed.write('zTXt', compressed.indexOf('tEXt'), 'latin1');
      const at = compressed.indexOf('zTXt');
      const length = compressed.readUInt32BE(at - 4);
      compressed.writeUInt32BE(crc32(compressed.subarray(at, at + 4 + length)), at + 4 + length);
      const entries = Array.from({ length: 481 }, (_, index) => ({ content: `Fact ${String(index)}.` }));
      const json = { 'content-type': 'application/json' };
      const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
      const refused = [
        [() => send(npcId, withCards({})), 422, 'CARD_MISSING'],
        [() => send(npcId, crcBroken), 422, 'PNG_INVALID'],
        [() => send(npcId, compressed), 422, 'PNG_INVALID'],
        [() => send(npcId, Buffer.from('PK\u0003\u0004')), 422, 'CHARX_INVALID'],
        [() => send(npcId, withCards({ chara: { name: 'nobody' } })), 422, 'CARD_INVALID'],
        [() => send(npcId, withCards({ chara: [[[]]] })), 422, 'CARD_INVALID'],
        [() => send(npcId, bytesOf({ hello: 1 }), json), 422, 'CARD_INVALID'],
        [() => send(npcId, Buffer.from('{"__proto__": 1}'), json), 400, 'MALFORMED_JSON'],
        [() => send(npcId, Buffer.from([0x22, 0xff, 0x22]), json), 400, 'MALFORMED_JSON'],
        [() => send(npcId, Buffer.alloc(0), json), 400, 'MALFORMED_JSON'],
        [() => send(npcId, Buffer.from('PK'), { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
        [() => send(npcId, Buffer.from('PK'), { 'content-type': 'application/zip' }), 422, 'CHARX_INVALID'],
        [() => send(npcId, bytesOf({ entries: {} }), json), 422, 'CARD_INVALID'],
        [() => send(npcId, bytesOf(v1Card), { ...json, 'idempotency-key': 'once' }), 400, 'HEADER_INVALID'],
        [() => send(npcId, Buffer.alloc(1024 * 1024 + 1), json), 413, 'BODY_TOO_LARGE'],
        [() => send(npcId, bytesOf({ ...v1Card, more: 'x'.repeat(600_000) }), json), 413, 'EVENTS_TOO_LARGE'],
        [() => send(npcId, bytesOf({ ...v1Card, character_book: { entries } }), json), 413, 'EVENTS_TOO_LARGE'],
      ] as const;
      for (const [sent, status, code] of refused) expect(await refusal(sent())).toEqual([status, code]);
      expect(codeOf(await running.api.get(`${pathOf(npcId)}/card`))).toBe('NPC_NOT_FOUND');
      expect(codeOf(await running.api.get(`${pathOf(npcId)}/card?version=1`))).toBe('SCHEMA_INVALID');
    });

    it('need only the scope of NPCs, and stay behind when the NPC leaves as a soul [8.9b, 8.9s]', async () => {
      const made = await running.api.post('/keys', { name: 'cards only', scopes: ['npc'] });
      const theirs = patientApiOf(running.server.url, (made.body as { readonly key: string }).key);
      const npcId = freshId();
      expect(ok(await theirs.post(`${pathOf(npcId)}/card`, v2Card())).body).toMatchObject({ lore: { stored: 3 } });
      expect(ok(await theirs.get(`${pathOf(npcId)}/card`)).body).toEqual(v2Card());
      expect((await theirs.get(`${pathOf(npcId)}/memory`)).status).toBe(403);
      const scopes = ['memory', 'rules', 'souls', 'ghosts', 'audit'];
      const others = await running.api.post('/keys', { name: 'everything but NPCs', scopes });
      const without = patientApiOf(running.server.url, (others.body as { readonly key: string }).key);
      expect(await refusal(without.post(`${pathOf(npcId)}/card`, v2Card()))).toEqual([403, 'FORBIDDEN']);
      const exported = ok(await running.api.post(`/v1/agents/${encodeURIComponent(npcId)}/soul/export`));
      const { soul } = exported.body as { readonly soul: JsonObject };
      expect(soul).toMatchObject({ persona: expect.stringContaining('Mira keeps the inn.') as string });
      expect(soul['memories']).toHaveLength(3);
      expect(JSON.stringify(soul)).not.toContain('unheard_of');
    });

    it('are imported completely with the largest book that fits [8.9h]', async () => {
      const npcId = freshId();
      const entries = Array.from({ length: 480 }, (_, index) => ({
        keys: [`fact ${String(index)}`],
        content: `Fact ${String(index)} of the valley. ${'It is so. '.repeat(60)}`,
        enabled: true,
        insertion_order: index,
      }));
      const card = v2Card({ character_book: { extensions: {}, entries } });
      expect(ok(await take(npcId, card)).body).toMatchObject({ lore: { entries: 480, stored: 480 } });
      expect(ok(await take(npcId, card)).body).toMatchObject({ lore: { stored: 0, known: 480 } });
      expect(await shown(npcId)).toEqual(card);
    });
  });

  describe(`character cards on ${profile}, after kills`, () => {
    const running = projectingServer(open);

    it('are stored after kill -9 once they were answered', async () => {
      expect((await running.api.post('/npcs/mira/card', v3Card())).status).toBe(200);
      await running.server.restart('kill');
      running.again();
      expect((await running.api.get('/npcs/mira/card')).body).toEqual(v3Card());
      expect((await running.api.get('/npcs/mira/card?format=file')).text).toBe(JSON.stringify(v3Card()));
      expect((await running.api.post('/npcs/mira/card', v3Card())).body).toMatchObject({
        lore: { stored: 0, known: 1 },
      });
    });
  });
};
